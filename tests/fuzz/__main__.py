"""`python -m tests.fuzz FOLDER COUNT`: spoils real dumps so many times, and says what came of it."""

from __future__ import annotations

import sys
import time
from collections import Counter
from pathlib import Path

from tests.fuzz.real import dumps, end


def main(folder: str, count: str) -> None:
    """Print a line per hundred, and every failure."""
    ends, start, found = Counter[str](), time.monotonic(), dumps(Path(folder))
    names = list(found)
    for number in range(int(count)):
        name = names[number % len(names)]
        try:
            ends[end(name, found[name], number)] += 1
        except Exception as error:  # every one is a finding, the next is tried all the same
            ends[type(error).__name__] += 1
            print(f"{type(error).__name__}: {str(error)[:300]} {error.__notes__}", flush=True)
        if number % 500 == 499:
            print(number + 1, dict(ends), f"{time.monotonic() - start:.0f} s", flush=True)
    print("done", dict(ends), f"{time.monotonic() - start:.0f} s", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
