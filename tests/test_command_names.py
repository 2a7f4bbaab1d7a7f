"""The commands that texts name, in a clone and where pip has installed them."""

from pathlib import Path

import pytest

from crawler.command_names import as_typed
from tests.stack import ROOT

TEXT = "Start one: bin/worker --render, or bin/up. Tables: python manage.py migrate. `manage.py status` lists them."


def test_in_a_clone_they_are_as_written() -> None:
    assert as_typed(TEXT, ROOT) == TEXT


@pytest.mark.parametrize(
    ("text", "installed"),
    [
        (
            TEXT,
            "Start one: site-crawler worker --render, or site-crawler up. Tables: site-crawler admin migrate. "
            "`site-crawler status` lists them.",
        ),
        ("python manage.py release-trap ID", "site-crawler admin release-trap ID"),
        ("bin/crawl --resume ID", "site-crawler crawl --resume ID"),
        ("cabin/crawler and bin/update", "cabin/crawler and bin/update"),
        ("http://a.test/bin/up is refused, as bin/up/ is", "http://a.test/bin/up is refused, as bin/up/ is"),
    ],
)
def test_elsewhere_they_are_those_of_the_one_program(text: str, installed: str, tmp_path: Path) -> None:
    assert as_typed(text, tmp_path) == installed
