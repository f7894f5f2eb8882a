"""The fork server: a forked program ends, prints and reads like a started one."""

import os
import subprocess

import pytest
from fork_server import forking_python

#: The server is part of tests that run Snakemake, and imports what their jobs need.
pytestmark = pytest.mark.study

PROGRAM = """
import os, pathlib, subprocess, sys
import neighbour
print(sys.argv[1:], os.getcwd(), os.environ["GREETING"], neighbour.NAME, sys.stdin.read())
print("warned", file=sys.stderr)
subprocess.run(["true"], check=True)
{end}
"""


@pytest.mark.parametrize(
    ("end", "status", "said"),
    [
        ("", 0, ""),
        ("sys.exit(3)", 3, ""),
        ("sys.exit('error: no')", 1, "error: no\n"),
        ("raise ValueError('odd')", 1, "ValueError: odd\n"),
        ("os.kill(os.getpid(), 9)", 70, ""),
    ],
)
def test_a_program_has_its_arguments_folder_environment_files_and_exit_status(tmp_path, end, status, said):
    (tmp_path / "programs").mkdir()
    (tmp_path / "programs" / "one.py").write_text(PROGRAM.format(end=end))
    (tmp_path / "programs" / "neighbour.py").write_text("NAME = 'neighbour'\n")
    done = subprocess.run(
        [forking_python(), "programs/one.py", "a b", "--c"], cwd=tmp_path, env={**os.environ, "GREETING": "hello"},
        input="typed", capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == status
    assert done.stderr.startswith("warned\n") and done.stderr.endswith(said)
    if status != 70:
        assert done.stdout == f"['a b', '--c'] {tmp_path} hello neighbour typed\n"


def test_what_is_no_program_in_a_file_is_python_itself():
    done = subprocess.run([forking_python(), "-c", "print(1 + 1)"], capture_output=True, text=True, check=True)
    assert done.stdout == "2\n"
