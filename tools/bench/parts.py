"""Where the workers' CPU time goes, by part: reads what py-spy recorded of them while they crawled.

py-spy record --gil -r 200 -f raw -o worker.raw -- rq worker -w crawler.worker.Worker crawl fetch
python tools/bench/parts.py worker.raw... --pages 1170
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

PARTS = (
    ("read the page: links, title, directives", ("_read (crawler/fetcher/page.py",)),
    ("ask for the page: HTTP", ("(crawler/http/",)),
    (
        "keep the host's turn and the lease, robots.txt",
        ("(crawler/fetcher/host_slot.py", "(crawler/fetcher/robots_check.py"),
    ),
    ("leave what was found", ("(crawler/fetcher/result_buffer.py",)),
    ("the rest of a fetch job", ("fetch (crawler/jobs.py", "(crawler/fetcher/slice.py")),
    (
        "take in: decide which links are pages",
        ("_discover (crawler/manager/collect.py", "sort_out (crawler/capabilities/traps/"),
    ),
    ("take in: rows", ("apply (crawler/storage/writer.py",)),
    ("take in: the rest", ("collect (crawler/manager/collect.py",)),
    ("hand out", ("dispatch (crawler/manager/dispatch.py",)),
    ("the rest of a tick", ("manage (crawler/jobs.py", "_tick (crawler/fetcher/work_stealing.py")),
    ("RQ", ("Worker.work (crawler/worker.py",)),
)
"""A stack belongs to the first part of which it holds a frame."""

Sample = tuple[str, int]


def samples(files: Iterable[Path]) -> Iterator[Sample]:
    """Stacks as py-spy writes them, "frame;frame;frame count", with how often each was met."""
    for file in files:
        for line in file.read_text().splitlines():
            stack, _, count = line.rpartition(" ")
            yield stack, int(count)


def by_part(stacks: Iterable[Sample]) -> Counter[str]:
    """Samples of each part; what belongs to none is a worker's start."""
    found = Counter[str]()
    for stack, count in stacks:
        part = next((name for name, frames in PARTS if any(frame in stack for frame in frames)), None)
        if part is not None:
            found[part] += count
    return found


def told(found: Counter[str], rate: int, pages: int) -> str:
    """A line for each part: milliseconds a page, and its share."""
    total = found.total()
    lines = [
        f"{count / rate / pages * 1000:6.2f} ms  {count / total:4.0%}  {name}" for name, count in found.most_common()
    ]
    return "\n".join([*lines, f"{total / rate / pages * 1000:6.2f} ms        together"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--pages", type=int, required=True, help="that were crawled meanwhile")
    parser.add_argument("--rate", type=int, default=200, help="samples a second (py-spy's -r)")
    chosen = parser.parse_args()
    print(told(by_part(samples(chosen.files)), chosen.rate, chosen.pages))


if __name__ == "__main__":
    main()
