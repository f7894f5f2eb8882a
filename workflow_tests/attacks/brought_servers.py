"""What people bring: servers."""

from outcomes import Case

CASES: list[Case] = []
