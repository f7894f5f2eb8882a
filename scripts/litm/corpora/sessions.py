"""Sessions of agents and chats: their files, read into messages of one form, without secrets.

A message is {role, content}, with `tool_calls` [{id, name, arguments}] of an assistant, and `tool_call_id` of a tool's
result; arguments are JSON. Formats: messages of OpenAI and Anthropic, session files of Claude Code and Codex, messages
of LangChain and LlamaIndex (as .json or .jsonl), and chats as text with `User:` and `Assistant:` before each turn.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from litm.base.files import read_text
from litm.base.messages import UserError, quoted
from litm.corpora.secrets import masked

Message = dict[str, Any]
SYSTEM, USER, ASSISTANT, TOOL = "system", "user", "assistant", "tool"
#: Roles by the names that the formats give them.
ROLES = {
    "system": SYSTEM, "developer": SYSTEM, "user": USER, "human": USER, "assistant": ASSISTANT, "ai": ASSISTANT,
    "model": ASSISTANT, "chatbot": ASSISTANT, "tool": TOOL, "function": TOOL,
}  # fmt: skip
#: Keys of an object that holds a list of messages.
LISTS = ("messages", "conversation", "history", "turns", "chat_history")
#: Records of session files that are no message: of Claude Code and of Codex.
OTHER_RECORDS = {
    "summary", "file-history-snapshot", "queue-operation", "progress", "system", "attachment", "ai-title",
    "last-prompt", "session_meta", "event_msg", "turn_context", "compacted", "ghost_snapshot",
}  # fmt: skip
#: Types of content that are not shown to a model again.
THOUGHTS = ("thinking", "redacted_thinking", "reasoning")
IMAGES = ("image", "image_url", "input_image", "document", "file", "audio", "input_audio")
#: Messages of a session, at least, and characters of one, at most: no window holds more.
FEWEST, MOST_CHARACTERS = 4, 1_000_000
#: The content of what has none that is text.
NO_IMAGE, NO_RESULT = "[image]", "[no result]"
_TURN = re.compile(r"^\W{0,3}(system|user|human|assistant|ai|tool)\W{0,3}:\W{0,3}", re.IGNORECASE)


@dataclass(frozen=True)
class Session:
    """A session without secrets."""

    messages: tuple[Message, ...]
    """Its messages; each call has a result after it."""
    notes: tuple[str, ...]
    """What is masked and left out, with numbers."""


def read_session(path: Path) -> Session:
    """The session in a file; `UserError` names the file and line of what cannot be read, and the reason."""
    seen: Counter[str] = Counter()
    messages: list[Message] = []
    for where, record in _records(path):
        for message in _messages(record, where, seen):
            if len(message["content"]) > MOST_CHARACTERS:
                raise UserError(
                    f"{where}: a message of {len(message['content']):,} characters, which fits no window: cut it, or "
                    "take it out"
                )
            messages.append(message)
    messages = _matched(messages, seen)
    if len(messages) < FEWEST or not {USER, ASSISTANT} <= {message["role"] for message in messages}:
        raise UserError(
            f"{path}: {len(messages)} messages, and a session needs {FEWEST} or more of user and assistant: nothing "
            "can be placed in it"
        )
    clean = tuple(_clean(message, seen) for message in messages)
    notes = [f"{number} {what}" for what, number in seen.items() if number]
    return Session(clean, tuple(notes))


def _records(path: Path) -> Iterator[tuple[str, Any]]:
    """Each record with its file and line, or its number in a list."""
    text = read_text(path)
    if path.suffix == ".jsonl":
        for number, line in enumerate(text.split("\n"), start=1):
            if line.strip():
                yield f"{path}, line {number}", _json(line, f"{path}, line {number}")
    elif path.suffix == ".json":
        value = _json(text, str(path))
        if isinstance(value, dict):
            if isinstance(value.get("system"), str | list):
                yield f"{path}, system", {"role": SYSTEM, "content": value["system"]}
            value = next((value[key] for key in LISTS if isinstance(value.get(key), list)), None)
        if not isinstance(value, list):
            raise UserError(f"{path}: no messages: a list of them, or an object with one of {', '.join(LISTS)}")
        yield from ((f"{path}, message {number}", record) for number, record in enumerate(value, start=1))
    else:
        yield from _turns(path, text)


def _json(text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise UserError(f"{where}: not JSON ({error})") from error


def _turns(path: Path, text: str) -> Iterator[tuple[str, Any]]:
    """The turns of a chat as text."""
    turns: list[tuple[int, str, list[str]]] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if match := _TURN.match(line):
            turns.append((number, match[1].lower(), [line[match.end() :]]))
        elif turns:
            turns[-1][2].append(line)
        elif line.strip():
            raise UserError(f"{path}, line {number}: a chat as text has 'User:' or 'Assistant:' before each turn")
    for number, role, lines in turns:
        # A tool's result without a call is something that the user shows.
        shown = USER if ROLES[role] == TOOL else role
        yield f"{path}, line {number}", {"role": shown, "content": "\n".join(lines).strip()}


def _messages(record: Any, where: str, seen: Counter[str]) -> Iterator[Message]:
    """The messages of a record of any format; counts what is left out of them."""
    if not isinstance(record, dict):
        raise UserError(f"{where}: a message must be an object, found {quoted(record)}")
    kind = record.get("type")
    if kind == "response_item" and isinstance(record.get("payload"), dict):
        record = record["payload"]
        kind = record.get("type")
    if isinstance(record.get("message"), dict):
        if record.get("isSidechain"):
            seen["records of subagents left out"] += 1
            return
        record = record["message"]
    elif _is_other(record):
        return
    elif "kwargs" in record and isinstance(record.get("id"), list):
        record = {
            **record["kwargs"],
            "type": str(record["id"][-1]).removesuffix("Message").removesuffix("Chunk").lower(),
        }
    elif isinstance(record.get("data"), dict):
        record = {**record["data"], "type": kind}
    if kind in THOUGHTS:
        seen["thoughts left out"] += 1
    elif kind in ("function_call", "custom_tool_call", "local_shell_call", "web_search_call"):
        yield _message(ASSISTANT, "", [_call(record, where)])
    elif kind in ("function_call_output", "custom_tool_call_output"):
        yield _result(record.get("call_id"), record.get("output"), where, seen)
    else:
        yield from _of_role(record, where, seen)


def _is_other(record: Mapping[str, Any]) -> bool:
    """Whether a record of a file is no message; Claude Code's of the system have a subtype, LangChain's have none."""
    kind = record.get("type")
    return kind in OTHER_RECORDS and "role" not in record and (kind != "system" or "subtype" in record)


def _of_role(record: Mapping[str, Any], where: str, seen: Counter[str]) -> Iterator[Message]:
    """The messages of a record with a role: results of tools in a user's message are messages of their own."""
    role = ROLES.get(str(record.get("role") or record.get("type")).lower().rpartition(".")[2])
    if role is None:
        said = quoted(record.get("role") or record.get("type"))
        raise UserError(f"{where}: no role that is known ({', '.join(ROLES)}), found {said}")
    more = record.get("additional_kwargs") or {}
    content = record.get("blocks", record.get("content"))
    if role == TOOL:
        yield _result(
            record.get("tool_call_id") or more.get("tool_call_id") or record.get("name"), content, where, seen
        )
        return
    texts, calls = [], []
    for part in content if isinstance(content, list) else [content]:
        kind = part.get("type", part.get("block_type")) if isinstance(part, dict) else None
        if kind == "tool_use":
            calls.append(_call(part, where))
        elif kind == "tool_result":
            yield _result(part.get("tool_use_id"), part.get("content"), where, seen)
        else:
            texts.append(_text(part, where, seen))
    calls += [_call(call, where) for call in record.get("tool_calls") or more.get("tool_calls") or ()]
    if isinstance(record.get("function_call"), dict):
        calls.append(_call(record["function_call"], where))
    if text := "\n\n".join(filter(None, texts)):
        yield _message(role, text, calls)
    elif calls:
        yield _message(role, "", calls)


