"""The numbers and figures of docs/still_lost.md, from the published verdicts that docs/others.md says how to download.

    python examples/still_lost.py others docs

Reads others/Mixing-Matters and others/lost-in-the-middle-2026, writes docs/still_lost_*.png and prints the tables.
Writes the verdicts to others/checkpoints.csv and others/hosted.csv too, which config/others_verdicts.yaml reads.
"""

import gzip
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

import litm
from litm.base.messages import interval, percent
from litm.config.figures import PBI_FOREST
from litm.figures.chart import Rows
from litm.figures.kinds import KINDS
from litm.recorded_scores import Curves

#: Checkpoints of Mixing-Matters whose answers are in files of the repository, smallest first, and these files.
CHECKPOINTS = {
    "pythia-160m": "phase4/130m-160m/pythia-160m-sweep",
    "pythia-410m": "phase4/370m-410m/pythia-410m-sweep",
    "pythia-1b": "phase4/790m-1b/pythia-1b-sweep",
    "pythia-1.4b": "phase4/1.4b-1.4b/pythia-1.4b-sweep",
    "pythia-2.8b": "phase2/pythia-2.8b/sweep",
    "mamba-130m": "phase4/130m-160m/mamba-130m-sweep",
    "mamba-370m": "phase4/370m-410m/mamba-370m-sweep",
    "mamba-790m": "phase4/790m-1b/mamba-790m-sweep",
    "mamba-1.4b": "phase4/1.4b-1.4b/mamba-1.4b-sweep",
    "mamba-2.8b": "phase2/mamba-2.8b/sweep",
    "mamba2-2.7b": "phase2/mamba2-2.7b/sweep",
}
HOSTED = {"gpt-4.1": "gpt-4.1", "claude-sonnet-4-6": "claude-sonnet-4-6", "deepseek-chat": "deepseek_deepseek-chat",
          "gemini-2.5-flash": "gemini-2.5-flash"}  # fmt: skip
#: Dots per inch of the pictures.
DPI = 100


def checkpoints(folder: Path) -> Iterator[dict]:
    """A row for each verdict of Mixing-Matters on the first line, as the paper reads it, and on closed book."""
    for model, file in CHECKPOINTS.items():
        with gzip.open(folder / "artifacts" / f"{file}.jsonl.gz", "rt", encoding="utf-8") as lines:
            for record in map(json.loads, lines):
                if record["condition"] != "oracle":
                    yield {
                        "model": model,
                        "question": record["question_id"],
                        "size": 10,
                        "position": record["gold_position"],
                        "correct": record["score_first_line"],
                    }


def hosted(folder: Path) -> Iterator[pd.DataFrame]:
    """The verdicts on the whole answers of each hosted model; closed book has no position."""
    for model, name in HOSTED.items():
        sizes = sorted((folder / "results" / name).glob("qa_*docs_*_per_example.csv"))
        frames = [pd.read_csv(path) for path in sizes]
        book = pd.read_csv(folder / "results" / name / f"qa_baselines_{name}_per_example.csv")
        book = book[book["condition"] == "closedbook"]
        # Closed book is one question without documents: it counts at every size.
        frames += [book.assign(num_documents=frame["num_documents"].iloc[0], gold_index=None) for frame in frames]
        rows = pd.concat([frame[["num_documents", "gold_index", "question", "em_full"]] for frame in frames])
        yield rows.rename(columns={"em_full": "correct"}).assign(model=model)


def table(curves: Curves) -> str:
    """The curves as Markdown: n, closed book, start, middle and end, primacy, recency, PBI and shape."""
    book = curves.accuracy[curves.accuracy["placement"] == "no_gold"].set_index(["model", "size"])["accuracy"]
    lines = ["| model | documents | n | closed book | start | middle | end | PBI [95 %] | shape |", "|---" * 9 + "|"]
    models = [*CHECKPOINTS, *HOSTED]
    for row in sorted(
        curves.position_bias.to_dict("records"), key=lambda row: (models.index(row["model"]), row["size"])
    ):
        places = [percent(row[f"accuracy_{place}"]) for place in ("start", "middle", "end")]
        pbi = f"{percent(row['pbi'])} {interval(row['pbi_ci_low'], row['pbi_ci_high'])}"
        known = percent(book[row["model"], row["size"]])
        shape = row["shape"] if isinstance(row["shape"], str) else row["reason"]
        lines.append(
            f"| {row['model']} | {row['size']} | {row['n']} | {known} | {' | '.join(places)} | {pbi} | {shape} |"
        )
    return "\n".join(lines)


def main(others: str, output: str) -> None:
    verdicts = {
        "checkpoints": pd.DataFrame(checkpoints(Path(others) / "Mixing-Matters")),
        "hosted": pd.concat(hosted(Path(others) / "lost-in-the-middle-2026"), ignore_index=True),
    }
    for name, frame in verdicts.items():
        frame.to_csv(Path(others) / f"{name}.csv", index=False)
    open_models, of_2026 = (litm.curves(frame, position_scale="from_0") for frame in verdicts.values())
    unknown = of_2026.not_known()
    print(table(open_models), table(of_2026), unknown.note, sep="\n\n")
    for row in unknown.position_bias.to_dict("records"):
        print(row["model"], row["size"], row["n"], percent(row["pbi"]), interval(row["pbi_ci_low"], row["pbi_ci_high"]))
    words = {"panel_title": "{size} documents", "x_label": "Position of the document with the answer"}
    bias = of_2026.position_bias.sort_values(["model", "size"], ignore_index=True)
    forest = KINDS[PBI_FOREST].draw({"kind": PBI_FOREST, "places": {}}, Rows(position_bias=bias))
    pictures = {
        "checkpoints": open_models.plot(title="Open checkpoints of 0.1 to 2.8 billion parameters", **words),
        "hosted": of_2026.plot(title="Hosted models of 2026", sizes=[20, 30], **words),
        "index": forest,
    }
    for name, picture in pictures.items():
        picture.savefig(Path(output) / f"still_lost_{name}.png", dpi=DPI, bbox_inches="tight")


if __name__ == "__main__":
    main(*sys.argv[1:])
