"""Sessions with tools in the forms of providers and of chat templates."""

from litm.prompting.tool_messages import as_texts, for_anthropic, for_openai

CALL = {"id": "call_1", "name": "ls", "arguments": '{"path": "."}'}
MESSAGES = [
    {"role": "user", "content": "List."},
    {"role": "user", "content": "Now."},
    {"role": "assistant", "content": "", "tool_calls": [CALL]},
    {"role": "tool", "content": "x.md", "tool_call_id": "call_1"},
    {"role": "user", "content": "Thanks."},
]
PLAIN = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}, {"role": "user", "content": "c"}]


def test_conversations_without_tools_stay_as_they_are():
    assert for_openai(PLAIN) is PLAIN and as_texts(PLAIN) is PLAIN and for_anthropic(PLAIN) == (PLAIN, {})


def test_openai_gets_functions_and_results_with_their_ids():
    first, call, result, last = for_openai(MESSAGES)
    assert first == {"role": "user", "content": "List.\n\nNow."} and last == MESSAGES[-1] and result == MESSAGES[3]
    assert call["tool_calls"] == [
        {"id": "call_1", "type": "function", "function": {"name": "ls", "arguments": '{"path": "."}'}}
    ]


def test_anthropic_gets_blocks_in_turns_that_alternate_and_the_tools_declared():
    turns, more = for_anthropic(MESSAGES)
    assert [turn["role"] for turn in turns] == ["user", "assistant", "user"]
    assert turns[1]["content"] == [{"type": "tool_use", "id": "call_1", "name": "ls", "input": {"path": "."}}]
    assert [block["type"] for block in turns[2]["content"]] == ["tool_result", "text"]
    assert [tool["name"] for tool in more["tools"]] == ["ls"] and more["tool_choice"] == {"type": "none"}


def test_a_chat_template_gets_marked_texts_of_user_and_assistant():
    texts = as_texts(MESSAGES)
    assert [text["role"] for text in texts] == ["user", "assistant", "user"]
    assert texts[1]["content"] == '[calls ls: {"path": "."}]'
    assert texts[2]["content"] == "[result of ls]\nx.md\n\nThanks."
