"""The task agent_session: a fact or an instruction that was placed in a user's own session, asked for at its end; and
agent_session_repeated, with the whole session twice.
"""

from collections.abc import Sequence
from dataclasses import replace

from litm.corpora.sessions import SYSTEM, USER, Message
from litm.examples.planted_sessions import messages_of, read_planted
from litm.examples.task import Task
from litm.records.questions import Item

#: How the ids of calls end in a session's second copy.
AGAIN = "_again"
#: What stands before the content of a message in a transcript.
_LABELS = {"system": "System", "user": "User", "assistant": "Assistant", "tool": "Tool"}


def _format_steps(items: Sequence[Item]) -> list[str]:
    """The steps as a transcript, with a line for each call."""
    return ["\n".join(map(_line, messages_of([item]))) for item in items]


def _line(message: Message) -> str:
    calls = "".join(f"\n[calls {call['name']}: {call['arguments']}]" for call in message.get("tool_calls", ()))
    return f"{_LABELS[message['role']]}: {message['content']}{calls}"


def _as_messages(items: Sequence[Item], question: str) -> list[Message]:
    """The session as chat messages, what the system says first, and the question last."""
    messages = messages_of(items)
    of_system = [message for message in messages if message["role"] == SYSTEM]
    others = [message for message in messages if message["role"] != SYSTEM]
    return [*of_system, *others, {"role": USER, "content": question}]


def _as_messages_twice(items: Sequence[Item], question: str) -> list[Message]:
    """The session's messages twice, what the system says once, and the question last; ids of calls do not repeat."""
    *once, last = _as_messages(items, question)
    again = (message for message in once if message["role"] != SYSTEM)
    return [*once, *map(_with_other_ids, again), last]


def _with_other_ids(message: Message) -> Message:
    other = dict(message)
    if "tool_calls" in message:
        other["tool_calls"] = [{**call, "id": f"{call['id']}{AGAIN}"} for call in message["tool_calls"]]
    if "tool_call_id" in message:
        other["tool_call_id"] = f"{message['tool_call_id']}{AGAIN}"
    return other


agent_session = Task(
    name="agent_session",
    asks="a fact or an instruction that was placed in a session of an agent, asked for at its end.",
    prompt="agent_session",
    metric="whole_words",
    max_new_tokens=100,
    item="step",
    tokens_per_item=250,
    read=lambda dataset, size, settings: read_planted(dataset, size),
    format_items=_format_steps,
    as_messages=_as_messages,
)
agent_session_repeated = replace(
    agent_session,
    name="agent_session_repeated",
    asks="the same with the whole session twice.",
    prompt="agent_session_repeated",
    as_messages=_as_messages_twice,
    repeats="agent_session",
)