def _text(part: Any, where: str, seen: Counter[str]) -> str:
    """The text of a part of a content, "" for none; `UserError` for one of an unknown form."""
    if part is None or isinstance(part, str):
        return part or ""
    kind = part.get("type", part.get("block_type")) if isinstance(part, dict) else None
    if kind in THOUGHTS:
        seen["thoughts left out"] += 1
        return ""
    if kind in IMAGES:
        seen["images and files left out"] += 1
        return NO_IMAGE
    text = part.get("text", part.get("refusal")) if isinstance(part, dict) else None
    if not isinstance(text, str):
        raise UserError(f"{where}: a part of a message that is neither text, a tool's, nor an image: {quoted(part)}")
    return text


def _message(role: str, content: str, calls: list[dict[str, str]] | None = None) -> Message:
    return {"role": role, "content": content, **({"tool_calls": calls} if calls else {})}


def _call(call: Mapping[str, Any], where: str) -> dict[str, str]:
    """{id, name, arguments} of a call in any format."""
    function = call["function"] if isinstance(call.get("function"), dict) else call
    name = function.get("name") or (call.get("type") if "action" in call else None)
    if not isinstance(name, str):
        raise UserError(f"{where}: a tool call without a name: {quoted(call)}")
    values: Any = next((function[key] for key in ("arguments", "args", "input", "action") if key in function), {})
    arguments = values if isinstance(values, str) else json.dumps(values, ensure_ascii=False)
    return {"id": str(call.get("call_id") or call.get("id") or name), "name": name, "arguments": arguments}


