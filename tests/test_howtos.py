"""The `sh` blocks of docs/start.md and docs/howto, run as they stand there, each document against a small site."""

import csv
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from zipfile import ZipFile

import pytest

from crawler.launch import site_crawler
from tests.browser_sites.mixed import mixed
from tests.documented import DOCS
from tests.login_site import PASSWORD, LoginSite
from tests.marking import long_unless
from tests.site import Server, Site, page
from tests.stack import ROOT, Stack

SITE = "https://example.com"  # which the documents name
MAIN = "<main><h1>A kettle</h1><p>It whistles when the water boils, and costs little.</p></main>"
PAGES = {"/": page("/a", "/b"), "/a": f"<title>A</title>{MAIN}", "/b": page("/", title="B")}
BROKEN = {**PAGES, "/b": page("/gone", title="B")}
CHANGING = {**PAGES, "/": page("/b", "/c"), "/b": lambda before: page("/a", title=f"B {before}")}


def typed(document: str) -> str:
    """All that a reader of the document would type."""
    blocks = re.findall(r"^```sh\n(.*?)^```", (DOCS / document).read_text(), re.MULTILINE | re.DOTALL)
    assert blocks, f"docs/{document} has no commands"
    return "".join(blocks)


class Reader:
    """Types the commands of a document in a folder of their own, for a site that is served here."""

    def __init__(self, stack: Stack, folder: Path) -> None:
        self.stack, self.folder, self.output = stack, folder / "reader", ""
        programs = folder / "programs"
        for each in (self.folder, programs):
            each.mkdir()
        program = programs / "site-crawler"
        program.write_text(f'#!/bin/sh\nexec {sys.executable} -P -m crawler.launch.site_crawler "$@"\n')
        program.chmod(0o755)
        self._path = f"{programs}{os.pathsep}{stack.env['PATH']}"

    def types(self, document: str, site: Server) -> int:
        """The exit code; what was printed is in `output`."""
        script = typed(document).replace(SITE, site.url).replace("'correct horse'", shlex.quote(PASSWORD))
        env = {**self.stack.env, "PATH": self._path, "PYTHONPATH": str(ROOT), "CRAWLER_PRIVATE_HOSTS": "127.0.0.1"}
        done = subprocess.run(
            ["sh", "-euc", f"{script}\nwait\n"],
            cwd=self.folder,
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=120,
        )
        self.output = done.stdout
        return done.returncode

    def lines(self, name: str) -> list[dict[str, object]]:
        return [json.loads(line) for line in (self.folder / name).read_text().splitlines()]

    def rows(self, name: str) -> list[dict[str, str]]:
        with (self.folder / name).open(newline="") as file:
            return list(csv.DictReader(file))

    def packed(self, name: str) -> dict[str, str]:
        """The files of a ZIP."""
        with ZipFile(self.folder / name) as archive:
            return {entry: archive.read(entry).decode() for entry in archive.namelist()}


@pytest.fixture
def reader(stack: Stack, tmp_path: Path) -> Reader:
    return Reader(stack, tmp_path)


def start(reader: Reader, site: Server) -> None:
    assert f"{site.url}/gone" in reader.output
    assert {row["url"].removeprefix(site.url) for row in reader.rows("pages.csv")} == {"/", "/a", "/b", "/gone"}


def audit(reader: Reader, site: Server) -> None:
    [broken] = reader.lines("broken-links.jsonl")
    assert (broken["url"], broken["page"]) == (f"{site.url}/gone", f"{site.url}/b")
    assert (f"{site.url}/gone", "404") in {(row["target"], row["status"]) for row in reader.rows("links.csv")}
    assert len(reader.rows("pages.csv")) >= 4


def archive(reader: Reader, site: Server) -> None:
    assert (reader.folder / "site.warc.gz").read_bytes()[:2] == b"\x1f\x8b"
    html, text = reader.packed("site.html.zip"), reader.packed("site.text.zip")
    assert sum(MAIN in content for content in html.values()) == 1
    assert any("whistles" in content and "<p>" not in content for content in text.values())


