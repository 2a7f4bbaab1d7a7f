"""Every command on a terminal: nothing that strangers wrote moves its cursor, turns its text round, or passes for a
line of ours."""

import io
import json
import re
from contextlib import suppress

import pytest
from django.core.management import call_command, get_commands

from crawler.exports.formats import FORMATS
from crawler.models import Crawl, Page
from crawler.reports.catalogue.entries import REPORTS
from tests.evil import ADDRESSES, MARK, TEXTS
from tests.shown.looking import terminal_faults

COMMANDS: dict[str, list[list[str]]] = {
    # command: its words; CRAWL, OTHER, PAGE are filled in
    "status": [[], ["CRAWL"], ["--json"], ["CRAWL", "--json"]],
    "why": [["CRAWL"], ["CRAWL", "--json"]],
    "host": [["evil.test"], ["evil.test", "--json"], ["evil.test", "--forget"], [TEXTS["terminal"]]],
    "dead_letters": [["CRAWL"], ["CRAWL", "--json"], [], ["--json"], ["--counts", "--json"]],
    "links_to": [["CRAWL", "PAGE"], ["CRAWL", "PAGE", "--json"]],
    "page": [["CRAWL", "PAGE"], ["CRAWL", "PAGE", "--json"], ["CRAWL", f"http://evil.test/{TEXTS['terminal']}"]],
    "report": [["CRAWL"], *(["CRAWL", report.slug] for report in REPORTS), ["CRAWL", "broken-links", "--json"]],
    "compare": [["OTHER", "CRAWL"], ["OTHER", "CRAWL", "--only", "new"], ["OTHER", "CRAWL", "--only", "new", "--json"]],
    "export": [["CRAWL", "--format", key] for key, made in FORMATS.items() if made.is_text],
    "release_trap": [["CRAWL"], ["CRAWL", "--json"], ["CRAWL", "--all"]],
    "schedule": [["list"], ["list", "--json"]],
    "audit": [[], ["--json"]],
    "scale": [[], ["--json"]],
    "reseal": [[]],
    "retry_failed": [["CRAWL"], ["--all"]],
    "add": [["CRAWL", TEXTS["terminal"]], ["CRAWL", f"http://evil.test/{TEXTS['terminal']}"]],
    "again": [["CRAWL", "PAGE"], ["CRAWL", "--all"]],
    "pause": [["CRAWL"]],
    "resume": [["CRAWL"]],
    "change": [["CRAWL", "--exclude", TEXTS["terminal"]]],
    "finish": [["CRAWL"]],
    "cancel": [["CRAWL"]],
    "delete": [["CRAWL", "--yes"]],
}
ELSEWHERE = {
    "autoscale": "numbers",
    "clock": "it says nothing but to the log",
    "doctor": "what its operator has installed",
    "crawl": "it shows a receipt, as status does",
    "extract": "it asks a site: see tests/management/test_extract.py",
    "invite": "a link",
    "login_link": "a link",
    "new_hook": "what the operator typed",
    "reconcile": "numbers",
    "webhook_secret": "a secret",
    "rqworker": "what it says is RQ's, but for lines about Redis and the database",
}


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_every_command_is_here() -> None:
    ours = {name for name, app in get_commands().items() if app == "crawler"}
    assert ours == COMMANDS.keys() | ELSEWHERE.keys()


def test_nothing_moves_the_cursor(crawl: Crawl, other: Crawl, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawler.management.pages.parse_user_url", str)  # such a URL could not be asked for
    words = {"CRAWL": str(crawl.pk), "OTHER": str(other.pk)}
    words["PAGE"] = Page.objects.get(crawl=crawl, title=TEXTS["lines"]).url
    shown = set[str]()
    for command, calls in COMMANDS.items():
        for call in calls:
            told = said_by(command, *(words.get(word, word) for word in call))
            whole = re.sub("\r?\n", " ", told) if command == "export" else told  # a cell may have several lines
            assert terminal_faults(whole) == [], (command, call)
            shown |= {command} if MARK in told else set()
            if "--json" in call:
                assert [json.loads(line) for line in ([told] if command == "page" else told.splitlines())]
    assert shown >= {"status", "dead_letters", "links_to", "page", "report", "compare", "export", "release_trap"}


def said_by(command: str, *words: str) -> str:
    terminal = Terminal()
    with suppress(SystemExit):
        call_command(command, *words, stdout=terminal, stderr=terminal, no_color=True)
    return terminal.getvalue()


def test_a_program_gets_an_export_as_it_is(crawl: Crawl) -> None:
    pipe = io.StringIO()
    call_command("export", str(crawl.pk), "--format", "jsonl", stdout=pipe)
    titles = {json.loads(line)["title"] for line in pipe.getvalue().splitlines()}
    assert titles >= {*TEXTS.values(), *ADDRESSES}
