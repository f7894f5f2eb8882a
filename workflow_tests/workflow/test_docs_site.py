"""The site of the documentation: its pages, their links, and its navigation. The generator itself is not needed."""

import importlib.util
import re

import pytest
import yaml
from conftest import ROOT

specification = importlib.util.spec_from_file_location("assemble", ROOT / "docs" / "site" / "assemble.py")
assert specification and specification.loader
assemble = importlib.util.module_from_spec(specification)
specification.loader.exec_module(assemble)

CONFIG = yaml.safe_load((ROOT / "properdocs.yml").read_text())
PAGES = [name for name in assemble.sources() if name.endswith(".md")]


def named_pages(nav: list) -> list[str]:
    """The pages of a navigation, as often as it names them."""
    values = [value for entry in nav for value in entry.values()]
    return [page for value in values for page in (named_pages(value) if isinstance(value, list) else [value])]


def test_the_navigation_names_each_page_once():
    assert sorted(named_pages(CONFIG["nav"])) == sorted(PAGES)


def test_the_navigation_is_by_need():
    sections = [name for entry in CONFIG["nav"] for name in entry]
    assert sections == ["Home", "Tutorial", "How to", "Reference", "Explanation"]


@pytest.mark.parametrize("page", PAGES)
def test_each_link_of_a_page_leads_to_a_file_of_the_site(page):
    text = re.sub(r"(?s)```.*?```", "", assemble.page(page))
    links = [link[2] for link in assemble.LINK.finditer(text)]
    files = assemble.sources()
    assert [link for link in links if link not in files and not link.startswith(("http", "mailto:"))] == []


def test_a_link_to_another_file_leads_into_the_repository_or_becomes_text():
    assert "[config/laptop.yaml](https://example.org/r/blob/HEAD/config/laptop.yaml)" in assemble.page(
        "laptop_study.md", "https://example.org/r/"
    )
    without_repository = assemble.page("laptop_study.md")
    assert " config/laptop.yaml " in without_repository and "[config/laptop.yaml]" not in without_repository


def test_code_is_left_as_it_is():
    for page, source in assemble.sources().items():
        if page.endswith(".md"):
            code = re.findall(r"(?ms)^( *)```(.*?)^\1```", source.read_text())
            assert re.findall(r"(?ms)^( *)```(.*?)^\1```", assemble.page(page)) == code


@pytest.mark.parametrize("page", PAGES)
def test_what_is_within_a_list_is_indented_by_four_spaces(page):
    """GitHub takes fewer, Python's Markdown does not."""
    assert not re.search(r"(?m)^ {1,3}```", assemble.sources()[page].read_text())


def test_all_pictures_of_the_documentation_are_shown_by_a_page():
    pages = "".join(map(assemble.page, PAGES))
    assert [name for name in assemble.sources() if name.endswith(".png") and f"({name})" not in pages] == []
