"""A crawl that keeps content: every closed page's is readable where its row says, whoever dies in between."""

import gzip
import io
import os
from pathlib import Path
from typing import Any

import pytest
from warcio.archiveiterator import ArchiveIterator

from crawler import crashpoints
from crawler.core.errors import ServiceDown
from crawler.core.pages.content_formats import FORMS, PICTURES
from crawler.core.pages.outcomes import Outcome
from crawler.crawls.delete import delete
from crawler.crawls.reconcile import scan
from crawler.fetcher.loop import fetch
from crawler.models import Crawl, Page, PageFacts
from crawler.queueing import queues
from crawler.storage.content.objects import Reader, objects_of, sweep
from tests.bench import Bench, Died
from tests.content_storages import AWAY, kept_in
from tests.site import Reply, moved, page

HOME = "<title>Home</title><body><nav>Menu</nav><main><h1>Hello</h1><p>One <a href='/b'>two</a></p></main>"
OF_RESPONSES = tuple(form for form in FORMS if form not in PICTURES)
PAGES = {
    "/": HOME,
    "/b": page("/moved", "/gone", "/file.pdf", "/large.bin", title="B"),
    "/moved": moved("/"),
    "/file.pdf": Reply(b"%PDF-1.7 stuff", headers={"Content-Type": "application/pdf"}),
    "/large.bin": Reply(b"x" * 3000, headers={"Content-Type": "application/octet-stream"}),
}
pytestmark = pytest.mark.site(PAGES)


def kept(bench: Bench, path: str = "/") -> dict[str, Any]:
    page_id = Page.objects.get(crawl=bench.crawl, url=f"{bench.site.url}{path}").id
    found: dict[str, Any] = PageFacts.objects.get(page_id=page_id).kept
    return found


def member(place: list[Any]) -> bytes:
    with Reader() as reader:
        return reader.read((place[0], place[1], place[2]))


def grow_old(folder: Path) -> None:
    """Objects that were saved a while ago."""
    for file in folder.rglob("*.gz"):
        os.utime(file, (1, 1))


def test_each_form_of_a_page_is_where_its_row_says(bench: Bench) -> None:
    bench.run(keep=OF_RESPONSES)
    assert bench.state() == "finished"
    places = kept(bench)
    assert gzip.decompress(member(places["html"])).decode() == HOME
    assert gzip.decompress(member(places["text"])).decode() == "Hello\n\nOne two"
    assert gzip.decompress(member(places["markdown"])).decode() == f"# Hello\n\nOne [two]({bench.site.url}/b)\n"
    records = [record.rec_type for record in ArchiveIterator(io.BytesIO(member(places["warc"])))]
    assert records == ["response", "request"]


def test_an_archive_has_every_answer_and_keeping_one_changes_no_outcome(bench: Bench, settings: Any) -> None:
    settings.CRAWLER_MAX_BODY_MB = 0.002  # the home page is smaller
    outcomes = []
    for keep in ((), OF_RESPONSES):
        bench.run(keep=keep)
        outcomes.append(dict(Page.objects.filter(crawl=bench.crawl).values_list("url", "outcome")))
    assert outcomes[0] == outcomes[1]
    for path in ("/moved", "/gone", "/file.pdf"):
        assert set(kept(bench, path)) == {"warc"}
    assert b"%PDF-1.7 stuff" in gzip.decompress(member(kept(bench, "/file.pdf")["warc"]))
    assert kept(bench, "/large.bin") == {"warc": "not kept: its body could not be read"}


def test_a_crawl_that_keeps_nothing_writes_nothing(bench: Bench, folder: Path) -> None:
    bench.run()
    assert kept(bench) == {}
    assert list(folder.iterdir()) == []


def test_a_storage_that_is_away_costs_no_page(bench: Bench, folder: Path, settings: Any) -> None:
    kept_in(folder, settings, AWAY)
    bench.run(keep=("html",))
    assert bench.state() == "finished"
    assert Page.objects.filter(crawl=bench.crawl, outcome=Outcome.SUCCESS).count() == 4
    assert kept(bench) == {"html": "not kept: the storage could not be written to"}


def test_content_is_stored_before_its_result_is_reported(bench: Bench, folder: Path) -> None:
    """A worker killed in between leaves an object nothing refers to; the page is asked for again, and at the end what
    every closed page refers to is there, and nothing else."""
    bench.start(keep=("html",))
    bench.work("crawl", at_most=1)
    (batch,) = bench.batches()

    def die(moment: str) -> None:
        if moment == "fetch: content kept":
            raise Died

    crashpoints.arm(die)
    try:
        with pytest.raises(Died):
            fetch(batch)
    finally:
        crashpoints.arm(None)
    (orphan,) = objects_of(str(bench.crawl.id))
    assert bench.context.frontier.results.read(9) == []
    grow_old(folder)
    bench.context.frontier.ready_queue.clear()  # as when its lease has run out
    queues.connection().delete(*queues.connection().keys("*gate*") or ["-"])
    scan()
    bench.work()
    assert bench.state() == "finished"
    places = [facts.kept["html"] for facts in PageFacts.objects.filter(crawl=bench.crawl) if facts.kept]
    assert len(places) == 2
    assert all(gzip.decompress(member(place)) for place in places)
    assert set(objects_of(str(bench.crawl.id))) == {place[0] for place in places}
    assert orphan not in {place[0] for place in places}


def test_a_sweep_takes_what_nothing_refers_to_unless_it_was_saved_just_now(bench: Bench, folder: Path) -> None:
    bench.run(keep=("html",))
    loose = folder / str(bench.crawl.id) / "loose.html.gz"
    loose.write_bytes(b"")
    assert sweep(bench.crawl.id) == 0
    grow_old(folder)
    assert sweep(bench.crawl.id) == 1
    assert not loose.exists()
    assert member(kept(bench)["html"])


def test_deleting_a_crawl_deletes_its_content(bench: Bench, folder: Path) -> None:
    bench.run(keep=("html", "warc"))
    delete(bench.crawl.id)
    assert list(folder.iterdir()) == []


def test_a_deletion_while_the_storage_is_away_is_gone_on_with_once_it_is_back(
    bench: Bench, folder: Path, settings: Any
) -> None:
    bench.run(keep=("html",))
    kept_in(folder, settings, AWAY)
    with pytest.raises(ServiceDown, match="the storage is away"):
        delete(bench.crawl.id)
    scan()
    assert Crawl.objects.filter(id=bench.crawl.id).exists()
    kept_in(folder, settings)
    scan()
    assert not Crawl.objects.filter(id=bench.crawl.id).exists()
    assert list(folder.iterdir()) == []
