"""Snakemake's scheduler is woken once a second at most, however many jobs have ended."""

import threading
from collections.abc import Callable
from types import SimpleNamespace

from snakemake.scheduling.job_scheduler import JobScheduler

from litm.workflow import housekeeping
from litm.workflow.housekeeping import METHOD, wake_once_at_a_time


def test_one_wake_is_pending_at_most_and_the_next_can_be_asked_for_by_a_wake(monkeypatch):
    timers: list[tuple[float, Callable[[], None]]] = []

    def timer(delay: float, call: Callable[[], None]) -> SimpleNamespace:
        return SimpleNamespace(start=lambda: timers.append((delay, call)))

    monkeypatch.setattr(housekeeping, "threading", SimpleNamespace(Timer=timer, Lock=threading.Lock))
    wakes: list[None] = []
    scheduler = SimpleNamespace(_open_jobs=SimpleNamespace(), _schedule_reevalutation=None)

    def wake() -> None:
        wakes.append(None)
        scheduler._schedule_reevalutation(2)

    scheduler._open_jobs.release = wake
    wake_once_at_a_time(scheduler)
    for _ in range(20):
        scheduler._schedule_reevalutation(1)
    assert [delay for delay, _ in timers] == [1] and not wakes
    timers.pop()[1]()
    assert [delay for delay, _ in timers] == [2] and len(wakes) == 1


def test_snakemake_has_the_method_and_another_version_without_it_is_left_as_it_is():
    assert callable(getattr(JobScheduler, METHOD))
    scheduler = SimpleNamespace()
    wake_once_at_a_time(scheduler)
    assert vars(scheduler) == {}
