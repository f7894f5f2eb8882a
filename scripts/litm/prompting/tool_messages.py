"""Sessions with tools in the forms that providers and chat templates take.

A message of a session is as in `litm.corpora.sessions`. Conversations without tools whose roles alternate stay as they
are.
"""

import json
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

Message = dict[str, Any]


def is_plain(messages: Sequence[Message]) -> bool:
    """Whether there are no tools, and no two messages in a row of one role."""
    has_tools = any(message["role"] == "tool" or "tool_calls" in message for message in messages)
    return not has_tools and all(first["role"] != second["role"] for first, second in pairwise(messages))


def joined(messages: Sequence[Message]) -> list[Message]:
    """The messages with those in a row of one role as one, except for results of tools: many templates refuse them."""
    together: list[Message] = []
    for message in messages:
        if together and together[-1]["role"] == message["role"] != "tool":
            last = together.pop()
            texts = [text for text in (last["content"], message["content"]) if text]
            calls = [*last.get("tool_calls", ()), *message.get("tool_calls", ())]
            message = {**last, "content": "\n\n".join(texts), **({"tool_calls": calls} if calls else {})}
        together.append(message)
    return together


def for_openai(messages: list[Message]) -> list[Message]:
    """The messages of OpenAI's chat endpoint."""
    if is_plain(messages):
        return messages
    return [
        {**message, "tool_calls": [_function(call) for call in message["tool_calls"]]}
        if "tool_calls" in message
        else message
        for message in joined(messages)
    ]


def _function(call: dict[str, str]) -> dict[str, Any]:
    return {"id": call["id"], "type": "function", "function": {"name": call["name"], "arguments": call["arguments"]}}


def for_anthropic(messages: list[Message]) -> tuple[list[Message], dict[str, Any]]:
    """The messages of Anthropic's protocol, without those of the system, and the further fields of the request: the
    protocol wants the tools of a session declared, and here none is to be called.
    """
    if is_plain(messages):
        return messages, {}
    turns: list[Message] = []
    for message in messages:
        role = "user" if message["role"] == "tool" else message["role"]
        if not turns or turns[-1]["role"] != role:
            turns.append({"role": role, "content": []})
        turns[-1]["content"] += _blocks(message)
    names = dict.fromkeys(call["name"] for message in messages for call in message.get("tool_calls", ()))
    tools = [{"name": name, "description": name, "input_schema": {"type": "object"}} for name in names]
    return turns, {"tools": tools, "tool_choice": {"type": "none"}} if tools else {}


def _blocks(message: Message) -> list[dict[str, Any]]:
    if message["role"] == "tool":
        return [{"type": "tool_result", "tool_use_id": message["tool_call_id"], "content": message["content"]}]
    texts = [{"type": "text", "text": message["content"]}] if message["content"].strip() else []
    return texts + [
        {"type": "tool_use", "id": call["id"], "name": call["name"], "input": _object(call["arguments"])}
        for call in message.get("tool_calls", ())
    ]


def _object(arguments: str) -> dict[str, Any]:
    """The arguments of a call, which some tools take as a text."""
    try:
        value = json.loads(arguments)
    except ValueError:
        value = arguments
    return value if isinstance(value, dict) else {"input": value}


def as_texts(messages: list[Message]) -> list[Message]:
    """The messages for a chat template, which may know no tools: calls and their results as marked texts of the
    assistant and the user.
    """
    if is_plain(messages):
        return messages
    names = {call["id"]: call["name"] for message in messages for call in message.get("tool_calls", ())}
    return joined([_as_text(message, names) for message in messages])


def _as_text(message: Message, names: dict[str, str]) -> Message:
    if message["role"] == "tool":
        return {"role": "user", "content": f"[result of {names[message['tool_call_id']]}]\n{message['content']}"}
    calls = [f"[calls {call['name']}: {call['arguments']}]" for call in message.get("tool_calls", ())]
    return {"role": message["role"], "content": "\n".join(filter(None, [message["content"], *calls]))}
