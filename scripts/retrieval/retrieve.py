"""Find the passages of a corpus that match each question, and write them with the questions in the released format.

questions: a file in the released format
passages: the manifest of the corpus
store: the folder where results of searches are kept
output: questions with the passages found
manifest: output: facts about the search
"""

from pathlib import Path
from typing import Annotated

from litm.answer_words import words_check
from litm.answers import dpr_check
from litm.base.cli import program
from litm.base.json_files import read_json, write_json
from litm.base.messages import note
from litm.base.store import digest, stored
from litm.corpora.passages import corpus_passages, find_passages
from litm.questions.own_questions import line_of
from litm.questions.released_format import read_question_records, write_question_records
from litm.retrieval.search import METHODS, RECIPE, Hit, SearchTask, find_by, retrieved_records


def _indexed_by(task: SearchTask) -> dict:
    """What made the index of words that was searched, with versions; {} for other methods."""
    if "k1" not in task.search:
        return {}
    made_of = read_json(task.indexes[0])["made_of"]
    return {"indexed_by": {key: value for key, value in made_of.items() if key != "shards"}}


@program
def main(
    task: SearchTask,
    method: Annotated[str, METHODS],
    questions: str,
    passages: str,
    store: str,
    output: str,
    manifest: str,
) -> None:
    asked = list(read_question_records(questions))
    texts = [question.text for question in asked]
    made_of = {
        "recipe": RECIPE,
        "questions": digest(texts),
        "method": method,
        "indexes": [read_json(path)["entry"] for path in (*task.indexes, *task.vectors)],
        "search": task.search,
        "encoding": task.encoding,
        "approximate": task.approximate,
    }

    def build(path: Path) -> dict:
        # Not `asdict`, which would copy each hit.
        facts = dict(vars(find_by(method, task, texts)))
        write_json(path, {"hits": facts.pop("hits")})
        return facts

    entry, facts = stored(store, made_of, build)
    hits: list[list[Hit]] = read_json(entry)["hits"]
    wanted = {passage for ranking in hits for passage, _ in ranking}
    golds = {id for question in asked if (id := question.given_gold_id) is not None}
    ids = golds | {passage for passage in wanted if isinstance(passage, str)}
    rows = [passage for passage in wanted if isinstance(passage, int)]
    by_key = find_passages(corpus_passages(passages), ids=ids, rows=rows)
    # The user's own questions are judged as they are scored.
    check = words_check if any(line_of(record) is not None for record in asked) else dpr_check
    write_question_records(output, retrieved_records(asked, hits, by_key, check))
    size = read_json(passages)["passages"]
    write_json(manifest, {"questions": len(asked), "passages": size, **task.search, **facts, **_indexed_by(task)})
    note(f"{output}: {sum(map(len, hits))} passages found for {len(asked)} questions")
