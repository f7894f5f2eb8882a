"""Logs of other frameworks as recorded responses: inspect_ai's samples, and those of lm-evaluation-harness."""

import os
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from litm.base.files import file_kind
from litm.base.json_files import parse_object, read_json, read_jsonl, typed_field
from litm.base.messages import UserError
from litm.records.responses import FAILED, OVERFLOW, UNKNOWN

INSPECT, LM_EVAL = "inspect", "lm_eval"
#: Fields of exported tasks, by our names, where inspect_ai has a sample's `metadata` and lm_eval its `doc`.
_METADATA = {name: f"metadata.{name}" for name in ("size", "placement", "prompt_sha256")} | {
    "id": "metadata.question_id"
}
#: Fields of the logs of exported tasks, by frameworks.
FIELDS: dict[str, dict[str, str]] = {
    INSPECT: {"response": "response", "finish_reason": "finish_reason", "prompt": "asked", **_METADATA},
    LM_EVAL: {
        "response": "resps.0.0", "prompt": "doc.input", **{name: f"doc.{field}" for name, field in _METADATA.items()}
    },
}  # fmt: skip
#: The method of compression in zip files, see APPNOTE.TXT 6.3.7, 4.4.5.
ZSTANDARD = 93
#: Kinds of files, by frameworks.
KINDS = {INSPECT: (".eval", ".json"), LM_EVAL: (".jsonl",)}
#: inspect_ai's reasons to stop that are not among `FINISH_REASONS`. `model_length`: the prompt did not fit; the
#: completion is then a message of the server.
_REASONS = {"model_length": OVERFLOW, "tool_calls": UNKNOWN, "unknown": UNKNOWN}


def read_log(path: str | Path, log: str) -> Iterator[tuple[str, dict]]:
    """Yield (place, sample) of a framework's log, in its order; `UserError` with the file for one that cannot be read.

    Samples get the field `decoding`, as `greedy` gives it, if the log tells. Those of inspect_ai also get `asked`, the
    messages before the answer, with those that a solver has added; `response`, the completion or None;
    `finish_reason`, `failed` for those that ended with an error; `void`, the limit that halted the sample, or the
    reason why its scores do not count; and `log_status`.
    """
    path = Path(path)
    if log == LM_EVAL:
        for line, sample in read_jsonl(path):
            arguments = _at(sample, "arguments", "gen_args_0", "arg_1")
            # lm_eval is greedy unless the task gives a temperature.
            settings = {"temperature": 0, **arguments} if isinstance(arguments, Mapping) else arguments
            yield f"{path}, line {line}", {**sample, **_decoding(settings, "max_gen_toks", "until")}
        return
    samples = _unpacked(path) if file_kind(path) == ".eval" else _listed(path)
    for where, sample in samples:
        called = next((event for event in sample.get("events") or [] if _at(event, "event") == "model"), None)
        decoding = _decoding(_at(called, "config"), "max_tokens", "stop_seqs")
        yield where, {**sample, "asked": _asked(sample), **decoding, **_outcome(sample, where), "void": _void(sample)}


def _unpacked(path: Path) -> Iterator[tuple[str, dict]]:
    """The samples of an .eval file, a zip file with a JSON file for each."""
    try:
        with path.open("rb") as raw, zipfile.ZipFile(raw) as packed:
            # A log without a header is that of a run that has not ended.
            header = packed.NameToInfo.get("header.json")
            log = parse_object(_content(raw, packed, header).decode(), str(path)) if header else {"status": "started"}
            # An entry that is written again under its name replaces the first one.
            for name, entry in packed.NameToInfo.items():
                if name.startswith("samples/") and name.endswith(".json"):
                    where = f"{path}, {name}"
                    yield where, _with_log_status(parse_object(_content(raw, packed, entry).decode(), where), log)
    except (zipfile.BadZipFile, NotImplementedError, UnicodeDecodeError, OSError) as error:
        raise UserError(f"{path}: not a whole .eval file ({error}): copy it again") from error


