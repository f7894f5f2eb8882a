"""What people bring: metric."""

from outcomes import Case

CASES: list[Case] = []
