"""The doors of a crawl, by Django's test browser; Redis is down unless a test asks for it."""

import json
import re
from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth.models import User
from django.db import OperationalError, connection
from django.test import Client

from crawler.core.access.credentials import parse
from crawler.core.options.catalogue import CrawlOptions
from crawler.encryption import seal
from crawler.models import Crawl
from crawler.web.crawl.crawls import CRAWLS_PER_PAGE
from tests.factories import SITE, a_crawl, a_finished_crawl, a_page, a_person

TYPED = {"start_urls": "https://example.com/", "include": "/docs/", "max_pages": "7"}


@pytest.mark.parametrize("name", ["subdomains", "obey_robots"])  # off by default, and on
def test_a_checkbox_stands_beside_its_label(as_ann: Client, name: str) -> None:
    html = as_ann.get("/").content.decode()
    hidden = f'(<input type="hidden" name="{name}" value="off">)?'
    assert re.search(f'<label class="tick">{hidden}<input type="checkbox" name="{name}"', html)


def test_a_crawl_can_be_typed_again_by_a_link(as_ann: Client, ann: User) -> None:
    crawl = a_finished_crawl(ann, start_urls=["https://mine.example/"])
    assert f'href="/?again={crawl.id}"' in as_ann.get(f"/crawls/{crawl.id}/").content.decode()
    assert "https://mine.example/</textarea>" in as_ann.get(f"/?again={crawl.id}").content.decode()


@pytest.mark.parametrize("again", ["nonsense", str(UUID(int=7))])
def test_a_crawl_that_is_not_there_cannot_be_typed_again(as_ann: Client, again: str) -> None:
    assert as_ann.get(f"/?again={again}").status_code == 200


def test_somebody_elses_crawl_cannot_be_typed_again(as_ann: Client) -> None:
    crawl = a_crawl(a_person("bob"), start_urls=["https://his.example/"])
    assert "his.example" not in as_ann.get(f"/?again={crawl.id}").content.decode()


def test_a_superuser_who_types_somebodys_crawl_again_takes_over_neither_whom_it_tells_nor_what_it_sends(
    as_root: Client, ann: User
) -> None:
    sealed = seal(parse(bearer="swordfish"))
    crawl = a_crawl(ann, options=CrawlOptions(max_pages=77, notify_emails=("swordfish@example.com",)), sealed=sealed)
    response = as_root.get(f"/?again={crawl.id}")
    assert "swordfish" not in response.content.decode()
    form = response.context["form"]
    assert (form.initial["max_pages"], "same_credentials" in form.fields) == (77, False)


def test_the_list_shows_ones_own_crawls_alone(as_ann: Client, ann: User) -> None:
    a_crawl(ann, start_urls=["https://mine.example/"])
    a_crawl(a_person("bob"), start_urls=["https://his.example/"])
    a_crawl(None, start_urls=["https://nobodys.example/"])
    html = as_ann.get("/").content.decode()
    assert "mine.example" in html
    assert "his.example" not in html
    assert "nobodys.example" not in html


def test_a_long_list_is_cut_into_pages(as_ann: Client, ann: User) -> None:
    for number in range(CRAWLS_PER_PAGE + 1):
        a_crawl(ann, start_urls=[f"https://site{number}.example/"])
    assert "site0.example" not in as_ann.get("/").content.decode()
    assert "site0.example" in as_ann.get("/?page=2").content.decode()


def test_the_list_costs_the_same_few_queries_however_long(
    as_ann: Client, ann: User, django_assert_max_num_queries: object
) -> None:
    for _ in range(CRAWLS_PER_PAGE):
        a_finished_crawl(ann)
    with django_assert_max_num_queries(5):  # type: ignore[operator]
        as_ann.get("/")


@pytest.mark.parametrize(
    ("typed", "field"),
    [
        ({"start_urls": ""}, "start_urls"),
        ({"start_urls": "ftp://example.com/"}, "start_urls"),
        ({"start_urls": SITE, "include": "("}, "include"),
        ({"start_urls": SITE, "max_pages": "many"}, "max_pages"),
        ({"start_urls": SITE, "deadline": "soon"}, "deadline"),
        ({"start_urls": SITE, "notify_webhooks": "me"}, "notify_webhooks"),
    ],
)
def test_bad_input_gets_an_error_at_its_field_and_starts_nothing(
    as_ann: Client, typed: dict[str, str], field: str
) -> None:
    response = as_ann.post("/crawls/", typed)
    assert response.status_code == 400
    assert list(response.context["form"].errors) == [field]
    assert not Crawl.objects.exists()


def test_what_was_typed_is_kept_beside_the_error(as_ann: Client) -> None:
    html = as_ann.post("/crawls/", {**TYPED, "include": "(", "delay": "2"}).content.decode()
    assert "https://example.com/</textarea>" in html
    assert 'name="delay" value="2"' in html
    assert '<details class="options" open>' in html


