"""Locks on open files, also where the file system has none."""

import errno

import pytest

from litm.base.store import lock


def test_of_two_open_files_of_one_name_only_the_first_is_locked_until_it_is_closed(tmp_path):
    with (tmp_path / "f").open("w") as first, (tmp_path / "f").open("w") as second:
        assert lock(first)
        assert not lock(second)
        first.close()
        assert lock(second, wait=True)


def test_a_file_system_without_locks_is_reported_and_the_file_counts_as_locked(tmp_path, monkeypatch, capsys):
    def refuse(*_args, **_options):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("filelock.lock_descriptor", refuse)
    with (tmp_path / "f").open("w") as file:
        assert lock(file)
    assert capsys.readouterr().err.startswith(f"{tmp_path / 'f'}: this file system has no locks; make sure")


def test_any_other_error_of_locking_is_not_hidden(tmp_path, monkeypatch):
    def fail(*_args, **_options):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr("filelock.lock_descriptor", fail)
    with (tmp_path / "f").open("w") as file, pytest.raises(OSError, match="Input/output error"):
        lock(file)
