"""Lists of URLs over the API: a crawl over one, or a word about the part that cannot be used."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from crawler.accounts import idempotency
from crawler.core.protocol.completion import State
from crawler.models import Crawl, Page, RepeatedCall
from tests.api.calling import Caller
from tests.factories import a_crawl

URL = "http://127.0.0.1:2/"
TABLE = f"page,Address,priority\n1,{URL}a,9\n2,nonsense,\n3,{URL}b,\n".encode()
PRIVATE = '{"allow_private": true}'
KEY = {"Idempotency_Key": "k-1"}


def upload(caller: Caller, content: bytes = TABLE, headers: dict[str, str] | None = None, **parts: str) -> Any:
    file = SimpleUploadedFile("urls.csv", content)
    return caller.send("/crawls/list", {"list": file, **parts}, **(headers or {}))


def test_an_uploaded_list_becomes_a_crawl_with_its_options(by_root: Caller, root: User, real_redis: object) -> None:
    options = '{"allow_private": true, "delay": 2, "max_pages": 9}'
    response = upload(by_root, list_column="Address", priority_column="3", options=options)
    crawl = Crawl.objects.get()
    assert (response.status_code, response["Location"]) == (201, f"http://testserver/api/v1/crawls/{crawl.id}")
    assert (crawl.owner, crawl.source, crawl.chosen.delay, crawl.chosen.max_pages) == (root, "urls.csv", 2, 9)
    assert list(Page.objects.order_by("id").values_list("url", "priority")) == [(f"{URL}a", 9), (f"{URL}b", 5)]
    assert response.json()["list_report"]["examples"][0]["text"] == "nonsense"


@pytest.mark.parametrize(
    ("parts", "field"),
    [
        ({"list_column": "nothing"}, "list_column"),
        ({"options": '{"max_pages": 0}'}, "options.max_pages"),
        ({"options": '{"max_pages": "x"}'}, "options.max_pages"),
        ({"options": '{"start_urls": ["https://example.com/"]}'}, "options.start_urls"),
        ({"options": '{"group": "strangers"}'}, "group"),
        ({"options": "{"}, "options"),
    ],
)
def test_what_cannot_be_used_is_named_by_its_part(
    by_ann: Caller, real_redis: object, parts: dict[str, str], field: str
) -> None:
    response = upload(by_ann, **parts)
    assert response.status_code == 422, response.content
    assert [error["field"] for error in response.json()["errors"]] == [field]
    assert not Crawl.objects.exists()


@pytest.mark.parametrize("content", [b"", b"\x00\x01\xff", b"nonsense\n"])
def test_a_file_that_is_no_list_is_refused(by_ann: Caller, real_redis: object, content: bytes) -> None:
    assert [error["field"] for error in upload(by_ann, content).json()["errors"]] == ["list"]


def test_a_form_without_a_file_lacks_its_list(by_ann: Caller) -> None:
    response = by_ann.send("/crawls/list", {"list_column": "url"})
    assert [(error["field"], error["in"]) for error in response.json()["errors"]] == [("list", "body")]


@pytest.mark.parametrize("headers", [{}, KEY])
def test_a_form_is_for_lists_alone(by_ann: Caller, headers: dict[str, str]) -> None:
    assert by_ann.send("/crawls", {"start_urls": "https://example.com/"}, **headers).status_code == 415


@pytest.mark.parametrize("headers", [{}, KEY])
def test_a_form_that_cannot_be_read_is_a_bad_request(by_ann: Caller, headers: dict[str, str]) -> None:
    header = {"Content-Type": "multipart/form-data; boundary=", **headers}
    assert by_ann.post("/crawls/list", "broken", **header).status_code == 400


def test_a_list_may_be_longer_than_any_other_body(by_root: Caller, real_redis: object, settings: Any) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 1000
    many = "".join(f"{URL}{number}\n" for number in range(200)).encode()
    assert upload(by_root, many, options=PRIVATE).status_code == 201
    assert upload(by_root, options=" " * 2000).status_code == 413


def test_the_same_list_is_crawled_once_and_another_is_another_call(by_root: Caller, real_redis: object) -> None:
    first, second = upload(by_root, headers=KEY), upload(by_root, headers=KEY)
    assert (first.status_code, second["Idempotency-Replayed"], Crawl.objects.count()) == (201, "true", 1)
    assert first.json() == second.json()
    assert upload(by_root, f"{URL}other\n".encode(), headers=KEY).status_code == 422
    assert upload(by_root, headers=KEY, list_column="2").status_code == 422


def test_while_an_earlier_attempt_reads_the_list_no_other_starts(
    by_root: Caller, root: User, real_redis: object
) -> None:
    upload(by_root, headers=KEY)
    claim = RepeatedCall.objects.get()
    Crawl.objects.all().delete()
    a_crawl(root, id=claim.made_id, state=State.LOADING, loaded_at=timezone.now())
    long_ago = timezone.now() - idempotency.CLAIM_TTL - timedelta(seconds=1)
    RepeatedCall.objects.update(status=None, claimed_at=long_ago)
    response = upload(by_root, headers=KEY)
    assert (response.status_code, response["Retry-After"], Crawl.objects.count()) == (503, "5", 1)