def test_a_refused_port_is_told_beside_the_start_url(as_root: Client) -> None:
    errors = as_root.post("/crawls/", {"start_urls": "http://1.1.1.1:25/"}).context["form"].errors
    assert "allow it for this host by 1.1.1.1:25 in CRAWLER_PRIVATE_HOSTS" in errors["start_urls"][0]
    assert "allow_private" not in errors


def test_a_refused_address_comes_with_a_button_that_allows_it(as_root: Client) -> None:
    response = as_root.post("/crawls/", {"start_urls": "http://127.0.0.1:2/"})
    assert response.status_code == 400
    [error] = response.context["form"].errors["start_urls"]
    assert "is a private address (Loopback)" in error
    assert "--" not in error
    html = response.content.decode()
    assert '<button name="allow_private" value="on">Allow private addresses and start</button>' in html
    assert not Crawl.objects.exists()


def test_the_button_is_not_offered_to_those_who_may_not(as_ann: Client) -> None:
    html = as_ann.post("/crawls/", {"start_urls": "http://127.0.0.1:2/"}).content.decode()
    assert "Only a superuser can allow it." in html
    assert 'name="allow_private"' not in html


def test_starting_leads_to_the_page_of_ones_own_new_crawl(as_root: Client, root: User, real_redis: object) -> None:
    response = as_root.post("/crawls/", {"start_urls": "127.0.0.1:2/a", "allow_private": "on", "max_pages": "7"})
    crawl = Crawl.objects.get()
    assert (response.status_code, response["Location"]) == (302, f"/crawls/{crawl.id}/")
    assert (crawl.owner, crawl.start_urls, crawl.chosen.max_pages) == (root, ["http://127.0.0.1:2/a"], 7)
    assert as_root.get(response["Location"]).context["status"]["texts"]["open"] == "1"


def test_with_redis_down_nothing_is_half_made_and_the_input_is_kept(as_root: Client) -> None:
    typed = {"start_urls": "http://127.0.0.1:2/", "allow_private": "on"}
    response = as_root.post("/crawls/", typed)
    assert response.status_code == 503
    assert "Redis" in response.context["form"].non_field_errors()[0]
    assert "http://127.0.0.1:2/</textarea>" in response.content.decode()
    assert not Crawl.objects.exists()


def test_the_page_shows_the_state_without_javascript(as_ann: Client, ann: User) -> None:
    crawl = a_finished_crawl(ann)
    a_page(crawl, "https://example.com/a", title="Chapter A")
    html = as_ann.get(f"/crawls/{crawl.id}/").content.decode()
    assert "3 pages in 12 s, none left open." in html
    assert "Chapter A" in html
    assert "&quot;discovered&quot;: 3" in html


def test_the_page_and_the_json_say_the_same(as_ann: Client, ann: User) -> None:
    crawl = a_finished_crawl(ann)
    page, status = as_ann.get(f"/crawls/{crawl.id}/"), as_ann.get(f"/crawls/{crawl.id}/status")
    assert json.loads(json.dumps(page.context["status"])) == status.json()


def test_what_a_site_says_cannot_become_markup(as_ann: Client, ann: User) -> None:
    crawl = a_crawl(ann, start_urls=['https://example.com/"><script>alert(1)</script>'])
    a_page(crawl, "javascript:alert(2)", title="<script>alert(3)</script>")
    html = as_ann.get(f"/crawls/{crawl.id}/").content.decode()
    assert "<script>alert" not in html
    assert "&lt;script&gt;alert(1)" in html
    assert "&lt;script&gt;alert(3)" in html
    assert 'href="javascript:' not in html


def _gone(execute: Any, sql: str, *rest: Any) -> Any:
    """A database that went away once it had told who is asking."""
    if "crawler_crawl" in sql:
        raise OperationalError("the connection is lost")
    return execute(sql, *rest)


def test_a_database_that_does_not_answer_gets_a_page_that_says_so(as_ann: Client, ann: User) -> None:
    with connection.execute_wrapper(_gone):
        response = as_ann.get("/")
    assert response.status_code == 503
    assert "The database does not respond." in response.content.decode()


def test_what_another_process_has_locked_gets_a_page_that_says_when_to_try_again(as_ann: Client, ann: User) -> None:
    def locked(execute: Any, sql: str, *rest: Any) -> Any:
        if "crawler_crawl" in sql:
            raise OperationalError("canceling statement due to lock timeout") from LockNotAvailable()
        return execute(sql, *rest)

    with connection.execute_wrapper(locked):
        page, problem = as_ann.get("/"), as_ann.get("/api/v1/crawls")
    assert (page.status_code, problem.status_code) == (503, 503)
    assert "try again in a few seconds" in page.content.decode()
    assert "try again in a few seconds" in problem.json()["detail"]
    assert problem["Retry-After"] == "5"


class LockNotAvailable(Exception):
    """What PostgreSQL's driver raises below Django's error."""

    sqlstate = "55P03"
