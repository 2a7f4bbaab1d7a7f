"""Hooks with real workers: what one finds is stored, what raises or hangs costs no page."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.capabilities.hooks import samples
from tests.capabilities.hooks.samples import name_of
from tests.site import Site, page
from tests.stack import Stack

PAGES = {"/": page("/a", "/b"), "/a": page(title="A"), "/b": page(), "/hidden": page()}
EXPECTED = {
    ("Raising", "on_page"): (4, 4, 0),
    ("HangingOnce", "on_page"): (4, 0, 1),
    ("Counting", "on_page"): (4, 0, 0),
    ("Noting", "on_closed"): (4, 0, 0),
    ("Noting", "on_finished"): (1, 0, 0),
}


def hooked(stack: Stack, folder: Path, *hooks: type) -> Stack:
    """The same stack, whose workers and whose starts have these hooks."""
    settings = {
        "CRAWLER_HOOKS": ",".join(map(name_of, hooks)),
        "CRAWLER_HOOK_SECONDS": "0.5",
        "HOOK_NOTES": str(folder / "notes"),
    }
    stack.env = {**stack.env, **settings}
    return stack


@pytest.fixture
def stack(tmp_path: Path, shared_stack: Stack) -> Any:
    env = shared_stack.env
    yield shared_stack
    shared_stack.env = env


def calls(stack: Stack) -> dict[tuple[str, str], tuple[int, int, int]]:
    rows = stack.rows("SELECT * FROM crawler_hookcalls")
    counts = ("calls", "errors", "timeouts")
    return {
        (row["hook"].rpartition(".")[2], row["method"]): (row[counts[0]], row[counts[1]], row[counts[2]])
        for row in rows
    }


@pytest.mark.parametrize("start", ["start_worker", pytest.param("start_stock_worker", marks=pytest.mark.long)])
def test_what_hooks_find_is_stored_and_what_raises_or_hangs_costs_nothing(
    start: str, stack: Stack, tmp_path: Path
) -> None:
    hooks = (samples.Raising, samples.HangingOnce, samples.Counting, samples.Noting)
    hooked(stack, tmp_path, *hooks)
    with Site(PAGES).serving() as site:
        getattr(stack, start)()
        crawl = stack.start(f"{site.url}/")
        stack.wait_until_finished(crawl)
        notes = tmp_path / "notes"
        stack.wait_for(lambda: notes.exists() and len(notes.read_text().splitlines()) == 5)
        stack.wait_for(lambda: calls(stack) == EXPECTED)
    assert {url.removeprefix(site.url): row["outcome"] for url, row in stack.pages(crawl).items()} == dict.fromkeys(
        ("/", "/a", "/b", "/hidden"), "2xx"
    )
    assert {json.loads(row["fields"])["path"] for row in stack.rows("SELECT fields FROM crawler_pagefacts")} == {
        *("", "a", "b", "hidden")
    }
    (told,) = stack.rows("SELECT receipt FROM crawler_notice WHERE event = 'crawl.finished'")
    assert [entry["calls"] for entry in json.loads(told["receipt"])["hooks"]] == [4, 4, 4]
    lines = notes.read_text().splitlines()
    assert f"closed {site.url}/a 2xx a" in lines
    assert "finished 4" in lines
