"""`python -m crawler.launch.alive`: whether the worker or clock of this container is alive, as an exit code.

Standard library only: a container is asked again and again.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

FILE = "CRAWLER_ALIVE_FILE"  # as in crawler/queueing/alive.py, which needs more imports
MAX_AGE_S = 60.0  # it is touched every 5 s, but not while a worker loads or a check of the clock takes long


def main() -> int:
    """0 if the file is young enough, else 1 and the reason on stderr."""
    path = os.environ.get(FILE)
    if not path:
        print(f"{FILE} is not set: it names the file that a worker or the clock touches.", file=sys.stderr)
        return 1
    try:
        age = time.time() - Path(path).stat().st_mtime
    except OSError as error:
        print(f"{path}: {error.strerror}", file=sys.stderr)
        return 1
    if age > MAX_AGE_S:
        print(f"{path} was touched {age:.0f} s ago, more than {MAX_AGE_S:g} s", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
