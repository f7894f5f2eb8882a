"""Place made-up facts or instructions in a user's own session, without its secrets, and write questions about them.

session: the file of the session
facts: what is placed
taken: number of questions
repeat: repeat an instruction before the question
result_words: words to which results of tools are shortened; left out, none
keep_results: steps at the end whose results of tools are kept; left out, all
compacted: a file with a summary in place of the first half of the steps
"""

from collections import Counter
from pathlib import Path
from typing import Annotated

from litm.base.cli import program
from litm.base.files import read_text
from litm.base.messages import note
from litm.corpora.secrets import masked
from litm.corpora.sessions import read_session
from litm.examples.planted_sessions import PLACED, Planting, write_planted


@program
def main(
    session: Path,
    facts: Annotated[str, [*PLACED]],
    taken: int,
    seed: int,
    output: str,
    repeat: bool = False,
    result_words: int | None = None,
    keep_results: int | None = None,
    compacted: Path | None = None,
) -> None:
    read = read_session(session)
    summary, secrets = masked(read_text(compacted).strip()) if compacted else (None, Counter())
    write_planted(output, read, Planting(facts, taken, seed, repeat, result_words, keep_results, summary))
    notes = [*read.notes, *(f"{number} {kind} masked in {compacted}" for kind, number in secrets.items())]
    note(f"{output}: {taken} questions about {len(read.messages)} messages ({'; '.join(notes) or 'nothing masked'})")
