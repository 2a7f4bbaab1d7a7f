"""Kept content is shown to those who may see its crawl, as text, in a sandbox, and never run."""

import io
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from warcio.archiveiterator import ArchiveIterator

from crawler.core.options.catalogue import CrawlOptions
from crawler.core.pages.content_formats import FORMS
from crawler.models import Crawl, Page, PageFacts
from crawler.storage.content import warc
from crawler.storage.content.objects import packed
from crawler.storage.content.shelf import Shelf, named
from tests.content_storages import kept_in
from tests.factories import SITE, a_browser, a_finished_crawl, a_page

HTML = "<script>alert('Grüße')</script>".encode("latin-1")
TYPES = {"screenshot": "image/webp", "pdf": "application/pdf"}
RECORDS = warc.exchange(SITE, 1.0, ("GET / HTTP/1.1", []), ("HTTP/1.1 200 OK", []), HTML)


@pytest.fixture
def page(ann: User, tmp_path: Path, settings: Any) -> Page:
    """A page of ann's, kept in every form."""
    kept_in(tmp_path, settings)
    crawl = a_finished_crawl(ann, options=CrawlOptions(keep=FORMS))
    made, shelf = a_page(crawl), Shelf(str(crawl.id), "batch")
    contents = {"html": packed(HTML), "text": packed(b"Hello"), "markdown": packed(b"# Hello"), "warc": RECORDS}
    contents |= {"screenshot": packed(b"RIFF"), "pdf": packed(b"%PDF")}
    places = shelf.put(contents)
    kept = named(places, shelf.clear())
    headers = "Content-Type: text/html; charset=iso-8859-1"
    PageFacts.objects.create(page_id=made.id, crawl=crawl, headers=headers, kept=kept)
    return made


def url(page: Page, form: str) -> str:
    return f"/crawls/{page.crawl_id}/pages/{page.id}/content/{form}"


@pytest.mark.parametrize("query", ["", "?download"])
@pytest.mark.parametrize("form", FORMS)
def test_nothing_of_it_can_run(as_ann: Client, page: Page, form: str, query: str) -> None:
    response = as_ann.get(url(page, form) + query)
    assert response.status_code == 200
    assert response["Content-Security-Policy"].startswith("sandbox; default-src 'none';")
    assert response["X-Content-Type-Options"] == "nosniff"
    is_saved = response["Content-Disposition"].startswith("attachment;")
    of_text = "application/octet-stream" if is_saved else "text/plain; charset=utf-8"
    assert response["Content-Type"] == TYPES.get(form, of_text)
    assert is_saved == (form in {"warc", "pdf"} or query == "?download")


@pytest.mark.parametrize(("form", "ending"), [("webp", "webp"), ("png", "png"), ("jpeg", "jpg")])
def test_a_screenshot_is_an_image_of_the_crawls_format(as_ann: Client, page: Page, form: str, ending: str) -> None:
    crawl = Crawl.objects.get()
    crawl.options = CrawlOptions(keep=FORMS, screenshot_format=form).to_plain()
    crawl.save()
    response = as_ann.get(url(page, "screenshot"))
    assert (response["Content-Type"], response.content) == (f"image/{form}", b"RIFF")
    assert response["Content-Disposition"] == f'inline; filename="page-{page.id}.{ending}"'


def test_a_pdf_is_a_file(as_ann: Client, page: Page) -> None:
    response = as_ann.get(url(page, "pdf"))
    assert response.content == b"%PDF"
    assert response["Content-Disposition"] == f'attachment; filename="page-{page.id}.pdf"'


def test_html_is_shown_as_its_source_in_the_right_letters(as_ann: Client, page: Page) -> None:
    assert as_ann.get(url(page, "html")).content.decode() == "<script>alert('Grüße')</script>"


def test_an_archive_is_taken_away_as_it_is(as_ann: Client, page: Page) -> None:
    response = as_ann.get(url(page, "warc"))
    assert response.content == RECORDS
    assert f'filename="page-{page.id}.warc.gz"' in response["Content-Disposition"]
    assert [record.rec_type for record in ArchiveIterator(io.BytesIO(response.content))] == ["response", "request"]


def test_other_forms_and_other_peoples_pages_are_not_there(as_ann: Client, page: Page, root: User) -> None:
    assert as_ann.get(url(page, "exe")).status_code == 404
    stranger = a_browser(User.objects.create_user("eve"))
    assert [stranger.get(url(page, form)).status_code for form in FORMS] == [404] * len(FORMS)
    own = a_finished_crawl(User.objects.get(username="eve"))
    assert stranger.get(f"/crawls/{own.id}/pages/{page.id}/content/html").status_code == 404
    assert Client().get(url(page, "html")).status_code == 302


def test_content_that_is_gone_is_told(as_ann: Client, page: Page, tmp_path: Path) -> None:
    for file in tmp_path.rglob("*.gz"):
        file.unlink()
    response = as_ann.get(url(page, "html"))
    assert response.status_code == 410
    assert "no longer in the storage" in response.content.decode()


def test_content_that_was_not_kept_is_not_there(as_ann: Client, page: Page) -> None:
    PageFacts.objects.update(kept={"html": "not kept: why"})
    assert as_ann.get(url(page, "html")).status_code == 404
    assert as_ann.get(url(page, "text")).status_code == 404