def _result(id_: Any, content: Any, where: str, seen: Counter[str]) -> Message:
    """The message of a tool's result."""
    if isinstance(content, dict):
        content = content.get("content", json.dumps(content, ensure_ascii=False))
    parts = content if isinstance(content, list) else [content]
    text = "\n".join(filter(None, (_text(part, where, seen) for part in parts)))
    return {"role": TOOL, "content": text or NO_RESULT, "tool_call_id": str(id_)}


def _matched(messages: list[Message], seen: Counter[str]) -> list[Message]:
    """The messages with each call's results directly after it, under ids of our own.

    Calls without a result get one that says so, and results without a call are left out. Both are counted.
    """
    results: dict[str, list[Message]] = {}
    for message in messages:
        if message["role"] == TOOL:
            results.setdefault(message["tool_call_id"], []).append(message)
    matched: list[Message] = []
    number = 0
    for message in messages:
        if message["role"] == TOOL:
            continue
        calls, after = [], []
        for call in message.get("tool_calls", ()):
            number += 1
            waiting = results.get(call["id"])
            if not waiting:
                seen["tool calls without a result"] += 1
            content = waiting.pop(0)["content"] if waiting else NO_RESULT
            calls.append({**call, "id": f"call_{number}"})
            after.append({"role": TOOL, "content": content, "tool_call_id": f"call_{number}"})
        matched += [_message(message["role"], message["content"], calls), *after]
    seen["results without a call left out"] += sum(map(len, results.values()))
    return matched


def _clean(message: Message, seen: Counter[str]) -> Message:
    """The message without secrets, which are counted."""

    def clean(text: str) -> str:
        shown, numbers = masked(text)
        for kind, number in numbers.items():
            seen[f"of kind '{kind}' masked"] += number
        return shown

    calls = [{**call, "arguments": clean(call["arguments"])} for call in message.get("tool_calls", ())]
    return {**message, "content": clean(message["content"]), **({"tool_calls": calls} if calls else {})}


def steps(messages: tuple[Message, ...]) -> list[tuple[Message, ...]]:
    """The messages in steps, between which something can be placed: a call and its results are one step, and what the
    system says belongs to the message after it.
    """
    groups: list[list[Message]] = []
    for message in messages:
        follows = groups and (message["role"] == TOOL or groups[-1][-1]["role"] == SYSTEM)
        if follows:
            groups[-1].append(message)
        else:
            groups.append([message])
    return [tuple(step) for step in groups]
