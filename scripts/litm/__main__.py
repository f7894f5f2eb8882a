"""Commands on finished studies and kept answers.

python -m litm compare --help    does a model answer worse than another one, or than before? With an exit status
python -m litm studies --help    the models of several studies in one page, where their numbers are comparable
python -m litm answers --help    the kept answers: list them, add those of another place, delete some
"""

import sys
from importlib import import_module

from litm.base.cli import run

#: Commands: the modules that have their `main`.
COMMANDS = {"compare": "litm.compare", "studies": "litm.studies", "answers": "litm.checks.answers"}

if __name__ == "__main__":
    command = sys.argv[1] if len(sys.argv) > 1 else "--help"
    if command not in COMMANDS:
        print(__doc__, file=sys.stdout if command in ("-h", "--help") else sys.stderr)
        sys.exit(0 if command in ("-h", "--help") else 2)
    sys.argv[:2] = [f"python -m litm {command}"]
    run(import_module(COMMANDS[command]).main)
