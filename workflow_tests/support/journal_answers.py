"""Answers for journals of tests."""

from litm.inference.journal import Journal
from litm.records import Response

IDENTITY = {"model": "m", "dtype": "float32"}
ANSWERS = [(f"key{n}", Response(f"answer {n}\n", "stop", 10 + n, 3, "x 1.0, cpu")) for n in range(4)]


def write(path, batches):
    with Journal(path) as journal:
        for batch in batches:
            journal.append(IDENTITY, batch)
    return journal


def keys_in(path):
    with Journal(path) as journal:
        return {key for key, _ in ANSWERS if key in journal}
