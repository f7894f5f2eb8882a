"""What people bring: documents."""

from outcomes import Case

CASES: list[Case] = []
