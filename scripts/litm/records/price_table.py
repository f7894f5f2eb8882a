"""Prices of providers' models by the table in the package genai-prices, which needs no network.

The package is optional: without it no price is known.
"""

from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

#: The package with the table.
PACKAGE = "genai-prices"
#: Our names of prices per million tokens, and the table's.
NAMES = {
    "input": "input_mtok", "output": "output_mtok", "cache_write": "cache_write_mtok", "cache_read": "cache_read_mtok"
}  # fmt: skip
#: Prices for other things than tokens of texts: a model with one of these has no known price of a prompt.
OTHERS = {"requests_kcount", "output_reasoning_mtok", "output_citation_mtok"}
#: UTC hour of the day whose prices count: those for the working day, where a provider has others at night.
HOUR = 12


@cache
def looked_up(model: str, url: str) -> dict[str, Any] | None:
    """The prices of a model at a server's address, as in `prices` of a model's entry; None if they are not known.

    With `table`, the name and version of the table; and `above`, if long prompts cost more: the prices of a prompt of
    more than so many tokens (a text, as in JSON), which are those of all its tokens.
    """
    priced = _priced(model, url)
    if priced is None:
        return None
    plain, batch = priced
    starts = sorted({tier.start for price in plain.values() for tier in getattr(price, "tiers", ())})
    above = {str(start): _at(plain, start + 1) for start in starts}
    factor = _at(batch, 0)["input"] / (_at(plain, 0)["input"] or 1)
    return {
        **_at(plain, 0),
        **({"batch": round(factor, 6)} if 0 < factor < 1 else {}),
        **({"above": above} if above else {}),
        "table": f"{PACKAGE} {version(PACKAGE)}",
    }


def _priced(model: str, url: str) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """The table's prices of single requests and of those in batches, by our names; None if they are not known."""
    if find_spec("genai_prices") is None:
        return None
    from genai_prices.data_snapshot import get_snapshot

    try:
        _, entry = get_snapshot().find_provider_model(model, None, None, url)
    except LookupError:
        return None
    noon = datetime.now(UTC).replace(hour=HOUR, minute=0)
    ways = (entry.get_prices(noon), entry.get_prices(noon, {"processing": "batch"}))
    plain, batch = ({name: getattr(way, key) for name, key in NAMES.items()} for way in ways)
    if plain["input"] is None or plain["output"] is None or OTHERS & vars(ways[0]).keys():
        return None
    return plain, batch


def _at(prices: dict[str, Any], tokens: int) -> dict[str, float]:
    """The known prices of a prompt with this number of tokens, in US dollars per million."""
    return {name: _of_tokens(price, tokens) for name, price in prices.items() if price is not None}


def _of_tokens(price: Any, tokens: int) -> float:
    """A price, which may have tiers: that of the highest tier that starts below this number of tokens."""
    tiers = [tier.price for tier in getattr(price, "tiers", ()) if tokens > tier.start]
    return float(tiers[-1] if tiers else getattr(price, "base", price))
