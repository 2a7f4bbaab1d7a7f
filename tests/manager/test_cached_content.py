"""Crawls that reuse responses and keep content: each has the content of all its pages, whatever becomes of others."""

import gzip
import io
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from warcio.archiveiterator import ArchiveIterator

from crawler.crawls.delete import delete
from crawler.manager.tick import manage
from crawler.models import Answer, Crawl, PageFacts
from crawler.queueing import queues
from crawler.storage.content import copies, objects
from crawler.storage.content import kept as kept_content
from tests.bench import Bench, Died
from tests.manager.test_response_cache import Validating, rows, run
from tests.site import Reply, moved, page

FORMS = ("html", "text", "markdown", "warc")
PLAIN = {"Content-Type": "text/plain"}
PAGES = {
    "/robots.txt": Reply("User-agent: *\nDisallow:\n", headers=PLAIN),
    "/": page("/a", "/moved", "/gone", "/text"),
    "/a": page(title="A"),
    "/moved": moved("/a", 301),
    "/text": Reply("words", headers=PLAIN),
}
REUSED = [{"revisit": True}, {"response_ttl": 600.0}]


@pytest.fixture
def bench(settings: Any, tmp_path: Path) -> Iterator[Bench]:
    settings.STORAGES = {
        **settings.STORAGES,
        "content": {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": tmp_path}},
    }
    with Validating(PAGES).serving() as site:
        yield Bench(site)


def contents(crawl: Crawl) -> dict[tuple[str, str], bytes]:
    """(path, format) -> content, of all pages."""
    found = {}
    for facts in PageFacts.objects.filter(crawl=crawl).select_related("page"):
        for form in facts.kept:
            assert kept_content.is_kept(facts, form), facts.kept
            assert facts.kept[form][0].startswith(f"{crawl.id}/")
            found["/" + facts.page.url.split("/", 3)[3], form] = kept_content.content_of(facts, form)
    return found


def conditional(bench: Bench) -> set[str]:
    return {request.path for request in bench.site.requests if "If-None-Match" in request.headers}


@pytest.mark.parametrize("reuse", REUSED)
def test_what_is_reused_has_the_content_it_had_even_after_the_first_crawl_is_deleted(
    bench: Bench, reuse: dict[str, Any]
) -> None:
    first = run(bench, keep=FORMS, **reuse)
    known = contents(first)
    second = run(bench, keep=FORMS, **reuse)
    assert set(rows(second, "outcome").values()) <= {"unchanged", "3xx", "4xx"} or all(rows(second, "reused").values())
    assert {path for path, form in known if form == "html"} == {"/", "/a"}
    assert {path for path, form in known if form == "warc"} == {"/", "/a", "/moved", "/gone", "/text"}
    delete(first.id)
    assert {place: found for place, found in contents(second).items() if place[0] in ("/", "/a")} == {
        place: found for place, found in known.items() if place[0] in ("/", "/a")
    }
    assert contents(second).keys() == known.keys()


def test_the_cache_goes_on_with_the_newest_copy(bench: Bench) -> None:
    first = run(bench, keep=FORMS, revisit=True)
    run(bench, keep=FORMS, revisit=True)
    delete(first.id)
    third = run(bench, keep=FORMS, revisit=True)
    assert bench.site.sent.keys() & {"/", "/a"} == set()  # type: ignore[attr-defined]
    assert ("/a", "markdown") in contents(third)


@pytest.mark.parametrize("reuse", [*REUSED, {"revisit": True, "response_ttl": 600.0}])
def test_a_page_whose_content_is_gone_is_requested_without_conditions(bench: Bench, reuse: dict[str, Any]) -> None:
    first = run(bench, keep=("html",), **reuse)
    known = contents(first)
    delete(first.id)
    second = run(bench, keep=("html",), **reuse)
    assert conditional(bench) & {"/", "/a"} == set()
    assert contents(second) == known


def test_content_that_goes_while_the_server_confirms_it_is_requested_again(bench: Bench) -> None:
    """No attempt is counted, and the crawl does not ask for ever."""
    first = run(bench, keep=("html",), revisit=True)
    known = contents(first)
    for name in list(objects.objects_of(str(first.id))):
        with objects.storage().open(name, "rb") as file:
            half = file.read()[:20]
        objects.delete(name)
        objects.storage().save(name, io.BytesIO(half))  # it exists, and is shorter than it was
    second = run(bench, keep=("html",), revisit=True)
    assert conditional(bench) >= {"/", "/a"}
    assert contents(second) == known
    assert rows(second, "attempts")["/a"] == 1
    assert second.retries == 0


@pytest.mark.long
@pytest.mark.parametrize("reuse", REUSED)
def test_a_manager_that_dies_after_it_copied_content_costs_nothing(
    bench: Bench, reuse: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page is still open, the next tick copies again; what nothing refers to is deleted with the crawl's end."""
    known = contents(run(bench, keep=("html",), **reuse))
    monkeypatch.setattr(objects, "SWEEP_MIN_AGE", timedelta())
    copying, deaths = copies.copied, iter([True])

    def dies(crawl: str, kept: Any) -> Any:
        found = copying(crawl, kept)
        if next(deaths, False):
            raise Died
        return found

    with monkeypatch.context() as patched:
        patched.setattr(copies, "copied", dies)
        bench.start(keep=("html",), **reuse)
        with pytest.raises(Died):
            work_until_finished(bench)
    redis = queues.connection()
    redis.delete(*redis.keys(f"*{bench.crawl.id}*:lock"))  # it has expired
    work_until_finished(bench)
    assert contents(bench.crawl) == known
    referred = {place[0] for facts in PageFacts.objects.filter(crawl=bench.crawl) for place in facts.kept.values()}
    assert set(objects.objects_of(str(bench.crawl.id))) == referred


def work_until_finished(bench: Bench) -> None:
    ends = time.monotonic() + 60
    while bench.state() != "finished":
        assert time.monotonic() < ends
        manage(bench.crawl.id)
        bench.work("fetch")


def test_crawls_that_keep_something_else_share_nothing(bench: Bench) -> None:
    run(bench, keep=("html",), revisit=True)
    for keep in ((), ("html", "text")):
        run(bench, keep=keep, revisit=True)
        assert conditional(bench) == set()


def test_an_archive_has_the_response_as_it_was_received_then(bench: Bench) -> None:
    first = run(bench, keep=("warc",), revisit=True)
    second = run(bench, keep=("warc",), revisit=True)
    records = [
        (record.rec_type, record.rec_headers["WARC-Date"], record.content_stream().read())
        for crawl in (first, second)
        for record in ArchiveIterator(io.BytesIO(contents(crawl)["/a", "warc"]))
    ]
    assert [kind for kind, *_ in records] == ["response", "request"] * 2
    assert records[:2] == records[2:]
    assert b"A" in records[0][2]


def test_a_response_whose_content_could_not_be_kept_is_not_reused(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(name: str, content: object) -> str:
        raise OSError("broken")

    with monkeypatch.context() as patched:
        patched.setattr(objects, "save", fails)
        run(bench, keep=("html",), revisit=True)
    second = run(bench, keep=("html",), revisit=True)
    assert conditional(bench) & {"/", "/a"} == set()
    assert ("/a", "html") in contents(second)


def test_without_room_nothing_is_copied_and_no_response_is_forgotten(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = run(bench, keep=("html",), revisit=True)
    known = Answer.objects.count()
    monkeypatch.setattr(objects, "is_full", lambda: True)
    kept = {facts.page.url: facts.kept for facts in PageFacts.objects.filter(crawl=first) if facts.kept}
    monkeypatch.setattr(objects, "save", _full)
    assert copies.copied("another", kept) == ({}, False)
    assert Answer.objects.count() == known


def test_members_are_copied_as_they_are(bench: Bench) -> None:
    first = run(bench, keep=("html",), revisit=True)
    kept = {facts.page.url: facts.kept for facts in PageFacts.objects.filter(crawl=first) if facts.kept}
    found, has_room = copies.copied("another", kept)
    assert (found.keys(), has_room) == (kept.keys(), True)
    (name,) = {places["html"][0] for places in found.values()}
    with objects.storage().open(name, "rb") as file:
        assert gzip.decompress(file.read()).count(b"<title>") == len(kept)
    with objects.Reader() as reader:
        for url, places in found.items():
            assert reader.read(tuple(places["html"])) == reader.read(tuple(kept[url]["html"]))


def _full(name: str, content: object) -> str:
    raise OSError(28, "No space left on device")
