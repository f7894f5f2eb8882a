"""The library of the installed workflow, beside this folder: `import litm` is the one that its programs use."""

from pathlib import Path

_LIBRARY = Path(__file__).resolve().parents[1] / "lost_in_the_middle" / "scripts" / "litm"
__path__ = [str(_LIBRARY)]
__file__ = str(_LIBRARY / "__init__.py")
exec(compile(Path(__file__).read_text(encoding="utf-8"), __file__, "exec"))
