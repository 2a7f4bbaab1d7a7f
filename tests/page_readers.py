"""Compares the compiled reader with the parser of HTML on the pages of a folder: what they say, and their CPU time."""

import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from crawler.core.html import charsets, scanned_page
from crawler.core.html.links import extract, read_page
from tests.compiled import extension, read_both

TIMES = 5  # of which the least counts


def main(folder: Path) -> int:
    built = extension()
    if isinstance(built, str):
        print(built, file=sys.stderr)
        return 1
    scanned_page.use(built)
    said, parsed, read = Counter[str](), 0.0, 0.0
    for file in sorted(folder.rglob("*.html")):
        html, url = charsets.utf_8(file.read_bytes()), f"http://127.0.0.1/{file.relative_to(folder)}"
        both = read_both(html, url)
        said["left to the parser" if both is None else "equal" if both[0] == both[1] else "different"] += 1
        scanned_page.use(None)
        parsed += least(lambda html=html, url=url: extract(html, url))  # type: ignore[misc]
        scanned_page.use(built)
        read += least(lambda html=html, url=url: read_page(html, url))  # type: ignore[misc]
    pages = max(1, said.total())
    print(f"{said.total()} pages: {', '.join(f'{number} {what}' for what, number in said.items())}")
    print(f"ms a page: {1000 * parsed / pages:.3f} by the parser, {1000 * read / pages:.3f} by both as they are used")
    return int(said["different"] > 0)


def least(work: Callable[[], object]) -> float:
    """Seconds of CPU time."""
    times = []
    for _ in range(TIMES):
        begun = time.thread_time()
        work()
        times.append(time.thread_time() - begun)
    return min(times)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
