"""What all tests share: the library on the path, no network, one workbench, and small records."""

import gzip
import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import hypothesis
import pytest
from filelock import FileLock

if TYPE_CHECKING:
    from workbench import Workbench

ROOT = Path(__file__).resolve().parent.parent
# Programs that tests start find the library, as jobs do.
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT / "scripts"), os.environ.get("PYTHONPATH")]))
# A hub name without a network costs a minute of retries; two threads that spin slow each other down.
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["OMP_WAIT_POLICY"] = "PASSIVE"
# Images of containers forbid compiled modules; without them each job compiles the library, a fifth of its time.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
# Each worker of pytest-xdist has a core; a test alone has no more, so that it does what it does there.
IS_WORKER = "PYTEST_XDIST_WORKER" in os.environ
os.environ.setdefault("OMP_NUM_THREADS", "1")

# On a busy machine an example may take any time.
hypothesis.settings.register_profile("patient", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow])
hypothesis.settings.load_profile("patient")

#: Modules of fixtures that several test modules share.
pytest_plugins = ["plans", "api_engines", "model_folders"]
#: The remedy of a test that compares generated pages or golden files.
WRITE_ANEW = "run `make reference`, and read `git diff`"
#: The environment variable with the folder of the released files, for tests on real data.
DATA_VARIABLE = "LITM_TEST_DATA"


#: What `-m` is for tests that the command line names by file; one named by its `::` runs whatever its marks.
MARKS_IN_A_NAMED_FILE = "not slow and not slurm and not frameworks and not pypi"


def pytest_configure(config: pytest.Config) -> None:
    """Tests that the command line names are not deselected by the default of `-m` in pytest.ini."""
    is_default = config.option.markexpr in config.getini("addopts")
    if is_default and all("::" in name or name.endswith(".py") for name in config.args):
        config.option.markexpr = "" if all("::" in name for name in config.args) else MARKS_IN_A_NAMED_FILE


def pytest_itemcollected(item: pytest.Function) -> None:
    """Mark a test that runs Snakemake in a workbench, and those of the folders that do little else."""
    if "new_project" in item.fixturenames or item.path.parent.name in ("attacks", "golden"):
        item.add_marker("study")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files of studies first, because they take longest: the others fill the time of a worker that has none left.

    Golden files are the very first: they need no finished workbench, which other workers would wait for.
    """
    studies = {item.path for item in items if item.get_closest_marker("study")}
    items.sort(key=lambda item: (item.path.parent.name != "golden", item.path not in studies))


@pytest.fixture
def data() -> Path:
    """The folder with the released data; the test is skipped where it is not known or not there."""
    folder = os.environ.get(DATA_VARIABLE)
    if not folder:
        pytest.skip(f"needs real data: set {DATA_VARIABLE} to the folder of the released files")
    if not Path(folder).is_dir():
        pytest.skip(f"needs real data: {DATA_VARIABLE} is {folder}, which is not a folder")
    return Path(folder)


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """A folder that is made once a session, by the first worker of pytest-xdist that wants it; not to be changed."""
    base = factory.getbasetemp().parent if IS_WORKER else factory.getbasetemp()
    folder, done = base / name, base / f"{name}.done"
    with FileLock(base / f"{name}.lock"):
        if not done.exists():
            # Left over from a failed try.
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            make(folder)
            done.touch()
    return folder


@pytest.fixture(scope="session")
def new_project(tmp_path_factory) -> "Workbench":
    """The project's files under git with the small config, nothing made yet; not to be changed."""
    from workbench import Workbench

    return Workbench(made_once(tmp_path_factory, "new_project", Workbench.create))


@pytest.fixture
def new_bench(new_project, tmp_path) -> "Workbench":
    """A workbench of one's own in which nothing has been made."""
    return new_project.moved_to(tmp_path / "bench")


@pytest.fixture(scope="session")
def finished_project(tmp_path_factory, new_project) -> "Workbench":
    """A workbench in which everything of `workbench.FINISHED` has been made once; not to be changed."""
    from fork_server import WHOLE_FIGURES
    from workbench import FINISHED, Workbench

    def make(folder: Path) -> None:
        bench = new_project.moved_to(folder)
        bench.configure(FINISHED)
        # The report says whether files of the project differ from its commit.
        bench.commit()
        with pytest.MonkeyPatch.context() as patch:
            # A test makes them again and compares the bytes.
            patch.setenv(WHOLE_FIGURES, "1")
            bench.run()

    return Workbench(made_once(tmp_path_factory, "finished_project", make))


@pytest.fixture(scope="module")
def finished(finished_project, tmp_path_factory) -> "Workbench":
    """A workbench per module, after one full run; tests must not change it."""
    return finished_project.moved_to(tmp_path_factory.mktemp("finished"))


@pytest.fixture
def bench(finished, tmp_path) -> "Workbench":
    """A copy of the module's finished workbench, at another place, to edit."""
    return finished.moved_to(tmp_path / "moved")


def qa_record(number: int, distractors: int) -> dict:
    """A question in the released format, gold document in the middle of the file's order."""
    documents = [
        {"id": str(i), "title": f"Title {number}.{i}", "text": f"Text {number}.{i}", "isgold": False, "score": "1.0"}
        for i in range(distractors)
    ]
    gold = {"title": f"Gold title {number}", "text": f"The answer is answer{number}.", "isgold": True}
    documents.insert(distractors // 2, gold)
    return {
        "question": f"what is number {number}",
        "answers": [f"answer{number}", f"Answer {number}"],
        "ctxs": documents,
    }


def town_records(questions: int, documents: int, text: str = "Town {q} has a mill, and {who} {q}{d} lives there."):
    """Questions with what a user's own system has retrieved for each; the third document has the answer."""

    def document(q: int, d: int) -> dict:
        content = text.format(q=q, d=d, who="Ruler" if d == 2 else "Miller")
        return {"page_content": content, "metadata": {"source": f"/data/town{q}.md"}, "score": 9 - d}

    return [
        {"question": f"who rules town {q}?", "documents": [document(q, d) for d in range(documents)]}
        for q in range(questions)
    ]


def write_lines(path: Path, records: list) -> Path:
    """Write records (or raw strings), one per line, gzip if the name ends in .gz."""
    lines = [record if isinstance(record, str) else json.dumps(record) for record in records]
    data = "".join(line + "\n" for line in lines).encode()
    path.write_bytes(gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)
    return path


def dpr_file(folder: Path, *lines: str) -> Path:
    """A table of passages in DPR's format."""
    return write_lines(folder / "passages.tsv", ["id\ttext\ttitle", *lines])
