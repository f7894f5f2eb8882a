"""What a change runs again, and which prompts it asks again; docs/what_re_runs_when.yaml has the changes."""

import os
import re

from conftest import ROOT, qa_record, write_lines
from reruns import changes, check, with_keys
from workbench import FINISHED, Workbench, changed

from litm.base.json_files import read_json
from litm.base.store import file_sha256

KV_RESPONSES = "results/responses/dummy/kv.jsonl.gz"


def touch_every_file(bench: Workbench) -> None:
    for path in bench.folder.rglob("*"):
        if path.is_file() and not {"results", ".snakemake", ".git"} & set(path.relative_to(bench.folder).parts):
            os.utime(path)


def check_out_another_branch_and_back(bench: Workbench) -> None:
    bench.git("checkout", "--quiet", "-b", "other")
    for path in [*bench.path("scripts").rglob("*.py"), *bench.path("resources/prompts").glob("*.txt")]:
        path.write_text(path.read_text() + "\n")
    bench.git("-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "--quiet", "--all", "--message=other")
    bench.git("checkout", "--quiet", "main")


def reverse_the_keys(bench: Workbench) -> None:
    def reverse(value):
        return {key: reverse(value[key]) for key in reversed(value)} if isinstance(value, dict) else value

    bench.configure(reverse(FINISHED))


def replace_weights(bench: Workbench) -> None:
    """Other weights of the same size, with the time of the first, as `cp -p` and `tar` may bring them."""
    file = bench.path("resources/reference_model/model.safetensors")
    state, weights = file.stat(), bytearray(file.read_bytes())
    weights[-1] ^= 1
    file.write_bytes(weights)
    os.utime(file, ns=(state.st_atime_ns, state.st_mtime_ns))


def replace_weights_now(bench: Workbench) -> None:
    replace_weights(bench)
    os.utime(bench.path("resources/reference_model/model.safetensors"))


def delete_responses(bench: Workbench) -> None:
    bench.path(KV_RESPONSES).unlink()


@changes()
def test_a_change_runs_and_asks_what_the_page_says(bench, row):
    # An action is a function above, by its name.
    check(bench, FINISHED, row, globals())


def test_responses_keep_their_bytes_after_a_comment_in_the_inference_code(bench):
    bench.edit("scripts/litm/inference/kept_answers.py", "# A full disk may have", "# A disk that is full may have")
    paths = [KV_RESPONSES, "results/responses/reference/kv.jsonl.gz"]
    before = [bench.path(path).read_bytes() for path in paths]
    bench.run(*paths)
    assert bench.asked("kv") == bench.asked("kv", "reference") == (0, 12)
    assert [bench.path(path).read_bytes() for path in paths] == before


def test_the_page_on_what_re_runs_names_every_rule():
    text = "".join(path.read_text() for path in [ROOT / "Snakefile", *(ROOT / "rules").glob("*.smk")])
    rules = re.findall(r"(?m)^(?:use rule \w+ as|rule) (\w+)", text)
    page = (ROOT / "docs" / "what_re_runs_when.md").read_text()
    assert len(rules) > 50
    assert [rule for rule in rules if f"`{rule}`" not in page] == []


def test_shards_ask_all_prompts_of_the_sweep_and_give_the_same_responses(bench):
    def run(**more: int) -> bytes:
        bench.configure(with_keys(FINISHED, {"define.models.dummy": {"dtype": "bfloat16", **more}}))
        bench.run(KV_RESPONSES)
        assert bench.asked("kv") == (0, 12)
        return bench.path(KV_RESPONSES).read_bytes()

    in_two = run(shards=2)
    shards = bench.folder / "results" / "parts" / "dummy" / "kv"
    assert [read_json(path)["asked"] for path in sorted(shards.glob("*.manifest.json"))] == [6, 6]
    assert run() == run(shards=3) == in_two


def test_a_deleted_intermediate_is_made_again_when_asked_for(bench):
    delete_responses(bench)
    assert bench.plan(KV_RESPONSES) == {"generate": 1}


def test_a_model_for_two_gpus_is_given_two_though_one_job_runs_at_a_time(bench):
    large = {"engine": "transformers", "path": "resources/reference_model", "gpus": 2}
    bench.configure(with_keys(FINISHED, {"models": ["large"], "only": {}, "define.models.large": large}))
    done = bench.snakemake("-n", "-p", "--quiet", "host", "--", "results/responses/large/qa.jsonl.gz")
    assert " --gpus 2 " in done.stdout


def test_a_remote_file_is_fetched_checked_used_and_stops_the_next_run_if_it_is_changed(bench, tmp_path):
    remote = write_lines(tmp_path / "remote.jsonl.gz", [qa_record(9, 2)])
    entry = {"url": remote.as_uri(), "sha256": file_sha256(remote)}
    config = with_keys(changed(closed_book={"dataset": "remote"}), {"define.datasets.remote": entry})
    examples, fetched = "results/examples/closed_book/0/no_gold.jsonl.gz", "results/data/remote.jsonl.gz"

    bench.configure(config)
    bench.run(examples)
    assert bench.path(fetched).read_bytes() == remote.read_bytes()
    bench.configure({**config, "data_mirror": str(tmp_path)})
    assert bench.plan(fetched) == {}
    bench.path(fetched).write_bytes(b"other")
    bench.configure(config)
    assert f"{fetched}: it was changed after it was downloaded" in bench.refusal(examples)
    bench.configure(with_keys(config, {"define.datasets.remote.sha256": "0" * 64}))
    assert f"its sha256 is {entry['sha256']}, but must be {'0' * 64}" in bench.refusal(examples)
