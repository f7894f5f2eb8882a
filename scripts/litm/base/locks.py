"""Locks on open files, which the system frees when the file is closed or the process ends, however it ends.

By `filelock.lock_descriptor`. `filelock.FileLock` falls back to a marker file where there are no locks, which a killed
process leaves behind.
"""

import errno
from pathlib import Path
from typing import IO

from filelock import lock_descriptor

from litm.base.messages import note

#: What systems answer on a disk that has no locks.
NO_LOCKS = (errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS)
SECONDS_BETWEEN_TRIES = 1.0


def lock(file: IO, wait: bool = False) -> bool:
    """Lock an open file against other processes; False if another one has it, unless this is to `wait` until not.

    Where the file system has no locks a message says so, and the file counts as locked.
    """
    try:
        return lock_descriptor(file.fileno(), blocking=wait, poll_interval=SECONDS_BETWEEN_TRIES)
    except OSError as error:
        if error.errno not in NO_LOCKS:
            raise
        note(f"{Path(file.name)}: this file system has no locks; make sure that no other run writes to it")
        return True
