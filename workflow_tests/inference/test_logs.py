"""Logs of inspect_ai and lm-evaluation-harness as recorded responses."""

import json
import struct
import zipfile
import zlib
from functools import partial
from pathlib import Path

import pyarrow
import pytest
import record_makers
from conftest import write_lines
from programs import refused, run_program

from litm.recorded.logs import FIELDS, INSPECT, LM_EVAL, ZSTANDARD, read_log
from litm.recorded.responses import RecordedFile, RecordedSweep
from litm.records.examples import Example, write_examples
from litm.records.responses import read_responses
from litm.report.task_export import task_record

CELLS = ((4, "gold_at_0"), (4, "gold_at_3"))
BEFORE = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
EXAMPLES = [
    record_makers.example(id=id, placement=placement, prompt=f"{id} {placement}", targets=[{"answers": ["x"]}], **more)
    for _, placement in CELLS
    for id, more in (("1", {}), ("2", {}), ("chat", {"messages": [*BEFORE, {"role": "user", "content": placement}]}))
]


def output(text: str, reason: str = "stop") -> dict:
    return {"choices": [{"message": {"role": "assistant", "content": text}, "stop_reason": reason}], "completion": text}


def inspect_sample(example: Example, text: str, reason: str = "stop") -> dict:
    """A sample of an exported task, as inspect_ai writes it: its messages have more fields."""
    record = task_record(example)
    asked = record["input"]
    if isinstance(asked, list):
        asked = [{"id": str(number), "source": "input", **one} for number, one in enumerate(asked)]
    messages = [*(asked if isinstance(asked, list) else [{"role": "user", "content": asked}]), {"role": "assistant"}]
    called = {"event": "model", "config": {"max_tokens": 9, "temperature": 0.0, "max_connections": 1}}
    said = {"input": asked, "messages": messages, "output": output(text, reason)}
    return {**record, "epoch": 1, **said, "events": [{"event": "span_begin"}, called]}


def lm_eval_sample(example: Example, text: str) -> dict:
    return {"doc_id": 0, "doc": task_record(example), "resps": [[text]], "filtered_resps": [text]}


def eval_file(path: Path, samples: list[dict], is_zstandard: bool = True) -> Path:
    """A zip file as inspect_ai's, whose entries are packed with Zstandard, which Python cannot write."""
    with zipfile.ZipFile(path, "w") as packed:
        for name, value in [("header.json", {}), *((f"samples/{one['id']}_epoch_1.json", one) for one in samples)]:
            content = json.dumps(value).encode()
            packed.writestr(name, pyarrow.compress(content, "zstd", asbytes=True) if is_zstandard else content)
            entry = packed.filelist[-1]
            if is_zstandard:
                entry.compress_type, entry.file_size, entry.CRC = ZSTANDARD, len(content), zlib.crc32(content)
                # The zip file's own header of the entry, too.
                packed.fp.seek(entry.header_offset + 8)
                packed.fp.write(struct.pack("<H", ZSTANDARD))
                packed.fp.seek(packed.start_dir)
    return path


def _json(path: Path, samples: list[dict]) -> Path:
    path.write_text(json.dumps({"version": 2, "samples": samples}))
    return path


#: For each kind of file: what writes it, its name and its samples.
WRITERS = {
    "eval": (eval_file, "a.eval", inspect_sample),
    "deflated": (partial(eval_file, is_zstandard=False), "a.eval", inspect_sample),
    "json": (_json, "a.json", inspect_sample),
    "lm_eval": (write_lines, "a.jsonl", lm_eval_sample),
}


def written(kind: str, folder: Path, *answers: tuple[Example, str]) -> tuple[Path, str]:
    """A log with these answers, and its framework."""
    write, name, sample = WRITERS[kind]
    return write(folder / name, [sample(*one) for one in answers]), LM_EVAL if kind == LM_EVAL else INSPECT


def match(path: Path, log: str, fields: dict | None = None) -> RecordedSweep:
    return RecordedSweep(EXAMPLES, [RecordedFile(str(path), CELLS)], fields or FIELDS[log], log, 9)


