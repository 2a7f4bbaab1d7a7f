"""The examples of docs/queue.md do what they say: commands are understood, and the Python code runs as it stands."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from django.core.management import call_command

from crawler.models import Crawl, Page
from tests.factories import a_crawl, a_page

ROOT = Path(__file__).resolve().parent.parent
DOCUMENT = (ROOT / "docs" / "queue.md").read_text()
COMMANDS = re.findall(r"^    python manage\.py (.+)$", DOCUMENT, re.MULTILINE)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("real_redis")]


@pytest.fixture
def crawl() -> Crawl:
    crawl = a_crawl(discovered=3, outcomes={"2xx": 1, "4xx": 1, "limit": 1}, statuses={"200": 1, "404": 1})
    a_page(crawl, "https://example.com/prices")
    a_page(crawl, "https://example.com/gone", 404)
    a_page(crawl, "https://example.com/more", "limit", error="beyond the limit of 2 pages")  # type: ignore[arg-type]
    return crawl


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_is_understood(
    command: str, crawl: Crawl, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "urls.txt").write_text("https://example.com/listed\n")
    monkeypatch.chdir(tmp_path)
    name, *words = shlex.split(command)
    call_command(name.replace("-", "_"), *[str(crawl.id) if word == "ID" else word for word in words])


def test_there_are_commands() -> None:
    named = {command.split()[0] for command in COMMANDS}
    assert named == {"add", "again", "change", "dead-letters", "finish", "retry-failed"}


def test_the_python_example_adds_pages_and_tells_what_was_refused(
    crawl: Crawl, capsys: pytest.CaptureFixture[str]
) -> None:
    [example] = re.findall(r"```python\n(.*?)```", DOCUMENT, re.DOTALL)
    exec(example, {"crawl_id": crawl.id})  # noqa: S102 (our own documentation)
    assert capsys.readouterr().out == "1 added; 1 refused: It is outside the crawl's scope.\n"
    page = Page.objects.get(url="https://example.com/a")
    assert (page.priority, page.not_before is None) == (9, False)


def test_the_body_of_the_curl_example_is_taken(crawl: Crawl) -> None:
    from crawler.api.routes.queue import PagesToAdd

    [body] = re.findall(r"-d '(\{.*?\})'", DOCUMENT)
    sent = PagesToAdd.model_validate_json(body)
    assert (len(sent.urls), sent.place().priority) == (2, 9)
