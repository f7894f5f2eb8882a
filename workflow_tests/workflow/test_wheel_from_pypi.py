"""The README's first commands, by uvx from the wheel and PyPI in an empty folder, where importing torch is an error."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from conftest import ROOT
from environments import wheel_in
from local_http import Handler, Served

from litm.engines.modules.fake import made_up_answer

pytestmark = pytest.mark.pypi

#: Of a folder on PYTHONPATH, for every Python of the environment: a failed import counts as well.
FORBIDDEN = """
import sys
def forbid(event, words):
    if event == "import" and words[0].partition(".")[0] in ("torch", "transformers", "jnius", "pyserini"):
        raise RuntimeError(f"{words[0]} is imported")
sys.addaudithook(forbid)
"""
#: A server of the README, and variables that an environment of a user has too.
ADDRESS, KEPT = "http://localhost:8000/v1", ("HOME", "PATH", "LANG", "TMPDIR", "SSL_CERT_FILE", "HTTPS_PROXY")


#: The programs of the tests' environment, which need not be active.
PROGRAMS = Path(sys.executable).parent


class MadeUp(Handler):
    """A server with OpenAI's protocol and the model my-model, whose answers are made up."""

    def do_GET(self) -> None:
        self.send(200, b'{"data": [{"id": "my-model"}]}')

    def do_POST(self) -> None:
        prompt = json.loads(self.body())["messages"][-1]["content"]
        message = {"role": "assistant", "content": made_up_answer(prompt)}
        usage = {"prompt_tokens": len(prompt) // 4, "completion_tokens": 9, "total_tokens": len(prompt) // 4 + 9}
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        reply = {"id": "1", "object": "chat.completion", "created": 1, "model": "my-model", "choices": [choice]}
        self.send(200, json.dumps({**reply, "usage": usage}).encode(), Content_Type="application/json")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    return wheel_in(tmp_path_factory.mktemp("dist"))


@pytest.fixture
def litm(wheel, tmp_path):
    """A function that runs `litm` by uvx in an empty folder, without a key and without torch."""
    (tmp_path / "hook").mkdir()
    (tmp_path / "hook/sitecustomize.py").write_text(FORBIDDEN)
    folder = tmp_path / "empty"
    folder.mkdir()
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    environment = {**kept, "PYTHONPATH": str(tmp_path / "hook"), "HF_HUB_OFFLINE": "1", "COLUMNS": "60"}

    def run(*words: str) -> subprocess.CompletedProcess:
        command = [PROGRAMS / "uvx", "--quiet", "--from", wheel, "litm", *words]
        return subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL
        )

    run.folder = folder
    return run


@pytest.mark.parametrize(
    "extra", tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
)
def test_the_packages_of_an_extra_go_together(wheel, extra):
    command = [
        PROGRAMS / "uv",
        "pip",
        "compile",
        "--quiet",
        "--python-version",
        "3.11",
        "--python-platform",
        "linux",
        "-",
    ]
    needed = f"lost-in-the-middle[{extra}] @ {wheel.as_uri()}"
    done = subprocess.run(command, input=needed, capture_output=True, text=True)
    assert done.returncode == 0 and "snakemake==" in done.stdout, done.stderr


def first_commands() -> list[list[str]]:
    """The words of the commands of `litm` in the README's first screen."""
    screen = (ROOT / "README.md").read_text().partition("## A first answer")[2].partition("\n## ")[0]
    (block,) = re.findall(r"(?s)```bash\n(.*?)```", screen)
    lines = [re.sub(r"\s+#.*", "", line) for line in block.splitlines()]
    return [shlex.split(line)[1:] for line in lines if line.startswith("litm ")]


def test_the_first_screen_of_the_readme_runs_by_uvx_from_an_empty_folder(litm):
    made_up, hosted, served, own = first_commands()
    done = litm(*made_up)
    assert done.returncode == 0 and "Everything above is made up" in done.stdout, done
    for words in (hosted, own):
        if words is own:
            shutil.copytree(ROOT / "examples/notes", litm.folder / "notes")
            shutil.copy(ROOT / "examples/questions.csv", litm.folder)
        done = litm(*words)
        # The price, then what lacks: nothing is asked.
        said = " ".join(done.stdout.split())
        assert re.search(r"gpt-4o-mini: \d+ prompts, .* US\$ 0\.\d+ at most", said), done
        assert done.returncode == 1 and "set the environment variable OPENAI_API_KEY" in done.stderr, done
        assert done.stderr.count("\n") == 1
    with Served(MadeUp) as server:
        at = [word.replace(ADDRESS, f"{server.url}/v1") for word in served]
        done = litm(*at, *own[own.index("--documents") :])
    assert ADDRESS in served and done.returncode == 0, done
    assert (litm.folder / "litm-check/results/figures/my_positions.png").is_file()


def test_a_study_of_a_server_runs_by_uvx_from_an_empty_folder(litm):
    kv = {"task": "kv_retrieval", "positions": {4: [0, 3]}, "examples": 3, "max_new_tokens": 60}
    with Served(MadeUp) as server:
        entry = {"engine": "openai", "api_model": "my-model", "base_url": f"{server.url}/v1"}
        study = {"models": ["m"], "experiments": ["kv"], "define": {"models": {"m": entry}, "experiments": {"kv": kv}}}
        (litm.folder / "study.yaml").write_text(yaml.safe_dump(study))
        done = litm("run", "study.yaml")
    assert done.returncode == 0, done
    assert (litm.folder / "results/tables/accuracy.csv").is_file()
    assert (litm.folder / "results/report.html").is_file()
