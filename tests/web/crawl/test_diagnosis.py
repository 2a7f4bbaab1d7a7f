"""The page that says why a crawl is not finished, by Django's test browser; Redis is down unless a test asks for it."""

import time
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from redis import Redis
from rq import Queue, SimpleWorker

from crawler.frontier import keys
from crawler.frontier.frontier import Frontier
from crawler.frontier.host_limiter import HostLimiter, HostPolicy
from crawler.frontier.ready_queue import QueueItem
from crawler.models import AuditEntry, Crawl, Page
from tests.factories import SITE, a_crawl, a_finished_crawl, a_group, a_page, a_person
from tests.stops import stop_host

NO_WORKER = "No worker is running: start one with bin/worker."


def an_open_page(crawl: Crawl, url: str = SITE, **fields: Any) -> Page:
    return a_page(crawl, url, **{"status": Page.OPEN, "outcome": "", "http_status": None, "fetched_at": None, **fields})


def path(crawl: Crawl) -> str:
    return f"/crawls/{crawl.id}/why/"


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


def test_of_a_crawl_that_is_over_there_is_little_to_say(as_ann: Client, ann: User) -> None:
    html = as_ann.get(path(a_finished_crawl(ann))).content.decode()
    assert "It is finished: no page is open." in html
    assert "<table" not in html


def test_the_crawls_page_leads_there_while_it_is_not_over(as_ann: Client, ann: User) -> None:
    crawl = a_crawl(ann)
    assert f'<a href="{path(crawl)}">Why is it not finished?</a>' in as_ann.get(f"/crawls/{crawl.id}/").content.decode()


def a_waiting_crawl(owner: User, redis: Redis, **fields: Any) -> Crawl:
    """Of a host that asked to wait for an hour."""
    crawl = a_crawl(owner, **fields)
    page = an_open_page(crawl)
    Frontier(redis, str(crawl.id)).ready_queue.enqueue([QueueItem(page.pk, "example.com", 0)])
    stop_host(redis, "example.com", 3600, time.time())
    return crawl


def forget_path(crawl: Crawl, host: str = "example.com") -> str:
    return f"/crawls/{crawl.id}/hosts/{host}/forget"


def test_a_button_ends_the_wait_for_a_host(as_ann: Client, ann: User, real_redis: Redis) -> None:
    crawl = a_waiting_crawl(ann, real_redis)
    html = as_ann.get(path(crawl)).content.decode()
    assert "it responded with 429 and asked to wait until" in html
    assert f'action="{forget_path(crawl)}"' in html
    response = as_ann.post(forget_path(crawl), follow=True)
    assert response.redirect_chain == [(path(crawl), 302)]  # type: ignore[attr-defined]  # of test clients
    html = response.content.decode()
    assert "The wait for example.com is ended: 1 crawl with its pages continues." in html
    assert forget_path(crawl) not in html
    entry = AuditEntry.objects.get(act="host.forgotten")
    assert (entry.actor, entry.via, entry.name) == ("ann", "web", "example.com")


def test_a_host_this_crawl_does_not_wait_for_is_left_alone(as_ann: Client, ann: User, real_redis: Redis) -> None:
    bobs = a_waiting_crawl(a_person("bob"), real_redis)
    response = as_ann.post(forget_path(a_crawl(ann)), follow=True)
    assert "This crawl does not wait for example.com." in response.content.decode()
    assert as_ann.post(forget_path(bobs)).status_code == 404
    assert real_redis.hexists(keys.host("example.com"), "until")


def test_who_may_only_look_gets_no_button(as_bob: Client, ann: User, bob: User, real_redis: Redis) -> None:
    crawl = a_waiting_crawl(ann, real_redis, group=a_group("readers", bob))
    html = as_bob.get(path(crawl)).content.decode()
    assert "asked to wait until" in html
    assert "forget" not in html
    assert as_bob.post(forget_path(crawl)).status_code == 403
    assert real_redis.hexists(keys.host("example.com"), "until")


def test_another_owners_crawl_that_uses_the_connections_is_not_named(
    as_ann: Client, as_root: Client, ann: User, real_redis: Redis
) -> None:
    bobs = a_crawl(a_person("bob"), start_urls=["https://secret.test/"])
    crawl = a_crawl(ann)
    Frontier(real_redis, str(crawl.id)).ready_queue.enqueue([QueueItem(an_open_page(crawl).pk, "example.com", 0)])
    HostLimiter(real_redis, 10).take_slot("example.com", f"{bobs.id}:b:0", HostPolicy(str(bobs.id)), time.time())
    by_ann, by_root = (browser.get(path(crawl)).content.decode() for browser in (as_ann, as_root))
    assert "1 by another crawl" in by_ann
    assert (str(bobs.id) in by_ann, "secret.test" in by_ann) == (False, False)
    assert f"1 by crawl {bobs.id} (secret.test)" in by_root


def test_the_crawls_own_page_says_what_it_waits_for_once_it_stands_still(
    as_ann: Client, ann: User, real_redis: Redis
) -> None:
    begun, now = timezone.now() - timedelta(minutes=1), time.time()
    crawl = a_waiting_crawl(ann, real_redis, round_began_at=begun, samples=[[now - 2, 1, 0], [now, 2, 1]])
    listed = SimpleWorker([Queue(name, connection=real_redis) for name in ("crawl", "fetch")], connection=real_redis)
    listed.register_birth()

    def told() -> str:
        text: str = as_ann.get(f"/crawls/{crawl.id}/status").json()["texts"]["waits"]
        return text

    assert told() == ""
    Crawl.objects.filter(pk=crawl.pk).update(samples=[[now - 60, 1, 0]])
    assert told().startswith("example.com responded with 429 and asked to wait until ")
    listed.register_death()
