"""Fork server: runs the programs of rules in forks of one process whose imports, slower than the programs, are done.

Started as a program, this is the process: `fork_server.py SOCKET`. It ends with its standard input.
"""

import atexit
import contextlib
import gc
import importlib
import json
import os
import runpy
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import traceback
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

#: Packages that programs import, with what these import when they are used. Not pyserini, which starts Java.
IMPORTS = (
    *("pandas", "pyarrow.parquet", "yaml", "jinja2", "tqdm", "matplotlib.pyplot", "seaborn"),
    *("matplotlib.backends.backend_agg", "matplotlib.patheffects"),
    *("torch", "transformers", "anthropic", "openai", "genai_prices", "tabulate", "tomllib", "pypdf"),
    *("pyarrow.dataset", "pyarrow.pandas_compat", "pandas.core.arrays.arrow.extension_types"),
    *("pandas.core.methods.to_dict", "pandas.io.formats.csvs"),
)
#: The variable with which jobs draw figures as they are, to compare their files.
WHOLE_FIGURES = "LITM_TEST_WHOLE_FIGURES"
#: Dots per inch of the other figures.
FEW_DOTS = 80
#: Transformers imports these when they are used.
LAZY = (
    *("AutoConfig", "AutoModelForCausalLM", "AutoTokenizer", "GenerationConfig", "LlamaForCausalLM"),
    "PreTrainedTokenizerFast",
)
#: Stands in for `python` in rules: sends the server its arguments, folder, environment and open files.
CLIENT = """#!{python} -IS
import json, os, socket, sys
if not (sys.argv[1:] and sys.argv[1].endswith(".py")):
    os.execv({python!r}, ["python", *sys.argv[1:]])
server = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
server.connect({socket!r})
request = json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ)]).encode()
socket.send_fds(server, [request], [0, 1, 2])
sys.exit(int(server.recv(9) or 70))
"""


@cache
def forking_python() -> Path:
    """The path of a `python` that runs programs in forks of a server, which starts now and ends with this process."""
    folder = Path(tempfile.mkdtemp(prefix="forks-"))
    listening, python = folder / "socket", folder / "python"
    server = subprocess.Popen([sys.executable, __file__, listening], stdin=subprocess.PIPE)
    atexit.register(server.kill)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    while not listening.exists():
        assert server.poll() is None, "the server of forks ended"
        time.sleep(0.05)
    python.write_text(CLIENT.format(python=sys.executable, socket=str(listening)))
    python.chmod(0o755)
    return python


def serve(path: str) -> None:
    """Import, listen, and run each requested program, until standard input ends."""
    for name in IMPORTS:
        importlib.import_module(name)
    for name in LAZY:
        getattr(sys.modules["transformers"], name)
    draw_little()
    # A collection in a fork would visit, and so copy, all that is imported.
    gc.freeze()
    # Forks report their ends to clients themselves, so nobody waits for them.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listening:
        listening.bind(path)
        listening.listen()
        while sys.stdin not in select.select([listening, sys.stdin], [], [])[0]:
            client, _ = listening.accept()
            if os.fork() == 0:
                answer(client)
            client.close()


def draw_little() -> None:
    """Let figures have few dots and, as PDF, an empty page, unless the variable `WHOLE_FIGURES` is set.

    This halves the time of a figure. figures/ tests the files of each kind, their size and their fonts.
    """
    from matplotlib.figure import Figure
    from pypdf import PdfWriter

    save, writer, page = Figure.savefig, PdfWriter(), BytesIO()
    writer.add_blank_page(72, 72)
    writer.write(page)

    def save_little(figure: Figure, file: BytesIO, **options: Any) -> None:
        if WHOLE_FIGURES in os.environ:
            save(figure, file, **options)
        elif options["format"] == "pdf":
            file.write(page.getvalue())
        else:
            save(figure, file, **options | {"dpi": FEW_DOTS})

    Figure.savefig = save_little  # type: ignore[assignment, method-assign]


def answer(client: socket.socket) -> None:
    """Run the requested program as if the client had started it, and end."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    request, files, *_ = socket.recv_fds(client, 2**20, 3)
    words, folder, environment = json.loads(request)
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    status = program_status(words)
    with contextlib.suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
        client.send(str(status).encode())
    os._exit(status)


def program_status(words: list[str]) -> int:
    """Run a program with its arguments; returns its exit status, by Python's rules."""
    sys.argv[:] = words
    sys.path[:1] = [str(Path(words[0]).resolve().parent), *os.environ["PYTHONPATH"].split(os.pathsep)]
    try:
        runpy.run_path(words[0], run_name="__main__")
    except SystemExit as end:
        return exit_status(end)
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def exit_status(end: SystemExit) -> int:
    """The exit status of a program that ends so; a text goes to standard error, as at the end of a process."""
    if isinstance(end.code, str):
        print(end.code, file=sys.stderr)
    return 1 if isinstance(end.code, str) else int(end.code or 0)


if __name__ == "__main__":
    serve(sys.argv[1])
