import json

import pytest
from django.contrib.auth.models import User
from django.test import Client

from crawler.core.options.catalogue import CrawlOptions
from crawler.core.pages.content_formats import FORMS
from crawler.core.pages.outcomes import Outcome
from crawler.exports import sitemap
from crawler.exports.file import MIN_PIECE_SIZE
from crawler.exports.formats import FORMATS
from tests.factories import a_crawl, a_finished_crawl, a_page


def test_the_pages_of_a_crawl_can_be_downloaded(as_ann: Client, ann: User) -> None:
    crawl = a_finished_crawl(ann)
    for number in range(200):
        a_page(crawl, f"https://example.com/{number}", title="x" * 500)
    response = as_ann.get(f"/crawls/{crawl.id}/export.jsonl")
    pieces = list(response.streaming_content)  # type: ignore[call-overload]  # it is one
    lines = b"".join(pieces).decode().splitlines()
    assert [json.loads(line)["url"] for line in lines] == [f"https://example.com/{n}" for n in range(200)]
    assert response["Content-Disposition"] == f'attachment; filename="pages-{crawl.id}.jsonl"'
    assert len(pieces) == sum(map(len, pieces)) // MIN_PIECE_SIZE + 1


@pytest.mark.parametrize("export_format", FORMATS)
def test_every_format_can_be_downloaded_under_a_name_of_its_kind(as_ann: Client, ann: User, export_format: str) -> None:
    crawl = a_finished_crawl(ann, options=CrawlOptions(keep=FORMS))
    a_page(crawl)
    response = as_ann.get(f"/crawls/{crawl.id}/export.{export_format}")
    assert response.status_code == 200
    assert response["Content-Type"] == FORMATS[export_format].media_type
    ending = {"warc.gz": "warc.gz"}.get(export_format, export_format.rpartition(".")[2])
    assert response["Content-Disposition"].endswith(f'{crawl.id}.{ending}"')
    assert response.getvalue()


def test_an_unknown_format_is_not_there(as_ann: Client, ann: User) -> None:
    assert as_ann.get(f"/crawls/{a_finished_crawl(ann).id}/export.exe").status_code == 404


def test_links_to_other_sites_are_a_download_of_their_own(as_ann: Client, ann: User) -> None:
    crawl = a_finished_crawl(ann)
    a_page(crawl)
    a_page(crawl, "https://other.example/", Outcome.EXTERNAL, kind="external", fetched_at=None)
    response = as_ann.get(f"/crawls/{crawl.id}/export.jsonl?externals")
    assert f'filename="links-{crawl.id}.jsonl"' in response["Content-Disposition"]
    (line,) = response.getvalue().decode().splitlines()
    assert json.loads(line)["url"] == "https://other.example/"
    assert "export.csv?externals" in as_ann.get(f"/crawls/{crawl.id}/").content.decode()


def test_what_cannot_be_made_says_so_on_a_page_and_sends_no_file(
    as_ann: Client, ann: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sitemap, "MOST_URLS", 0)
    crawl = a_finished_crawl(ann)
    a_page(crawl, content_type="text/html")
    response = as_ann.get(f"/crawls/{crawl.id}/export.sitemap.xml")
    assert response.status_code == 400
    assert "Content-Disposition" not in response
    assert "choose sitemap.zip" in response.content.decode()


def test_every_format_is_on_the_page_with_what_is_in_it(as_ann: Client, ann: User) -> None:
    crawl = a_crawl(ann, options=CrawlOptions(keep=FORMS))
    html = as_ann.get(f"/crawls/{crawl.id}/exports/").content.decode()
    for key, made in FORMATS.items():
        assert f'<a href="/crawls/{crawl.id}/export.{key}">{made.name}</a>' in html
    assert f'href="/crawls/{crawl.id}/export.csv?externals"' in html


def test_a_crawl_that_ignores_other_sites_offers_no_links_to_them(as_ann: Client, ann: User) -> None:
    crawl = a_crawl(ann, options=CrawlOptions(externals="ignore"))
    assert "?externals" not in as_ann.get(f"/crawls/{crawl.id}/exports/").content.decode()


def test_a_crawl_that_kept_nothing_offers_no_content_and_says_how_to_keep_it(as_ann: Client, ann: User) -> None:
    crawl = a_crawl(ann)
    assert "export.warc.gz" not in as_ann.get(f"/crawls/{crawl.id}/exports/").content.decode()
    response = as_ann.get(f"/crawls/{crawl.id}/export.warc.gz")
    assert response.status_code == 400
    assert "stored no content as warc" in response.content.decode()
