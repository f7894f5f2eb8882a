"""Sessions of agents: formats become messages of one form, secrets are masked, and what cannot be read is refused."""

import json

import pytest
from conftest import ROOT, write_lines
from programs import refused

from litm.corpora.secrets import masked
from litm.corpora.sessions import read_session, steps

CALL = {"id": "a", "type": "function", "function": {"name": "ls", "arguments": '{"path": "."}'}}
OPENAI = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "List."},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "a", "content": "x.md"},
    {"role": "assistant", "content": "One file."},
]
USE = {"type": "tool_use", "id": "t", "name": "ls", "input": {"path": "."}}
RESULT = {"type": "tool_result", "tool_use_id": "t", "content": [{"type": "text", "text": "x.md"}]}
ANTHROPIC = [
    {"role": "user", "content": "List."},
    {"role": "assistant", "content": [USE]},
    {"role": "user", "content": [RESULT]},
    {"role": "assistant", "content": [{"type": "text", "text": "One file."}]},
]
CODEX = [
    {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "Be brief."}]},
    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "List."}]},
    {"type": "function_call", "name": "ls", "arguments": '{"path": "."}', "call_id": "c"},
    {"type": "function_call_output", "call_id": "c", "output": "x.md"},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "One file."}]},
]
LANGCHAIN = [
    {"type": "system", "data": {"content": "Be brief."}},
    {"type": "human", "data": {"content": "List."}},
    {"type": "ai", "data": {"content": "", "tool_calls": [{"name": "ls", "args": {"path": "."}, "id": "l"}]}},
    {"type": "tool", "data": {"content": "x.md", "tool_call_id": "l"}},
    {"type": "ai", "data": {"content": "One file."}},
]
LLAMAINDEX = [
    {"role": "system", "blocks": [{"block_type": "text", "text": "Be brief."}]},
    {"role": "user", "blocks": [{"block_type": "text", "text": "List."}]},
    {"role": "assistant", "blocks": [], "additional_kwargs": {"tool_calls": [CALL]}},
    {"role": "tool", "blocks": [{"block_type": "text", "text": "x.md"}], "additional_kwargs": {"tool_call_id": "a"}},
    {"role": "assistant", "blocks": [{"block_type": "text", "text": "One file."}]},
]
FORMATS = {
    "openai.json": {"messages": OPENAI},
    "openai.jsonl": OPENAI,
    "anthropic.json": {"system": "Be brief.", "messages": ANTHROPIC},
    "claude_code.jsonl": [
        {"type": "summary", "summary": "x"},
        {"type": "system", "subtype": "hook", "content": "x"},
        {"type": "user", "message": {"role": "system", "content": "Be brief."}},
        *({"type": message["role"], "message": message} for message in ANTHROPIC),
        {"type": "user", "isSidechain": True, "message": {"role": "user", "content": "of a subagent"}},
    ],
    "codex.jsonl": [{"type": "session_meta"}, *({"type": "response_item", "payload": record} for record in CODEX)],
    "langchain.json": LANGCHAIN,
    "llamaindex.json": {"chat_history": LLAMAINDEX},
}


def session(tmp_path, name: str, content: object):
    path = tmp_path / name
    if name.endswith(".jsonl"):
        return read_session(write_lines(path, content))
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return read_session(path)


@pytest.mark.parametrize(("name", "content"), FORMATS.items(), ids=FORMATS)
def test_a_session_is_the_same_messages_in_every_format(name, content, tmp_path):
    arguments = {"path": "."}
    messages = session(tmp_path, name, content).messages
    assert [(message["role"], message["content"]) for message in messages] == [
        ("system", "Be brief."), ("user", "List."), ("assistant", ""), ("tool", "x.md"), ("assistant", "One file."),
    ]  # fmt: skip
    (call,) = messages[2]["tool_calls"]
    assert (call["id"], call["name"], json.loads(call["arguments"])) == ("call_1", "ls", arguments)
    assert messages[3]["tool_call_id"] == "call_1"
    # What the system says belongs to the step after it, and a result to its call.
    assert [len(step) for step in steps(messages)] == [2, 2, 1]


def test_a_chat_as_text_is_read_with_its_roles(tmp_path):
    chat = session(tmp_path, "chat.txt", "**User:** Hi\nthere\nAssistant: Hello.\nUser: Bye\nAI: Bye.\n")
    assert [(m["role"], m["content"]) for m in chat.messages] == [
        ("user", "Hi\nthere"), ("assistant", "Hello."), ("user", "Bye"), ("assistant", "Bye."),
    ]  # fmt: skip


def test_what_no_model_is_shown_again_is_left_out_and_counted(tmp_path):
    more = [
        {"role": "user", "content": [{"type": "image", "source": {}}, {"type": "text", "text": "とは?"}]},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm"}, USE | {"id": "u"}]},
        {"role": "user", "content": [RESULT | {"tool_use_id": "nobody"}]},
    ]
    read = session(tmp_path, "a.json", [*ANTHROPIC, *more])
    assert {*read.notes} == {
        "1 images and files left out", "1 thoughts left out", "1 tool calls without a result",
        "1 results without a call left out",
    }  # fmt: skip
    assert [m["content"] for m in read.messages[-3:]] == ["[image]\n\nとは?", "", "[no result]"]


REFUSED = {
    "one.json, message 1: no role that is known": [{"text": "x"}],
    "one.jsonl, line 2: not JSON": '{"role": "user", "content": "x"}\n{"role"',
    "2 messages, and a session needs 4 or more": [OPENAI[1], OPENAI[4]],
    "one.json: no messages": {"text": "x"},
    "message 1: a message of 2,000,000 characters": [{"role": "user", "content": "x" * 2_000_000}],
    "message 1: a part of a message that is neither": [{"role": "user", "content": [{"type": "odd"}]}],
    "one.txt, line 1: a chat as text has": "Hello\nUser: Hi",
}


@pytest.mark.parametrize(("said", "content"), REFUSED.items(), ids=REFUSED)
def test_what_is_no_session_is_refused_with_its_line_and_reason(said, content, tmp_path):
    ending = next((end for end in (".jsonl", ".txt") if f"one{end}" in said), ".json")
    (tmp_path / f"one{ending}").write_text(content if isinstance(content, str) else json.dumps(content))
    assert said in refused(read_session, tmp_path / f"one{ending}")


SECRETS = {
    "OPENAI_API_KEY=sk-proj-abcdEFGH01234567": "token",
    "url postgres://me:hunter2secret@db/x": "password",
    "password: hunter2-correct-horse": "key",
    "Authorization: Bearer abcdefghij0123456789": "key",
    "write to ada.quill@example.org": "address of mail",
    "-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----": "private key",
    "AKIAIOSFODNN7EXAMPLE and": "token",
}


@pytest.mark.parametrize(("text", "kind"), SECRETS.items())
def test_secrets_are_masked_and_counted(text, kind):
    shown, numbers = masked(text)
    assert numbers[kind] == 1 and f"[masked {kind}]" in shown
    for secret in ("abcdEFGH01234567", "hunter2", "abcdefghij0123456789", "ada.quill", "MIIE", "AKIAIOSFODNN7EXAMPLE"):
        assert secret not in shown


def test_words_of_prose_and_code_are_no_secrets():
    text = "The token of a model, password: none, key = value; a @decorator, git@ and x = tokens[0]"
    assert masked(text) == (text, {})


@pytest.mark.parametrize("name", ["claude_code.jsonl", "codex.jsonl", "openai.json"])
def test_the_sessions_of_the_examples_are_read(name):
    read = read_session(ROOT / "examples" / "sessions" / name)
    assert len(read.messages) > 20
