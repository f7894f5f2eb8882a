"""Take the first questions of a dataset, each record as it is.

dataset: a file in the released format
taken: number of questions to take, the first ones
"""

from itertools import islice

from litm.base.cli import program
from litm.base.json_files import read_records, write_jsonl
from litm.base.messages import UserError, note


@program
def main(dataset: str, taken: int, output: str) -> None:
    records = [record for _, record in islice(read_records(dataset), taken)]
    if len(records) < taken:
        raise UserError(f"{dataset} has {len(records)} questions; lower 'questions', which asks for {taken}")
    write_jsonl(output, records)
    note(f"{output}: the first {len(records)} questions of {dataset}")
