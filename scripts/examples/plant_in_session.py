"""Place made-up facts or instructions in a user's own session, without its secrets, and write questions about them.

session: the file of the session
facts: what is placed
taken: number of questions
repeat: repeat an instruction before the question
result_words: words to which results of tools are shortened; left out, none
"""

from pathlib import Path
from typing import Annotated

from litm.base.cli import program
from litm.base.messages import note
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
) -> None:
    read = read_session(session)
    write_planted(output, read, Planting(facts, taken, seed, repeat, result_words))
    note(
        f"{output}: {taken} questions about {len(read.messages)} messages ({'; '.join(read.notes) or 'nothing masked'})"
    )