def _content(raw: BinaryIO, packed: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    """The content of an entry; OSError or BadZipFile for a broken one."""
    if entry.compress_type != ZSTANDARD:
        return packed.read(entry)
    # inspect_ai packs with Zstandard, which Python's zipfile has from version 3.14 on.
    import pyarrow

    raw.seek(entry.header_offset)
    lengths = struct.unpack("<26x2H", raw.read(30))
    raw.seek(sum(lengths), os.SEEK_CUR)
    content = pyarrow.decompress(raw.read(entry.compress_size), entry.file_size, "zstd", asbytes=True)
    if zlib.crc32(content) != entry.CRC:
        raise zipfile.BadZipFile(f"{entry.filename} has another checksum")
    return content


def _listed(path: Path) -> Iterator[tuple[str, dict]]:
    """The samples of a log that is one JSON object."""
    log = read_json(path)
    samples = typed_field(log, "samples", list, str(path))
    for number, sample in enumerate(samples, start=1):
        where = f"{path}, sample {number}"
        if not isinstance(sample, dict):
            raise UserError(f"{where}: expected a JSON object, found {type(sample).__name__}")
        yield where, _with_log_status(sample, log)


def _with_log_status(sample: Mapping[str, Any], log: Mapping[str, Any]) -> dict[str, Any]:
    """The sample with the status of its log: success, started, cancelled or error."""
    return {**sample, "log_status": log.get("status")}


def _void(sample: Mapping[str, Any]) -> str | None:
    """Why a sample does not count: a limit halted it, or it was excluded or zeroed afterwards (scores, 0.3.290)."""
    if limit := _at(sample, "limit", "type"):
        return f"limit of {limit}"
    scores = sample.get("scores")
    reasons = [_at(score, "reason") for score in (scores.values() if isinstance(scores, Mapping) else ())]
    return next((reason for reason in reasons if reason in ("excluded", "zeroed")), None)


def _at(value: Any, *path: str) -> Any:
    """What a value has under these keys, each in the one before; None where a key is missing."""
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def greedy(limit: int) -> dict[str, Any]:
    """How an exported task with this limit of new tokens is decoded."""
    return {"temperature": 0, "max_new_tokens": limit, "stop": []}


def _decoding(config: Any, limit: str, stop: str) -> dict[str, Any]:
    """The field `decoding` of a sample, from a framework's settings under its names; none without settings."""
    if not isinstance(config, Mapping):
        return {}
    settings = {"temperature": config.get("temperature"), "max_new_tokens": config.get(limit)}
    return {"decoding": {**settings, "stop": config.get(stop) or []}}


def _asked(sample: Mapping[str, Any]) -> Any:
    messages: Any = sample.get("messages") or sample.get("input")
    last = messages[-1] if isinstance(messages, list) and messages else None
    return messages[:-1] if _at(last, "role") == "assistant" else messages


def _outcome(sample: Mapping[str, Any], where: str) -> dict[str, Any]:
    if sample.get("error"):
        return {"response": None, "finish_reason": FAILED}
    choices = typed_field(typed_field(sample, "output", dict, where), "choices", list, f"{where}, output")
    if not choices:
        return {"response": None, "finish_reason": FAILED}
    reason = typed_field(choices[0], "stop_reason", str, f"{where}, output.choices[0]")
    reason = _REASONS.get(reason, reason)
    text = None if reason == OVERFLOW else typed_field(sample["output"], "completion", str, f"{where}, output")
    return {"response": text, "finish_reason": reason}


def asked_content(value: Any) -> Any:
    """What a log says was asked, as examples have it: a text, or messages of role and content.

    A single message of the user's is the text that it was made of; anything else stays as it is.
    """
    if not isinstance(value, list) or not all(isinstance(message, Mapping) for message in value):
        return value
    messages = [{"role": message.get("role"), "content": message.get("content")} for message in value]
    return messages[0]["content"] if [message["role"] for message in messages] == ["user"] else messages
