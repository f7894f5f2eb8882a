"""Random mutations of values and files, equal for equal seeds."""

import copy
import math
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

T = TypeVar("T")
R = TypeVar("R")
Path = tuple[Any, ...]

#: Values that an unchecked program may take for others.
ODD_VALUES = [
    *(None, True, False, 0, -1, 1, 2**63, 10**400, 0.5, -0.0, 1e308, math.nan, math.inf),
    *("", " ", "\n", "\0", "\ud83d", "\u202e", "a" * 5000, "0", "true", "null", "nan", "1e3", "2026-01-02"),
    *("../../etc/passwd", "/dev/null", "~", "{x}", "{prompt}", "$(touch PWNED)", "`touch PWNED`", "<script>", "a b"),
    *("<|endoftext|>", "a,b", "a:b", "-", "--help", "all", "."),
    *([], {}, [[]], [None], {"a": 1}, {"": ""}, ["a", "a"], [0, 0], {"0": [0]}),
]
VALUES = st.one_of(
    st.sampled_from(ODD_VALUES),
    st.integers(),
    st.floats(),
    st.text(max_size=30),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
        max_leaves=5,
    ),
)
#: Bytes that are inserted into a file unchanged.
ODD_BYTES = [
    *(b"\0", b"\xff", b"\xef\xbb\xbf", b"\r", b"\n", b'"', b"'", b"{", b"}", b"[", b"]", b":", b",", b"\\", b"\t"),
    b"&a ",
    *(b"*a", b"!!set ", b"!!python/name:os.system ", b"[" * 100_000, b"9" * 5000, b"\\ud83d", b"NaN", b"1e999", b"# "),
    *(b"<", b"&", b"]]>", b"<!-- ", b"&lol;", b"? ", b"---\n", b"%YAML 9.9\n", b"\xe2\x80\xa8", b"a: 1\n", b"\x85"),
]


def paths(value: Any, above: Path = ()) -> Iterator[Path]:
    """The places of all values inside a value, outermost first."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in inside:
        yield (*above, key)
        yield from paths(inner, (*above, key))


@st.composite
def changed_values(draw: Callable[..., Any], base: Any) -> Any:
    """The value with one to three places replaced, removed, renamed or doubled."""
    value = copy.deepcopy(base)
    for _ in range(draw(st.integers(1, 3))):
        places = list(paths(value))
        if not places:
            break
        *above, key = draw(st.sampled_from(places))
        holder = value
        for step in above:
            holder = holder[step]
        match draw(st.sampled_from(["replace", "replace", "remove", "rename", "wrap", "double"])):
            case "replace":
                # A copy: the next change may be inside it.
                holder[key] = copy.deepcopy(draw(VALUES))
            case "remove":
                del holder[key]
            case "rename" if isinstance(holder, dict):
                name = draw(st.text(max_size=8) | st.sampled_from(sorted(map(str, holder))))
                holder[name] = holder.pop(key)
            case "double" if isinstance(holder, list):
                holder.append(copy.deepcopy(holder[key]))
            case _:
                holder[key] = [holder[key]]
    return value


@st.composite
def changed_bytes(draw: Callable[..., Any], base: bytes) -> bytes:
    """The bytes with one to three places cut, overwritten or added to."""
    data = base
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(data)))
        length = draw(st.integers(0, 20))
        match draw(st.sampled_from(["insert", "insert", "remove", "overwrite", "cut", "repeat"])):
            case "insert":
                data = data[:start] + draw(st.sampled_from(ODD_BYTES)) + data[start:]
            case "remove":
                data = data[:start] + data[start + length :]
            case "overwrite":
                data = data[:start] + draw(st.binary(max_size=8)) + data[start + length :]
            case "cut":
                data = data[:start]
            case "repeat":
                data = data[:start] + data[start : start + 200] + data[start:]
    return data


def results(strategy: st.SearchStrategy[T], number: int, count: int, check: Callable[[T], R]) -> list[R]:
    """What a check says of `count` examples, drawn with the seed `number`."""
    found: list[R] = []

    @seed(number)
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def collect(value: T) -> None:
        found.append(check(value))

    collect()
    return found
