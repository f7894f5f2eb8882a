"""Snakemake's scheduler is woken once a second at most, however many jobs have ended."""

import threading
import time
from types import SimpleNamespace

from snakemake.scheduling.job_scheduler import JobScheduler

from litm.workflow.scheduler_wakes import METHOD, wake_once_at_a_time


def test_one_wake_is_pending_at_most_and_the_next_can_be_asked_for_by_a_wake():
    wakes: list[float] = []
    scheduler = SimpleNamespace(
        _open_jobs=SimpleNamespace(release=lambda: None), _schedule_reevalutation=lambda delay: wakes.append(delay)
    )
    done = threading.Event()

    def wake() -> None:
        wakes.append(time.monotonic())
        if len(wakes) < 3:
            scheduler._schedule_reevalutation(0.01)
        else:
            done.set()

    scheduler._open_jobs.release = wake
    wake_once_at_a_time(scheduler)
    for _ in range(20):
        scheduler._schedule_reevalutation(0.05)
    assert done.wait(20)
    time.sleep(0.1)
    assert len(wakes) == 3


def test_snakemake_has_the_method_and_another_version_without_it_is_left_as_it_is():
    assert callable(getattr(JobScheduler, METHOD))
    scheduler = SimpleNamespace()
    wake_once_at_a_time(scheduler)
    assert vars(scheduler) == {}
