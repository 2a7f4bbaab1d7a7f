"""The page that says why a crawl is not finished, by Django's test browser; Redis is down unless a test asks for it."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from redis import Redis

from crawler.core.lifecycle import State
from crawler.models import Crawl, Disagreement, Page
from tests.web.factories import SITE, a_crawl, a_finished_crawl, a_page, a_person

NO_WORKER = "No worker is running: start one in the project folder with rq worker crawl fetch."


def an_open_page(crawl: Crawl, url: str = SITE, **fields: Any) -> Page:
    return a_page(crawl, url, **{"status": Page.OPEN, "outcome": "", "http_status": None, "fetched_at": None, **fields})


def path(crawl: Crawl) -> str:
    return f"/crawls/{crawl.id}/why"


def test_the_answer_comes_first_and_what_is_open_is_listed(as_ann: Client, ann: User, real_redis: Redis) -> None:
    crawl = a_crawl(ann)
    an_open_page(crawl)
    html = as_ann.get(path(crawl)).content.decode()
    assert f'<h2 id="answer" class="answer">{NO_WORKER}</h2>' in html
    assert "1 open page" in html
    assert f'href="{SITE}"' in html


def test_whoever_opens_it_wakes_a_crawl_with_no_sign_of_life(as_ann: Client, ann: User, real_redis: Redis) -> None:
    crawl = a_crawl(ann)
    an_open_page(crawl)
    assert as_ann.get(path(crawl), {"format": "json"}).json()["manager"]["doing"] == "coming"
    assert real_redis.llen("rq:queue:crawl") == 1


@pytest.mark.parametrize(
    ("asked", "headers", "media_type"),
    [
        ({}, {}, "text/html; charset=utf-8"),
        ({}, {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}, "text/html; charset=utf-8"),
        ({}, {"Accept": "application/json"}, "application/json"),
        ({"format": "json"}, {"Accept": "text/html"}, "application/json"),
        ({"format": "xml"}, {}, "text/html; charset=utf-8"),
    ],
)
def test_programs_get_json(
    as_ann: Client, ann: User, asked: dict[str, str], headers: dict[str, str], media_type: str
) -> None:
    response = as_ann.get(path(a_crawl(ann)), asked, headers=headers)
    assert response["Content-Type"] == media_type
    assert "Accept" in response["Vary"]
    assert "no-store" in response["Cache-Control"]


def test_without_redis_the_page_says_so_and_shows_the_table(as_ann: Client, ann: User) -> None:
    crawl = a_crawl(ann)
    an_open_page(crawl)
    html = as_ann.get(path(crawl)).content.decode()
    assert "Redis does not answer, so nothing is fetched." in html
    assert "1 open page" in html
    assert "Manager, workers and queues" not in html


@pytest.mark.parametrize(
    ("state", "answer"),
    [(State.FINISHED, "It is finished: no page is open."), (State.CANCELLED, "It was cancelled: no page is open.")],
)
def test_of_a_crawl_that_is_over_there_is_little_to_say(as_ann: Client, ann: User, state: State, answer: str) -> None:
    html = as_ann.get(path(a_finished_crawl(ann, state=state))).content.decode()
    assert answer in html
    assert "<table" not in html


def test_what_a_site_wrote_is_text_and_not_markup(as_ann: Client, ann: User) -> None:
    crawl = a_crawl(ann)
    an_open_page(crawl, "javascript:alert(1)", error="<script>alert(1)</script>")
    Disagreement.objects.create(crawl=crawl, what="<b>they differ</b>")
    html = as_ann.get(path(crawl)).content.decode()
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
    assert "&lt;b&gt;they differ&lt;/b&gt;" in html
    assert 'href="javascript:' not in html


def test_the_crawls_page_leads_there_while_it_is_not_over(as_ann: Client, ann: User) -> None:
    crawl = a_crawl(ann)
    assert f'<a href="{path(crawl)}">Why is it not finished?</a>' in as_ann.get(f"/crawls/{crawl.id}/").content.decode()


def test_somebody_elses_crawl_is_not_there(as_ann: Client) -> None:
    assert as_ann.get(path(a_crawl(a_person("bob")))).status_code == 404


@pytest.mark.django_db
def test_it_needs_a_login(client: Client) -> None:
    crawl = a_crawl()
    assert client.get(path(crawl))["Location"] == f"/login/?next={path(crawl)}"


@pytest.mark.parametrize("method", ["post", "put", "delete"])
def test_it_is_only_looked_at(as_ann: Client, ann: User, method: str) -> None:
    assert getattr(as_ann, method)(path(a_crawl(ann))).status_code == 405
