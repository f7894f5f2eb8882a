"""Memory that this machine has left."""

from pathlib import Path

#: Folder with the memory limit and use of a Linux control group, such as a container or SLURM job.
CGROUP = Path("/sys/fs/cgroup")


def free_memory() -> int:
    """Bytes of free memory, within the limit of the control group."""
    import psutil

    free = psutil.virtual_memory().available
    try:
        limit, used = ((CGROUP / name).read_text().strip() for name in ("memory.max", "memory.current"))
        return free if limit == "max" else min(free, int(limit) - int(used))
    except (OSError, ValueError):
        return free
