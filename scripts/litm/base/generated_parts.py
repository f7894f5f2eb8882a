"""Generated parts of pages that people write: each between two lines, which are comments."""


def with_part(page: str, begin: str, end: str, text: str) -> str:
    """The page with the text between its lines `begin` and `end`; `ValueError` if it lacks one of them."""
    before, _, rest = page.partition(begin)
    _, found, after = rest.partition(end)
    if not found:
        raise ValueError(f"the page lacks the lines {begin} and {end}")
    return f"{before}{begin}\n\n{text}\n\n{end}{after}"
