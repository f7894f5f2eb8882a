"""Identities of answers: those that mean the same share answers, and a reason to ask again is said in words."""

from itertools import product

import pytest
from engine_settings import engine_settings

from litm.base.store import canonical_json, digest
from litm.engines.modules import anthropic, openai
from litm.inference.answer_identity import (
    NEW_PROMPTS,
    equal_form,
    identity_changes,
    reason_in_words,
    reason_to_ask,
    sweep_identity,
)
from litm.models.identity import api_identity

LOCAL = "http://localhost:8000/v1"


def served(base_url: str | None = LOCAL, engine="openai", revision=None, max_new_tokens=50, **model) -> dict:
    settings = {"engine": engine, "endpoint": "chat", "prompt_template": "chat", "request": {}, **model}
    decoding = {"max_new_tokens": max_new_tokens, "stop": "first_line"}
    return sweep_identity(api_identity("m", base_url, revision), settings, None, decoding)


WEIGHTS = "model.safetensors"


def stored(dtype="float32", files=(), template=None, **model) -> dict:
    settings = {"engine": "transformers", "dtype": dtype, "attention": "sdpa", "prompt_template": "raw", **model}
    source = {"files": {"config.json": "c" * 64, WEIGHTS: "d" * 64, **dict(files)}}
    return sweep_identity(source, settings, template, {"max_new_tokens": 50, "stop": "end_token"})


OPENAI, ANTHROPIC = "https://api.openai.com/v1", "https://api.anthropic.com"
NEW_LIMIT = {"max_completion_tokens": 50}
SAME = {
    "a final slash": (served(LOCAL), served(LOCAL + "/")),
    "another name of this machine": (served(LOCAL), served("http://127.0.0.1:8000/v1")),
    "the port of the protocol": (served("https://a.org/v1"), served("https://a.org:443/v1")),
    "the provider's address": (served(None, request={"max_tokens": None}), served(OPENAI, request=NEW_LIMIT)),
    "the provider's address and the limit that goes there": (served(None), served(OPENAI, request=NEW_LIMIT)),
    "the provider's address, anthropic": (served(None, "anthropic"), served(ANTHROPIC + "/", "anthropic")),
    "0 and 0.0": (served(request={"top_p": 1}), served(request={"top_p": 1.0})),
    "null of what is not there": (served(), served(request={"seed": None})),
    "raw where the server makes chats": (served(), served(prompt_template="raw")),
}
OTHER = {
    "another port": (served(LOCAL), served("http://localhost:8001/v1")),
    "an address of this machine where another server may be": (served(LOCAL), served("http://[::1]:8000/v1")),
    "the provider's address, to which the older limit goes": (served(None), served(OPENAI)),
    "another query": (served(LOCAL), served(LOCAL + "?api-version=2")),
    "another path": (served(LOCAL), served("http://localhost:8000")),
    "another protocol": (served(LOCAL), served("https://localhost:8000/v1")),
    "an address and a revision": (served(), served(revision="a")),
    "true and 1": (served(request={"logprobs": 1}), served(request={"logprobs": True})),
    "raw where a text is sent": tuple(served(endpoint="completions", prompt_template=one) for one in ("raw", "chat")),
    "raw and chat here": (stored(), stored(prompt_template="chat")),
    "another number format": (stored("float16"), stored()),
    "one more file": (stored(), stored(files={"vocab.txt": "e" * 64})),
    "null for a field of the prompt": (served(None, "anthropic"), served(None, "anthropic", request={"system": None})),
}


@pytest.mark.parametrize("what", [*SAME, *OTHER])
def test_what_means_the_same_has_the_same_form_and_nothing_else(what):
    one, other = (SAME | OTHER)[what]
    assert digest(one) != digest(other) and (digest(equal_form(one)) == digest(equal_form(other))) == (what in SAME)


def sent(identity: dict, base_url: str | None) -> str:
    """Where a request goes, and its fields, from the engine's own code."""
    limit, asked = identity["decoding"]["max_new_tokens"], identity["model"]
    keys = {key: asked[key] for key in ("endpoint", "request")}
    settings = engine_settings(asked["engine"], "m", base_url=base_url, max_new_tokens=limit, **keys)
    if asked["engine"] == "anthropic":
        fields = anthropic.request_fields(
            settings, [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}]
        )
        return canonical_json([base_url or ANTHROPIC, fields])
    return canonical_json([base_url or OPENAI, settings.keys.endpoint, openai.request_fields(settings)])