@pytest.mark.parametrize("kind", WRITERS)
def test_answers_of_an_exported_task_belong_to_the_prompts_that_were_asked(tmp_path, kind):
    matching = match(*written(kind, tmp_path, *((example, f"to {example.prompt}") for example in EXAMPLES)))
    assert [one.text for one in matching.responses.values()] == [f"to {one.prompt}" for one in EXAMPLES]
    assert matching.files[0].unused == 0 and not list(matching.notes())


@pytest.mark.parametrize("kind", WRITERS)
def test_an_answer_to_another_prompt_of_the_same_question_is_counted_and_not_used(tmp_path, kind):
    other = record_makers.example(id="1", placement="gold_at_0", prompt="1 gold_at_0 ", targets=[{"answers": ["x"]}])
    matching = match(*written(kind, tmp_path, (other, "wrong"), (EXAMPLES[1], "right")))
    assert [one.text for one in matching.responses.values()] == ["right"] and matching.files[0].unused == 1


def test_a_prompt_with_a_system_message_of_a_solver_is_another_prompt(tmp_path):
    sample = inspect_sample(EXAMPLES[0], "x")
    sample["messages"].insert(0, {"role": "system", "content": "Be brief."})
    matching = match(_json(tmp_path / "a.json", [sample]), INSPECT)
    assert not matching.responses and matching.files[0].unused == 1


@pytest.mark.parametrize(
    ("sample", "text", "reason"),
    [
        ({"output": output("x", "max_tokens")}, "x", "length"),
        ({"output": output("x", "unknown")}, "x", "unknown"),
        ({"output": output("", "stop")}, "", "stop"),
        ({"output": output("no", "content_filter")}, "no", "refused"),
        ({"output": output("maximum context length is 8", "model_length")}, None, "overflow"),
        ({"output": {"choices": [], "completion": ""}}, None, "failed"),
        ({"output": {"choices": [], "completion": ""}, "error": {"message": "timeout"}}, None, "failed"),
    ],
)
def test_a_failed_sample_a_prompt_that_does_not_fit_and_an_empty_answer_differ(tmp_path, sample, text, reason):
    path = _json(tmp_path / "a.json", [inspect_sample(EXAMPLES[0], "") | sample])
    (found,) = match(path, INSPECT).responses.values()
    assert (found.text, found.finish_reason) == (text, reason)


def test_a_log_of_a_foreign_task_is_matched_by_its_prompts(tmp_path):
    """Of inspect_ai by its input, of lm_eval by what was sent, whichever names and ids the task gave."""
    own = [
        {"id": n, "input": one.messages or one.prompt, "metadata": {"q": 1}, "output": output(one.id)}
        for n, one in enumerate(EXAMPLES)
    ]
    fields = {"response": "output.choices.0.message.content", "prompt": "input"}
    found = match(eval_file(tmp_path / "a.eval", own), INSPECT, fields)
    assert [one.text for one in found.responses.values()] == [one.id for one in EXAMPLES]
    sent = [{"arguments": {"gen_args_0": {"arg_0": one.prompt}}, "resps": [[one.id]]} for one in EXAMPLES]
    fields = {"response": "resps.0.0", "prompt": "arguments.gen_args_0.arg_0"}
    found = match(write_lines(tmp_path / "b.jsonl", sent), LM_EVAL, fields)
    assert [one.text for one in found.responses.values()] == [one.id for one in EXAMPLES]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"until": ["\n"], "do_sample": False, "max_gen_toks": 9}, '"max_new_tokens":9,"stop":["\\n"],"temperature":0'),
        ({"until": [], "temperature": 0.7, "max_gen_toks": 9}, '"max_new_tokens":9,"stop":[],"temperature":0.7'),
        ({"until": [], "do_sample": False, "max_gen_toks": 9}, ""),
    ],
    ids=["a stop sequence", "a temperature", "as the experiment"],
)
def test_a_task_of_lm_eval_without_a_temperature_is_greedy_and_other_settings_are_told(tmp_path, given, told):
    sample = {"arguments": {"gen_args_0": {"arg_1": given}}, **lm_eval_sample(EXAMPLES[0], "x")}
    notes = [*match(write_lines(tmp_path / "a.jsonl", [sample]), LM_EVAL).notes()]
    assert len(notes) == bool(told) and told in " ".join(notes)


