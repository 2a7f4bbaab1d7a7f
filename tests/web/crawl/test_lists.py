"""A list that is uploaded on the page: a crawl over it, or a word beside the field."""

import gzip
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from crawler.core.options.catalogue import CrawlOptions
from crawler.core.protocol.completion import State
from crawler.models import Crawl, Page
from tests.factories import a_crawl, a_finished_crawl

URL = "http://127.0.0.1:2/"
TABLE = f"page,Address,priority\n1,{URL}a,9\n2,nonsense,\n3,{URL}b,\n4,{URL}a,\n".encode()


def upload(browser: Client, content: bytes, name: str = "urls.csv", **typed: Any) -> Any:
    return browser.post("/crawls/", {"start_urls": "", "upload": SimpleUploadedFile(name, content), **typed})


def test_the_form_offers_an_upload_and_can_carry_it(as_ann: Client) -> None:
    html = as_ann.get("/").content.decode()
    assert '<input type="file" name="upload"' in html
    assert 'enctype="multipart/form-data"' in html


def test_an_uploaded_list_becomes_ones_own_crawl(as_root: Client, root: User, real_redis: object) -> None:
    response = upload(as_root, TABLE, allow_private="on")
    crawl = Crawl.objects.get()
    assert (response.status_code, response["Location"]) == (302, f"/crawls/{crawl.id}/")
    assert (crawl.owner, crawl.source, crawl.state) == (root, "urls.csv", State.RUNNING)
    assert list(Page.objects.order_by("id").values_list("url", "priority")) == [(f"{URL}a", 9), (f"{URL}b", 5)]


def test_its_page_tells_what_was_read_and_which_lines_cannot_be_used(as_root: Client, real_redis: object) -> None:
    html = as_root.get(upload(as_root, TABLE)["Location"]).content.decode()
    assert "urls.csv (2 URLs)" in html
    assert "4 lines: 2 URLs, 1 duplicate, 1 invalid." in html
    assert '<td class="number">3</td><td title="nonsense">&#x27;nonsense&#x27; is not a web address' in html


@pytest.mark.parametrize("path", ["/", "/crawls/{}/", "/crawls/{}/status", "/crawls/{}/why/"])
def test_every_page_can_be_opened_while_a_list_is_read(as_ann: Client, ann: User, path: str) -> None:
    counts = {"lines": 5000, "taken": 4990, "invalid": 10, "duplicates": 0}
    report = {**counts, "examples": [{"line": 7, "text": "x", "why": "It is no URL."}]}
    crawl = a_crawl(ann, state=State.LOADING, source="urls.csv", source_report=report, discovered=4990)
    response = as_ann.get(path.format(crawl.id))
    assert response.status_code == 200
    assert "urls.csv (4,990 URLs)" in response.content.decode()


def test_a_large_packed_upload_is_read_from_its_file(as_root: Client, real_redis: object, settings: Any) -> None:
    settings.FILE_UPLOAD_MAX_MEMORY_SIZE = 1000  # more is kept in a file, as Django does from 2.5 MB on
    urls = b"".join(b"%s%d\n" % (URL.encode(), number) for number in range(6000))
    assert upload(as_root, gzip.compress(urls), "urls.txt.gz").status_code == 302
    assert Crawl.objects.get().discovered == 6000


def test_columns_can_be_chosen_on_the_page(as_root: Client, real_redis: object) -> None:
    content = f"{URL}a;{URL}b;7\n".encode()
    assert upload(as_root, content, "urls.txt", list_column="2", priority_column="3").status_code == 302
    assert Page.objects.values_list("url", "priority").get() == (f"{URL}b", 7)


@pytest.mark.parametrize(
    ("content", "typed", "field", "line"),
    [
        (b"\x89PNG\0", {}, "upload", "urls.csv is not a list of URLs: line 1 contains NUL bytes"),
        (TABLE, {"start_urls": URL}, "upload", "Give URLs or a list, not both."),
        (TABLE, {"list_column": "where"}, "list_column", "no column 'where'"),
        (TABLE, {"sitemaps": "on"}, "sitemaps", "A list contains all its pages"),
    ],
)
def test_what_cannot_be_used_is_said_at_its_field_and_nothing_is_made(
    as_ann: Client, real_redis: object, content: bytes, typed: dict[str, str], field: str, line: str
) -> None:
    response = upload(as_ann, content, **typed)
    errors = response.context["form"].errors
    assert (response.status_code, list(errors)) == (400, [field])
    assert line in errors[field][0]
    assert not Crawl.objects.exists()


def test_after_an_error_elsewhere_the_file_is_asked_for_again_and_the_rest_stands_there(as_ann: Client) -> None:
    typed = {"preset": "list", "list_column": "Address", "max_pages": "many", "delay": "2s", "notify": "me@a.test"}
    html = upload(as_ann, TABLE, "my <urls>.csv", **typed).content.decode()
    assert "Choose my &lt;urls&gt;.csv again" in html
    for value in ("Address", "many", "2s"):
        assert f'value="{value}"' in html
    assert 'value="list" ' in html


def test_a_crawl_over_a_list_is_typed_again_without_it(as_ann: Client, ann: User) -> None:
    crawl = a_finished_crawl(ann, source="urls.csv", options=CrawlOptions(recursive=False, max_pages=7))
    form = as_ann.get(f"/?again={crawl.id}").context["form"]
    assert form.initial == {"preset": "list", "max_pages": 7}