#: What a limit may be in a request to a model with `max_new_tokens: 50`, "" for not at all.
LIMITS = ("", None, 50, 200)
REQUESTS = [
    {name: value for name, value in zip(("max_tokens", "max_completion_tokens", "temperature"), values, strict=True)
     if value != ""}
    for values in product(LIMITS, LIMITS, ("", None, 0, 1))
]  # fmt: skip


@pytest.mark.parametrize(
    ("engine", "addresses", "endpoints", "revision"),
    [
        ("openai", [None, OPENAI, LOCAL], ["chat", "completions"], None),
        ("anthropic", [None, ANTHROPIC, LOCAL], ["chat"], None),
        # With a revision, to any address.
        ("openai", [None], ["chat", "completions"], "a"),
    ],
)
def test_identities_have_the_same_form_exactly_if_the_same_is_sent(engine, addresses, endpoints, revision):
    def pair(base_url, endpoint, request):
        identity = served(base_url, engine, revision, endpoint=endpoint, request=request)
        bodies = [sent(identity, address) for address in ((None, LOCAL) if revision else (base_url,))]
        return canonical_json(equal_form(identity)), tuple(bodies)

    pairs = {pair(*one) for one in product(addresses, endpoints, REQUESTS)}
    assert len({form for form, _ in pairs}) == len({bodies for _, bodies in pairs}) == len(pairs) > 20


OF_HUB, IN_FOLDER = ({**stored(), "source": one} for one in ({"hub": "a/b", "commit": "f"}, {"files": {"a.b": "c"}}))
MOVED = {"source.commit": ["f", None], "source.files.a.b": [None, "c"], "source.hub": ["a/b", None]}


@pytest.mark.parametrize(
    ("old", "new", "changes"),
    [
        (stored(), stored(), {}),
        (stored(), stored("bfloat16"), {"model.dtype": ["float32", "bfloat16"]}),
        (stored(), stored(quantization="nf4"), {"model.quantization": [None, "nf4"]}),
        (stored(), stored(files={WEIGHTS: "2" * 64}), {f"source.files.{WEIGHTS}": ["d" * 64, "2" * 64]}),
        (stored(top=0), stored(top=0.0), {"model.top": [0, 0.0]}),
        (stored(top=1), stored(top=True), {"model.top": [1, True]}),
        (OF_HUB, IN_FOLDER, MOVED),
    ],
)
def test_only_innermost_fields_that_differ_are_changes_sorted_by_their_paths(old, new, changes):
    assert list(identity_changes(old, new).items()) == list(changes.items())


FAR, NEAR, AS_NEAR = stored("float16", template="x"), stored("bfloat16"), stored("float16")


@pytest.mark.parametrize(
    ("known", "reason"),
    [
        ([FAR, NEAR], {"model.dtype": ["bfloat16", "float32"]}),
        ([NEAR, FAR], {"model.dtype": ["bfloat16", "float32"]}),
        ([NEAR, AS_NEAR], {"model.dtype": ["float16", "float32"]}),
        ([FAR, stored()], NEW_PROMPTS),
        ([], None),
    ],
)
def test_the_nearest_identity_counts_of_several_the_last_and_new_prompts_and_identities_are_told_apart(known, reason):
    assert reason_to_ask(dict(enumerate(known)), stored()) == reason


def test_the_reason_is_one_short_line():
    assert reason_in_words(NEW_PROMPTS) == "there were no answers to these prompts"
    changes = {"model.quantization": [None, "nf4"], "template": ["a\n\n{prompt}" + "b" * 99, None], "w": ["1" * 64, 2]}
    assert reason_in_words(changes) == (
        "model.quantization was not there and is nf4; template was a {prompt}bbbbbb... and is not there; "
        "w was 1111111111111111... and is 2"
    )
    far = {"source.base_url": ["http://localhost:8000/v1", "http://localhost:8000/v2/chat"]}
    assert reason_in_words(far) == "source.base_url was ...00/v1 and is ...00/v2/chat"
    long = {"template": ["x" * 30 + "old" + "y" * 30, "x" * 30 + "new" + "y" * 30]}
    assert reason_in_words(long) == "template was ...xxxxoldyyyyyyyyy... and is ...xxxxnewyyyyyyyyy..."
    assert reason_in_words({"model.request.seed": ["1", 1]}) == 'model.request.seed was "1" and is 1'
    many = {f"f{number}": [number, 9] for number in range(6)}
    assert reason_in_words(many).endswith("; f3 was 3 and is 9; 2 more differ")
