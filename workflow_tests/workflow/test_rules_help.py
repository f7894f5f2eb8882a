"""What rules are written with: entries by wildcard, options, commands, and the content of inputs."""

import os
import shlex
from dataclasses import dataclass
from pathlib import Path

import pytest
from conftest import ROOT
from plans import of
from snakemake.iocontainers import Namedlist
from snakemake.rules import Rule

from litm.base.store import END, file_sha256
from litm.models import identity
from litm.models.identity import FileDigests
from litm.workflow import rules_help
from litm.workflow.rules_help import Each, Programs, any_of, compared, job_environment, named_files, option

LONG_AGO = (1.6e9, 1.6e9)


@dataclass(frozen=True)
class Entry:
    name: str
    corpus: str | None = None

    def settings(self) -> dict:
        return {"name": self.name}


ENTRIES = {"a": Entry("a", "notes"), "b": Entry("b")}
EACH = Each(lambda wildcards: ENTRIES[wildcards.entry])
A, B = of(entry="a"), of(entry="b")


def test_an_entry_s_key_is_that_of_the_entry_that_the_wildcard_names():
    assert [EACH.name(A), EACH.name(B), EACH.corpus(B), EACH.settings(A)] == ["a", "b", None, {"name": "a"}]
    assert {key: value(A) for key, value in EACH.keys("name corpus").items()} == {"name": "a", "corpus": "notes"}
    assert EACH(lambda entry: entry.name * 2)(B) == "bb"


def test_a_path_has_the_entry_s_keys_and_there_is_none_without_them():
    path = EACH("results/{corpus}/{name}.csv")
    assert path(A) == "results/notes/a.csv" and path(B) == []


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("a b", ["--to-do", "a b"]),
        (0, ["--to-do", "0"]),
        (0.5, ["--to-do", "0.5"]),
        (True, ["--to-do"]),
        (False, []),
        (None, []),
        ("", ["--to-do"]),
        (["a", "b"], ["--to-do", "a", "b"]),
        ([], ["--to-do"]),
        ({"b": 1, "a": None}, ["--to-do", '{"a":null,"b":1}']),
        (Entry("a"), ["--to-do", '{"corpus":null,"name":"a"}']),
        ([Entry("a")], ["--to-do", '[{"corpus":null,"name":"a"}]']),
    ],
)
def test_a_setting_is_an_option_of_its_name(value, words):
    assert option("to_do", value) == words


