"""What `bin/bench delete` measures, and what it says of it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.stack import Stack
from tools.bench.arguments import parse
from tools.bench.delete import Deletion

PAGES, DELETE = 2_500, 1_500


@pytest.mark.long
def test_a_crawl_is_deleted_beside_another_one(stack: Stack, tmp_path: Path) -> None:
    file = tmp_path / "delete.json"
    words = ("--pages", str(PAGES), "--delete", str(DELETE), "--links", "5", "--json", str(file))
    ended = stack.run(sys.executable, "-P", "-m", "tools.bench", "delete", *words)
    told = json.loads(file.read_text())
    assert ended.stdout.splitlines()[0].startswith(f"{DELETE:,} of {PAGES:,} pages deleted in ")
    assert len(told["steps"]) >= 3  # of 1,000 pages, of the others, and the crawl's row
    assert min(told["steps"]) > 0
    assert len(told["ticks_alone"]) > 0
    assert 0 < told["size_packed"] < told["size_after"]


def test_it_tells_the_deletion_apart_from_the_row_of_the_crawl_and_ticks_beside_it_from_others() -> None:
    deletion = Deletion(
        pages=10_000,
        deleted=4_000,
        steps=[0.1, 0.1, 0.12, 0.2, 0.3, 1.5],
        ticks_alone=[0.1, 0.1, 0.1, 0.1, 0.2],
        ticks_beside=[0.2, 0.2, 0.4],
        size_before=50_000_000,
        size_after=51_000_000,
        size_packed=30_000_000,
        packing=2.5,
    )
    assert list(deletion.lines()) == [
        "4,000 of 10,000 pages deleted in 2.3 s",
        "5 steps: median 0.12 s, 95 % within 0.28, longest 0.30; the crawl's own row: 1.50 s",
        "5 ticks before it: median 0.10 s, 95 % within 0.18, longest 0.20",
        "3 ticks beside it: longest 0.40 s",
        "tables and indexes: 50 MB before, 51 after, 30 packed, which took 2.5 s",
    ]


def test_it_deletes_two_fifths_of_a_hundred_thousand_pages_unless_told_otherwise() -> None:
    chosen = parse(["delete"])
    assert (chosen.pages, chosen.delete, chosen.postgres) == (100_000, 40_000, None)
