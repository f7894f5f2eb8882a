"""The pages of the documentation: their links, there and on the site, and the navigation of the site."""

import re
import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from conftest import ROOT

assemble = SimpleNamespace(**runpy.run_path(str(ROOT / "docs" / "site" / "assemble.py")))

CONFIG = yaml.safe_load((ROOT / "properdocs.yml").read_text())
#: All pages, where a reader of the repository finds them.
EVERYWHERE = [
    path
    for pattern in ("*.md", "docs/*.md", "config/*.md", "results/README.md", "resources/**/*.md", "benchmarks/*.md")
    for path in sorted(ROOT.glob(pattern))
]
#: A workflow's runs on the Git host, and its badge.
RUNS = re.compile(r"\.\./\.\./actions/workflows/([^/]+)(/badge\.svg)?")
PAGES = [name for name in assemble.sources() if name.endswith(".md")]


def named_pages(nav: list) -> list[str]:
    """The pages of a navigation, as often as it names them."""
    values = [value for entry in nav for value in entry.values()]
    return [page for value in values for page in (named_pages(value) if isinstance(value, list) else [value])]


def test_the_navigation_is_by_need_and_names_each_page_once():
    sections = [name for entry in CONFIG["nav"] for name in entry]
    assert sections == ["Home", "Tutorial", "How to", "Reference", "Explanation"]
    assert sorted(named_pages(CONFIG["nav"])) == sorted(PAGES)


@pytest.mark.parametrize("page", PAGES)
def test_each_link_of_a_page_leads_to_a_file_of_the_site(page):
    text = re.sub(r"(?s)```.*?```", "", assemble.page(page))
    links = [link[2] for link in assemble.LINK.finditer(text)]
    files = assemble.sources()
    assert [link for link in links if link not in files and not link.startswith(("http", "mailto:"))] == []


def test_a_link_to_another_file_leads_into_the_repository_or_becomes_text():
    page = assemble.page("laptop_study.md", "https://example.org/r/")
    assert "[config/laptop.yaml](https://example.org/r/blob/HEAD/config/laptop.yaml)" in page
    without_repository = assemble.page("laptop_study.md")
    assert " config/laptop.yaml " in without_repository and "[config/laptop.yaml]" not in without_repository


@pytest.mark.parametrize("page", PAGES)
def test_code_is_left_as_it_is_and_indented_by_four_spaces_within_lists(page):
    """GitHub takes fewer spaces, Python's Markdown does not."""
    text = assemble.sources()[page].read_text()
    code = [re.findall(r"(?ms)^( *)```(.*?)^\1```", one) for one in (text, assemble.page(page))]
    assert code[0] == code[1] and not re.search(r"(?m)^ {1,3}```", text)


def test_all_pictures_of_the_documentation_are_shown_by_a_page():
    pages = "".join(map(assemble.page, PAGES))
    assert [name for name in assemble.sources() if name.endswith(".png") and f"({name})" not in pages] == []


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"(?m)^#+ (.+)$", page.read_text())
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", EVERYWHERE, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_of_a_page_leads_to_a_file_and_a_heading_that_are_there(page):
    for link in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"(?s)```.*?```", "", page.read_text())):
        name, _, anchor = link.partition("#")
        target = (page.parent / name) if name else page
        if runs := RUNS.fullmatch(link):
            assert (ROOT / ".github" / "workflows" / runs[1]).exists(), link
        elif not link.startswith(("http://", "https://", "mailto:")):
            assert target.exists(), link
            assert not anchor or target.suffix != ".md" or anchor in anchors(target), link


def test_the_readme_names_every_page_of_the_documentation():
    readme = (ROOT / "README.md").read_text()
    assert [page.name for page in ROOT.glob("docs/*.md") if f"(docs/{page.name})" not in readme] == []
