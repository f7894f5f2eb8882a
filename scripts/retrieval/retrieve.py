"""Find the passages of a corpus that match each question, and write them with the questions in the released format."""

import argparse
from pathlib import Path

from litm.answers.dpr import dpr_check
from litm.base.cli import json_object, run
from litm.base.messages import note
from litm.base.records import read_json, write_json
from litm.base.store import digest, stored
from litm.corpora.passages import corpus_passages, find_passages
from litm.questions.released_format import read_question_records, write_question_records
from litm.retrieval.search import METHODS, RECIPE, Hit, SearchTask, load_method, retrieved_records


def main() -> None:
    args = parse_args()
    questions = list(read_question_records(args.questions))
    texts = [question.text for question in questions]
    made_of = {
        "recipe": RECIPE,
        "questions": digest(texts),
        "method": args.method,
        "indexes": [read_json(path)["entry"] for path in (*args.indexes, *args.vectors)],
        **{name: getattr(args, name) for name in ("search", "encoding", "approximate")},
    }

    def build(path: Path) -> dict:
        task = SearchTask(**{name: getattr(args, name) for name in SearchTask.__dataclass_fields__})
        # Not `asdict`, which would copy each hit.
        facts = dict(vars(load_method(args.method).find(task, texts)))
        write_json(path, {"hits": facts.pop("hits")})
        return facts

    entry, facts = stored(args.store, made_of, build)
    hits: list[list[Hit]] = read_json(entry)["hits"]
    manifest = read_json(args.passages)
    wanted = {passage for found in hits for passage, _ in found}
    golds = {id for question in questions if (id := question.given_gold_id) is not None}
    passages = find_passages(
        corpus_passages(args.passages, manifest),
        ids=golds | {passage for passage in wanted if isinstance(passage, str)},
        rows=[passage for passage in wanted if isinstance(passage, int)],
    )
    write_question_records(args.output, retrieved_records(questions, hits, passages, dpr_check))
    write_json(args.manifest, {"questions": len(questions), "passages": manifest["passages"], **args.search, **facts})
    note(f"{args.output}: {sum(map(len, hits))} passages found for {len(questions)} questions")


def parse_args() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--method", required=True, choices=list(METHODS))
    parser.add_argument("--questions", required=True, help="a file in the released format")
    parser.add_argument("--passages", required=True, help="the manifest of the corpus")
    parser.add_argument("--indexes", required=True, nargs="*", help="outputs of the index rules; none for exact search")
    parser.add_argument("--vectors", required=True, nargs="*", help="outputs of encode_passages.py, one per shard")
    parser.add_argument("--encoder", nargs="?", help="the encoder's output of identify_model.py")
    parser.add_argument("--search", required=True, type=json_object, help="JSON: hits, and k1 and b or query_prefix")
    parser.add_argument("--encoding", required=True, type=json_object, help="JSON: settings that change a vector")
    parser.add_argument("--approximate", required=True, type=json_object, help="JSON: the index and its settings")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--batch-tokens", type=int, default=0, help="tokens in a batch; 0 is the device's default")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--memory-mb", type=int, required=True, help="most memory of the Java machine")
    parser.add_argument("--store", required=True, help="the folder where results of searches are kept")
    parser.add_argument("--output", required=True, help="output: questions with the passages found")
    parser.add_argument("--manifest", required=True, help="output: facts about the search")
    return parser.parse_args()


if __name__ == "__main__":
    run(main)
