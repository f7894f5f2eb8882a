"""Wakes of Snakemake's scheduler, one a second at most.

Because of its limit of jobs a second (`--max-jobs-per-timespan`), Snakemake 9.27 looks at the jobs that wait, and again
a second later. Each job that ends starts one more such chain, and none ends as long as a job waits: after 40 jobs the
looks take a tenth of a core while a model computes, and they grow with the study.
"""

import threading
from typing import Any

#: Snakemake's method, spelt as there: wakes the scheduler after a delay in seconds.
METHOD = "_schedule_reevalutation"
#: The semaphore that it releases.
WOKEN = "_open_jobs"


def wake_once_at_a_time(scheduler: Any) -> None:
    """Let a scheduler of Snakemake's have one wake pending at most; without effect if it lacks `METHOD` or `WOKEN`."""
    if hasattr(scheduler, METHOD) and hasattr(scheduler, WOKEN):
        setattr(scheduler, METHOD, OneWake(getattr(scheduler, WOKEN).release))


class OneWake:
    """Calls `wake` after a delay, unless a call is pending already."""

    def __init__(self, wake: Any) -> None:
        self._wake = wake
        self._pending = False
        self._lock = threading.Lock()

    def __call__(self, delay: float) -> None:
        """Call `wake` in `delay` seconds, in a thread."""
        with self._lock:
            if not self._pending:
                self._pending = True
                threading.Timer(delay, self._call).start()

    def _call(self) -> None:
        # Before the wake, which may ask for the next one.
        with self._lock:
            self._pending = False
        self._wake()
