"""What people bring: retrieved."""

from outcomes import Case

CASES: list[Case] = []