@pytest.fixture
def root(tmp_path, monkeypatch) -> Path:
    """A project with one program in a folder of its own, and a library of three modules."""
    for name, text in {
        "scripts/stage/run.py": "from litm.one import f\n",
        "scripts/litm/__init__.py": "",
        "scripts/litm/one.py": "",
        "scripts/litm/kinds/__init__.py": "",
        "scripts/litm/kinds/two.py": "import litm.three\n",
        "scripts/litm/three.py": "",
        "scripts/litm/run_too.py": "",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def new_start(root: Path) -> Programs:
    """The programs as another start of Snakemake finds them."""
    for one in (rules_help.local_modules, rules_help.file_digest):
        one.cache_clear()
    return Programs(root)


def test_a_command_runs_the_program_of_that_name_and_changes_with_the_modules_that_it_imports(root):
    def command() -> str:
        return new_start(root).command("run", "--size {wildcards.size:q} --threads {threads}")

    first = command()
    assert first.partition(" ")[2] == (
        'python "$LITM_SCRIPTS/stage/run.py" '
        "--size {wildcards.size:q} --threads {threads} "
        "2>&1 | (trap '' TERM HUP; tee -i {log:q})"
    )
    (root / "scripts/litm/three.py").write_text("# Not imported.")
    assert command() == first
    # The data of a module have its name.
    for changed in ("one.py", "one.yaml"):
        (root / "scripts/litm" / changed).write_text("# A comment.")
        assert command() != first
        first = command()
    assert Programs(root).command("run", "", is_by_code=False).startswith("python ")


def test_a_module_found_by_name_counts_with_its_own_imports(root):
    def code() -> str:
        return new_start(root).code("kinds", lambda wildcards: wildcards.kind)(of(kind="two"))

    first = code()
    (root / "scripts/litm/three.py").write_text("# A comment.")
    assert code() != first
    with pytest.raises(LookupError, match=r"no module litm\.kinds\.four"):
        Programs(root).code("kinds", lambda wildcards: ["four"])(None)


def test_a_module_that_makes_up_texts_counts_with_its_words(root):
    for name in ("scripts/litm/corpora/made_up.py", "scripts/litm/corpora/other.py", "resources/words/a.toml"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("")

    def codes() -> list[str]:
        return [
            new_start(root).code("corpora", lambda wildcards, name=name: name)(None) for name in ("made_up", "other")
        ]

    made_up, other = codes()
    (root / "resources/words/a.toml").write_text("x = 1")
    assert [one == first for one, first in zip(codes(), (made_up, other), strict=True)] == [False, True]


@pytest.mark.parametrize("name", ["walk", "run_too"])
def test_a_program_that_is_not_there_is_an_error(root, name):
    with pytest.raises(LookupError, match=f"no program {name}"):
        Programs(root).command(name, "")


def test_two_programs_of_one_name_are_an_error(root):
    (root / "scripts" / "run.py").write_text("")
    with pytest.raises(LookupError, match=r"run\.py have the same name"):
        Programs(root)


def files(*unnamed: str, **named: str | list[str]) -> Namedlist:
    """Files of a job, by name or without one, as Snakemake gives them."""
    made = Namedlist(toclone=unnamed)
    for name, value in named.items():
        first = len(made)
        made.extend([value] if isinstance(value, str) else value)
        made._set_name(name, first, end=None if isinstance(value, str) else len(made))
    return made


def test_each_setting_is_a_param_of_its_own_with_the_words_of_its_option():
    params = Programs(ROOT).settings(metric="m m", model=EACH.name, gather=False)
    assert {name: value(A) for name, value in params.items()} == {
        "metric": "--metric 'm m'", "model": "--model a", "gather": "", "contents": "contents ",
    }  # fmt: skip
    assert compared(order="x y", model=EACH.name)["model"](B) == "model b"


def test_named_files_are_options_and_their_param_is_not_compared():
    words = named_files(A, files("awaited", examples=["x", "y"], labels=[]), files("made", table="t t"))
    assert shlex.split(words) == ["--examples", "x", "y", "--labels", "--table", "t t"]
    assert Rule._is_deriving_function(named_files) and not Rule._is_deriving_function(EACH.name)


def contents(*inputs, is_output=lambda path: True, wildcards=A) -> str:
    """The param of a rule with these inputs, as of another start: what was hashed is kept for the time of one."""
    return Programs(ROOT, is_output, lambda param: inputs).settings()["contents"](wildcards)


def test_the_param_depends_on_contents_and_names_and_not_on_times_or_made_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in "ab":
        Path(name).write_text(name)

    def param(wildcards=A) -> str:
        return contents(lambda own: [own.entry, "results/made"], "b", "results/{x}", "missing", wildcards=wildcards)

    first = param()
    os.utime("a", LONG_AGO)
    assert param() == first
    Path("a").write_text("other")
    os.utime("a", LONG_AGO)
    changed = param()
    assert changed != first
    Path("a").rename("c")
    assert param(of(entry="c")) not in (first, changed)
    # An input that is another one's file.
    assert contents(lambda own: ["b"], lambda own: []) != contents(lambda own: [], lambda own: ["b"])


def test_a_large_file_of_the_same_size_and_time_is_seen_and_read_once_by_all(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(rules_help, "LARGE", 4)
    monkeypatch.setattr(rules_help, "WORTH_A_LINE", 4)
    weights = Path("model/weights.safetensors")
    weights.parent.mkdir()
    # Longer than what is hashed at every look.
    ends = "x" * END
    weights.write_text(f"{ends}first{ends}")
    os.utime(weights, LONG_AGO)
    first = contents(str(weights))
    assert contents(str(weights)) == first
    assert capsys.readouterr().err.count("hashing its 0.0 GB, and again only if it changes") == 1
    with monkeypatch.context() as nothing_is_read:
        nothing_is_read.setattr(identity, "file_sha256", None)
        assert FileDigests(identity.DIGESTS, "model").sha256(weights) == file_sha256(weights)
    changed = weights.stat().st_ctime_ns
    while weights.stat().st_ctime_ns == changed:
        weights.write_text(f"{ends}other{ends}")
        os.utime(weights, LONG_AGO)
    assert contents(str(weights)) != first


def test_the_param_has_a_users_file_below_results_and_no_outputs_of_rules(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made = {"results/data/x", "results/corpora/made"}
    mine, others = Path("results/mine/q.jsonl"), [Path("results/data/x"), Path("results/corpora/made/a/b")]
    for file in (mine, *others):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("first")

    def param() -> str:
        return contents(str(mine), *map(str, others), is_output=made.__contains__)

    first = param()
    for file in others:
        file.write_text("other")
    assert param() == first
    mine.write_text("other")
    assert param() != first


def test_a_pattern_matches_exactly_the_names():
    assert any_of(["a.b", 7]) == r"a\.b|7"
    assert any_of([]) == "(?!)"


def test_jobs_have_snakemakes_python_and_the_library_first_in_their_paths(tmp_path):
    given = job_environment("/env/bin/python", "/project/scripts", {"PATH": "/bin", "PYTHONPATH": "/lib"})
    paths = {"PATH": "/env/bin:/bin", "PYTHONPATH": "/project/scripts:/lib", "LITM_SCRIPTS": "/project/scripts"}
    assert given == {**paths, "OMP_WAIT_POLICY": "PASSIVE"}
    assert job_environment("/env/bin/python", "/project/scripts", {})["PYTHONPATH"] == "/project/scripts"
    given = job_environment("python", "scripts", {"XDG_CONFIG_HOME": __file__, "XDG_CACHE_HOME": str(tmp_path)})
    assert given["MPLCONFIGDIR"] == str(tmp_path / "matplotlib")
