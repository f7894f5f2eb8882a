"""Links in the documentation point to existing files and headings."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(
    path
    for pattern in ("*.md", "docs/*.md", "config/*.md", "results/README.md", "resources/**/*.md", "benchmarks/*.md")
    for path in ROOT.glob(pattern)
)
LINK = re.compile(r"\]\(([^)\s]+)\)")
#: A workflow's runs on the Git host, and its badge.
RUNS = re.compile(r"\.\./\.\./actions/workflows/([^/]+)(/badge\.svg)?")


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"(?m)^#+ (.+)$", page.read_text())
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_of_a_page_leads_to_a_file_and_a_heading_that_are_there(page):
    text = re.sub(r"(?s)```.*?```", "", page.read_text())
    links = [link for link in LINK.findall(text) if not link.startswith(("http://", "https://", "mailto:"))]
    for link in links:
        if runs := RUNS.fullmatch(link):
            assert (ROOT / ".github" / "workflows" / runs[1]).exists(), link
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name) if name else page
        assert target.exists(), link
        assert not anchor or target.suffix != ".md" or anchor in anchors(target), link


def test_the_readme_names_every_page_of_the_documentation():
    readme = (ROOT / "README.md").read_text()
    assert [page.name for page in ROOT.glob("docs/*.md") if f"(docs/{page.name})" not in readme] == []