def broken(path: Path) -> Path:
    path = eval_file(path / "a.eval", [inspect_sample(EXAMPLES[0], "x")])
    with zipfile.ZipFile(path) as packed:
        checksum = struct.pack("<I", packed.infolist()[-1].CRC)
    path.write_bytes(path.read_bytes().replace(checksum, b"\0\0\0\0"))
    return path


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (broken, "_epoch_1.json has another checksum"),
        (lambda path: write_lines(path / "a.eval", [{}]), "a.eval: not a whole .eval file (File is not a zip"),
        (lambda path: _json(path / "a.json", ["x"]), "a.json, sample 1: expected a JSON object, found str"),
        (lambda path: write_lines(path / "a.json", [{"status": "x"}]), "a.json: the field 'samples' is missing"),
    ],
    ids=["a damaged entry", "no zip file", "no sample", "no samples"],
)
def test_a_log_that_cannot_be_read_is_an_error_with_its_name(tmp_path, make, message):
    assert message in refused(list, (one for one in read_log(make(tmp_path), INSPECT)))


@pytest.mark.parametrize(
    ("stop", "texts"), [("first_line", ["<think>\n", None]), ("end_token", ["<think>\nmore", None])]
)
@pytest.mark.parametrize(("limit", "is_other"), [(9, False), (8, True)])
def test_answers_are_cut_by_the_stop_rule_and_lines_have_counts_and_other_settings(
    tmp_path, stop, texts, limit, is_other
):
    write_examples(tmp_path / "examples.jsonl.gz", EXAMPLES[:2])
    stray = inspect_sample(record_makers.example(id="stray", prompt="?", targets=[{"answers": ["x"]}]), "y")
    path = eval_file(tmp_path / "a.eval", [inspect_sample(EXAMPLES[0], "<think>\nmore", "max_tokens"), stray])
    outputs = ["--responses", tmp_path / "out.jsonl.gz", "--manifest", tmp_path / "out.json"]
    words = ["--model", "m", "--experiment", "e", "--recorded", path, "--examples", tmp_path / "examples.jsonl.gz"]
    given = ["--fields", json.dumps(FIELDS[INSPECT]), "--cells", json.dumps([CELLS]), "--log", INSPECT]
    decoding = ["--decoding", json.dumps({"max_new_tokens": limit, "stop": stop})]
    done = run_program("import_responses", *words, *given, *decoding, *outputs)
    assert "m/e: 1 of 2 prompts have a recorded response, 1 have none" in done.stderr
    assert "; 1 recorded responses match no prompt" in done.stderr
    said = 'm/e: 1 of the 2 answers of this log were decoded otherwise than the experiment says: {"max_new_tokens":9,'
    assert (said in done.stderr) == is_other
    assert [one.text for one in read_responses(tmp_path / "out.jsonl.gz")] == texts
    assert json.loads((tmp_path / "out.json").read_text())["with_reasoning"] == 1


def test_the_status_of_a_log_that_has_not_ended_well_is_said(tmp_path):
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"status": "cancelled", "samples": [inspect_sample(EXAMPLES[0], "x")]}))
    assert "the log ended with the status 'cancelled', so samples may be missing" in match(path, INSPECT).notes()
    path.write_text(json.dumps({"status": "success", "samples": [inspect_sample(EXAMPLES[0], "x")]}))
    assert not [*match(path, INSPECT).notes()]
    unfinished = tmp_path / "b.eval"
    with zipfile.ZipFile(unfinished, "w") as packed:
        packed.writestr("samples/1_epoch_1.json", json.dumps(inspect_sample(EXAMPLES[0], "x")))
    assert "the log ended with the status 'started', so samples may be missing" in match(unfinished, INSPECT).notes()
