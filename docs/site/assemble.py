"""Put the pages of the documentation's site into one folder: those of docs/, and those of ELSEWHERE.

Pages link to files by their paths in the repository. A link to a page of the site leads there; one to another file
leads into the repository if its address is given, and is plain text otherwise; one to runs on the Git host is then left
out. A link to a file that does not exist stays as it is, so that the generator ends with an error.
"""

import argparse
import os.path
import re
import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
#: Files elsewhere in the repository, by their names on the site.
ELSEWHERE = {
    "index.md": "README.md",
    "config.md": "config/README.md",
    "results.md": "results/README.md",
    "reference_model.md": "resources/reference_model/README.md",
    "reference_model_evaluation.md": "resources/reference_model/evaluation.md",
    "benchmarks.md": "benchmarks/README.md",
    "benchmark_results.md": "benchmarks/results.md",
    "contributing.md": "CONTRIBUTING.md",
    "others_studies.html": "docs/site/others_studies.html",
    "site.css": "docs/site/site.css",
    "site.js": "docs/site/site.js",
}
#: A link or an image: its text in brackets, its target, and the anchor.
LINK = re.compile(r"(!?\[(?:[^\[\]]|\[[^\]]*\])*\])\(([^)\s#]+)(#[^)\s]*)?\)")
#: Beginning of links to runs on the Git host, which shows a page at OWNER/REPOSITORY/blob/BRANCH.
RUNS = "../../actions/"
FENCED = re.compile(r"(?ms)^( *)```.*?^\1```\s*?$")


def sources() -> dict[str, Path]:
    """The files of the site by their names there, in the order of the names."""
    in_docs = {path.name: path for path in (ROOT / "docs").iterdir() if path.is_file()}
    return dict(sorted({**in_docs, **{name: ROOT / path for name, path in ELSEWHERE.items()}}.items()))


def page(name: str, repository: str = "") -> str:
    """The text of a page with the links of the site. Code blocks are left as they are."""
    source = sources()[name]
    text = source.read_text(encoding="utf-8")
    parts, at = [], 0
    for block in FENCED.finditer(text):
        parts += [_with_site_links(text[at : block.start()], source.parent, repository), block[0]]
        at = block.end()
    return "".join([*parts, _with_site_links(text[at:], source.parent, repository)])


def _with_site_links(text: str, folder: Path, repository: str) -> str:
    names = {path: name for name, path in sources().items()}

    def changed(link: re.Match) -> str:
        words, target, anchor = link[1], link[2], link[3] or ""
        if target.startswith(RUNS):
            return link[0].replace(RUNS, f"{repository.rstrip('/')}/actions/") if repository else ""
        path = Path(os.path.normpath(folder / target))
        if target.startswith(("http:", "https:", "mailto:")) or not path.exists():
            return link[0]
        name = names.get(path) or names.get(path / "README.md")
        if name:
            return f"{words}({name}{anchor})"
        inside = path.relative_to(ROOT).as_posix()
        return f"{words}({repository.rstrip('/')}/blob/HEAD/{inside}{anchor})" if repository else words[1:-1]

    return LINK.sub(changed, text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where the pages are written; what it has is deleted")
    parser.add_argument(
        "--repository", default="", help="the address of the repository, such as https://github.com/..."
    )
    args = parser.parse_args()
    shutil.rmtree(args.folder, ignore_errors=True)
    args.folder.mkdir(parents=True)
    for name, source in sources().items():
        if name.endswith(".md"):
            (args.folder / name).write_text(page(name, args.repository), encoding="utf-8")
        else:
            shutil.copyfile(source, args.folder / name)


if __name__ == "__main__":
    main()
