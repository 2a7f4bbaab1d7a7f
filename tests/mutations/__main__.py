"""`python -m tests.mutations [NAME...]`: applies each mutation to a copy of the project and runs its test there.

Exit code 0: all are caught; 1: one is not, or a test fails on the unchanged copy; 2: there is no such mutation.
"""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.mutations.catalogue import MUTATIONS, ROOT, Mutation

NOT_COPIED = shutil.ignore_patterns(".git", ".venv", ".data", ".bench", ".hypothesis", ".*_cache", "staticfiles")
PASSED, FAILED = 0, 1  # exit codes of pytest; others say that no test was run
TIMEOUT_S = 300.0  # of one run; a test that hangs with a mutation has noticed it


def main(names: Sequence[str]) -> int:
    unknown = set(names) - {mutation.name for mutation in MUTATIONS}
    if unknown:
        print(f"There is no mutation {', '.join(sorted(unknown))}.", file=sys.stderr)
        return 2
    chosen = [mutation for mutation in MUTATIONS if not names or mutation.name in names]
    with copied() as folder:
        code, seconds = tested(folder, {mutation.test for mutation in chosen})
    said = "passed" if code == PASSED else f"FAILED (exit code {code})"
    print(f"{'unchanged copy':36} {said:12} {seconds:5.1f} s", flush=True)
    if code != PASSED:
        return 1
    missed = [mutation.name for mutation in chosen if not is_caught(mutation)]
    print(f"{len(chosen) - len(missed)} of {len(chosen)} mutations are caught.")
    for name in missed:
        print(f"Not caught: {name}")
    return 1 if missed else 0


def is_caught(mutation: Mutation) -> bool:
    with copied() as folder:
        file = folder / mutation.file
        file.write_text(mutation.applied(file.read_text("utf-8")), "utf-8")
        code, seconds = tested(folder, [mutation.test])
    caught = code == FAILED
    said = "caught" if caught else "NOT CAUGHT" if code == PASSED else f"NOT RUN (exit code {code})"
    print(f"{mutation.name:36} {said:12} {seconds:5.1f} s  {mutation.test}", flush=True)
    return caught


@contextmanager
def copied() -> Iterator[Path]:
    """A copy of the project without what is not part of it."""
    with TemporaryDirectory(prefix="mutation-") as parent:
        yield Path(shutil.copytree(ROOT, Path(parent) / "project", ignore=NOT_COPIED))


def tested(folder: Path, tests: Iterable[str]) -> tuple[int, float]:
    """Exit code of pytest and seconds."""
    command = [sys.executable, "-m", "pytest", *sorted(tests), "-x", "-q", "-p", "no:cacheprovider"]
    variables = {**os.environ, "PYTHONPATH": str(folder)}
    began = time.monotonic()
    with subprocess.Popen(command, cwd=folder, env=variables, stdout=subprocess.DEVNULL) as run:
        try:
            code = run.wait(TIMEOUT_S)
        except subprocess.TimeoutExpired:
            run.send_signal(signal.SIGINT)  # so that pytest ends the servers it has started
            run.wait()
            code = FAILED
    return code, time.monotonic() - began


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
