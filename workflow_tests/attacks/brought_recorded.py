"""What people bring: recorded."""

from outcomes import Case

CASES: list[Case] = []
