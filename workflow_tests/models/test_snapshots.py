"""The `fetch` target: models of a local fake hub are in the cache afterwards."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest
from conftest import ROOT
from local_http import Handler, Served

from litm.models.identity import wanted_files

MODEL, COMMIT = ROOT / "resources" / "reference_model", "0123456789abcdef0123456789abcdef01234567"
#: Files next to the model's that must not be downloaded.
OTHERS = {"pytorch_model.bin": b"the same once more", "onnx/model.safetensors": b"", "README.md": b""}


def test_one_kind_of_weights_is_wanted_and_nothing_in_folders():
    names = ["config.json", "a.safetensors", "b.safetensors", "a.bin", "tokenizer.model", "onnx/a.bin", "x.gguf"]
    assert wanted_files(names) == ["a.safetensors", "b.safetensors", "config.json", "tokenizer.model"]
    assert wanted_files(["config.json", "a.bin", "README.md"]) == ["a.bin", "config.json"]
    assert wanted_files(["source.spm", "vocab.bpe", "x.tiktoken"]) == ["source.spm", "vocab.bpe", "x.tiktoken"]


class Hub(Handler):
    """What the hub says of `someone/model`, at the addresses that its client asks."""

    asked: list[str]

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        self.asked.append(f"{self.command} {self.path}")
        path = self.path.partition("?")[0]
        files = {**{file.name: file.read_bytes() for file in MODEL.iterdir()}, **OTHERS}
        name = path.partition(f"/resolve/{COMMIT}/")[2]
        if name in files:
            self.answer(files[name], "application/octet-stream", sha256(files[name]).hexdigest())
        elif "/tree/" in path:
            listing = [{"type": "file", "path": n, "size": len(b), "oid": COMMIT} for n, b in files.items()]
            self.answer(json.dumps(listing).encode(), "application/json")
        elif path.startswith("/api/models/someone/model"):
            siblings = [{"rfilename": name} for name in files]
            facts = {"id": "someone/model", "sha": COMMIT, "siblings": siblings}
            self.answer(json.dumps(facts).encode(), "application/json")
        else:
            self.send_error(404)

    def answer(self, body: bytes, kind: str, etag: str = "") -> None:
        headers = {"Content-Type": kind, "X-Repo-Commit": COMMIT, "ETag": f'"{etag}"' if etag else None}
        self.send(200, body, **headers)


@pytest.fixture
def hub() -> Iterator[str]:
    Hub.asked = []
    with Served(Hub) as server:
        yield server.url


#: A program whose attempts follow each other at once: the hub's client waits 23 seconds between six.
WITHOUT_WAITS = """
import runpy, sys, time
time.sleep = lambda _: None
sys.argv[:] = sys.argv[1:]
sys.path.insert(0, sys.argv[0].rpartition("/")[0])
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def fetch(folder: Path, **environment: str) -> subprocess.CompletedProcess:
    source = {"location": "someone/model", "identity": {"hub": "someone/model", "commit": COMMIT}}
    (folder / "source.json").write_text(json.dumps(source))
    program = str(ROOT / "scripts" / "models" / "fetch.py")
    command = [sys.executable, "-c", WITHOUT_WAITS, program, "--sources", "source.json"]
    there = {**os.environ, "HF_HOME": str(folder / "cache"), "HF_HUB_DISABLE_XET": "1", **environment}
    return subprocess.run(command, cwd=folder, env=there, capture_output=True, text=True, check=False)


@pytest.mark.long
def test_a_fetched_model_loads_without_the_hub_and_is_not_fetched_twice(tmp_path, hub):
    done = fetch(tmp_path, HF_ENDPOINT=hub, HF_HUB_OFFLINE="0")
    assert done.returncode == 0, done.stderr
    downloaded = {path.rpartition("/")[2] for path in Hub.asked if path.startswith("GET") and "/resolve/" in path}
    assert downloaded == {file.name for file in MODEL.iterdir() if file.suffix in (".json", ".safetensors")}
    Hub.asked.clear()
    assert fetch(tmp_path, HF_ENDPOINT=hub, HF_HUB_OFFLINE="0").returncode == 0
    assert not [path for path in Hub.asked if path.startswith("GET") and "/resolve/" in path]

    load = f"import transformers as t; t.AutoModelForCausalLM.from_pretrained('someone/model', revision='{COMMIT}')"
    offline = {**os.environ, "HF_HOME": str(tmp_path / "cache"), "HF_HUB_OFFLINE": "1"}
    subprocess.run([sys.executable, "-c", load], env=offline, check=True)


def test_a_hub_that_is_not_there_or_not_allowed_is_one_line(tmp_path):
    done = fetch(tmp_path, HF_ENDPOINT="http://127.0.0.1:9", HF_HUB_OFFLINE="0")
    assert done.returncode == 1
    assert done.stderr.strip().splitlines()[-1].startswith(f"error: model someone/model (commit {COMMIT})")
    assert "Traceback" not in done.stderr
    without = "HF_HUB_OFFLINE is set; run the target `fetch` without it, where there is a network"
    assert fetch(tmp_path, HF_HUB_OFFLINE="1").stderr == f"error: model someone/model: {without}\n"
