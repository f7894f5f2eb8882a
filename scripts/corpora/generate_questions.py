"""Generate the questions of a generated corpus, each with its gold passage, in the released format."""

import argparse
from itertools import islice

from litm.base.cli import json_object, run
from litm.base.messages import note
from litm.corpora.made_up import questions
from litm.corpora.passages import CorpusSettings
from litm.questions.released_format import write_question_records


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source", required=True, help="a module of litm/corpora that has questions")
    parser.add_argument("--settings", required=True, type=json_object, help="JSON: the settings of the corpus")
    parser.add_argument("--taken", nargs="?", type=int, help="number of first questions to take; none for all")
    parser.add_argument("--output", required=True)
    args = parser.parse_args()
    made = list(islice(questions(args.source, CorpusSettings(**args.settings)), args.taken))
    write_question_records(args.output, made)
    note(f"{args.output}: {len(made)} questions")


if __name__ == "__main__":
    run(main)
