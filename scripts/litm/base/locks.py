"""Locks on open files, which the system releases when the file is closed or the process ends in any way.

Made by `filelock.lock_descriptor`. `filelock.FileLock` falls back to a marker file where locks are missing, and a
killed process leaves that file.
"""

import errno
from pathlib import Path
from typing import IO

from litm.base.messages import note

#: Error numbers on file systems without locks.
NO_LOCKS = (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS)
SECONDS_BETWEEN_TRIES = 1.0


def lock(file: IO, wait: bool = False) -> bool:
    """Lock an open file against other processes; False if another one holds the lock, unless `wait`.

    On a file system without locks a message says this, and the file counts as locked.
    """
    # Imported here: the rules import this module, and Snakemake does not bring the package.
    from filelock import lock_descriptor

    try:
        return lock_descriptor(file.fileno(), blocking=wait, poll_interval=SECONDS_BETWEEN_TRIES)
    except OSError as error:
        if error.errno not in NO_LOCKS:
            raise
        note(f"{Path(file.name)}: this file system has no locks; make sure that no other run writes to it")
        return True