def language_model(reader: Reader, site: Server) -> None:
    assert any("# A kettle" in content for content in reader.packed("site.markdown.zip").values())
    assert {line["h1"] for line in reader.lines("pages.jsonl")} == {"A kettle", ""}
    assert "A kettle" in {line["heading"] for line in reader.lines("fields.jsonl")}
    assert "updated" in reader.lines("fields.jsonl")[0]


def watch(reader: Reader, site: Server) -> None:
    assert "0 3 * * *" in reader.output
    assert re.search(r"title\s+1 page", reader.output)


def million(reader: Reader, site: Server) -> None:
    found = {str(line["url"]).removeprefix(site.url): line["meta"] for line in reader.lines("results.jsonl")}
    assert found == {"/": {"customer": "4711"}, "/a": {"customer": "0815"}}


def finished(reader: Reader, site: Server) -> None:
    assert re.search(r"State +finished", reader.output)


def login(reader: Reader, site: Server) -> None:
    finished(reader, site)
    assert isinstance(site, LoginSite)
    assert site.shown_since_login > 1


def javascript(reader: Reader, site: Server) -> None:
    finished(reader, site)
    assert re.search(r"Rendered +[1-9]", reader.output)


Check = Callable[[Reader, Server], None]
DOCUMENTS: dict[str, tuple[Callable[[], Server], Check]] = {
    "start.md": (lambda: Site(BROKEN), start),
    "howto/archive.md": (lambda: Site(PAGES), archive),
    "howto/audit.md": (lambda: Site(BROKEN), audit),
    "howto/check-links.md": (lambda: Site(PAGES), finished),
    "howto/cluster.md": (lambda: Site(PAGES), finished),
    "howto/javascript.md": (lambda: Site(mixed(guides=3, shells=2).pages), javascript),
    "howto/language-model.md": (lambda: Site(PAGES), language_model),
    "howto/login.md": (LoginSite, login),
    "howto/million-urls.md": (lambda: Site(PAGES), million),
    "howto/watch.md": (lambda: Site(CHANGING), watch),
}
QUICK = {"start.md"}
"""The others crawl as these do, and export or report in another format, which has tests of its own."""


def test_every_guide_is_tried() -> None:
    guides = {f"howto/{file.name}" for file in (DOCS / "howto").iterdir()}
    assert guides | {"start.md"} == {*DOCUMENTS, "howto/django.md"}  # the last one by test_embedding.py


def named(text: str) -> list[list[str]]:
    """The words of each command that a text names, behind `site-crawler`, without what belongs to the shell."""
    joined = re.sub(r" *\\\n\s*", " ", text)
    commands = re.findall(r"\bsite-crawler ([a-z][^`\n]*)", joined)
    return [shlex.split(re.split(r" [>|&]|\)\"", command)[0], comments=True) for command in commands]


def test_every_command_that_the_documents_name_can_be_typed() -> None:
    """In prose, too, and where it needs what is not here, such as a file with a password."""
    documents = [ROOT / "README.md", *DOCS.glob("*.md"), *DOCS.glob("howto/*.md")]
    commands = [words for document in documents for words in named(document.read_text())]
    assert len(commands) > 60
    parser = site_crawler.parser()
    for words in commands:
        if words[-1] not in {"admin", "--help"}:
            # `admin crawl` is Django's: a crawl by workers that run elsewhere
            parser.parse_args(words[1:] if words[:2] == ["admin", "crawl"] else words)


@pytest.mark.parametrize("document", long_unless(QUICK, DOCUMENTS))
def test_its_commands_do_what_it_says(document: str, reader: Reader) -> None:
    make, check = DOCUMENTS[document]
    with make().serving() as site:
        assert reader.types(document, site) == 0, reader.output
        check(reader, site)


def test_a_broken_link_fails_the_build(reader: Reader) -> None:
    with Site(BROKEN).serving() as site:
        assert reader.types("howto/check-links.md", site) == 1, reader.output
        assert f"{site.url}/gone" in reader.output
