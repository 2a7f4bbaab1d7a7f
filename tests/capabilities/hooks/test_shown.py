"""Calls of hooks, errors and timeouts are on the crawl's page, in its receipt and in the metrics."""

from django.contrib.auth.models import User
from django.test import Client
from redis import Redis

from crawler.models import HookCalls
from crawler.reports.receipt import receipt_of
from tests.factories import a_delivery, a_finished_crawl, a_person

NAME = "my_hooks.Prices"


def test_failures_are_shown_and_added_up(client: Client, real_redis: Redis) -> None:
    root: User = a_person("root", superuser=True)
    client.force_login(root)
    crawl, other = a_finished_crawl(root), a_finished_crawl(root)
    counts = {"calls": 1200, "errors": 2, "timeouts": 1, "last_error": "ValueError: <b>no price</b>"}
    HookCalls.objects.create(crawl=crawl, hook=NAME, method="on_page", **counts)
    HookCalls.objects.create(crawl=other, hook=NAME, method="on_page", calls=10)
    HookCalls.objects.create(crawl=crawl, hook=NAME, method="on_finished", calls=1)

    shown = client.get(f"/crawls/{crawl.id}/").content.decode()
    assert f"{NAME}.on_page" in shown
    assert "1,200 calls, 2 raised an error, 1 took too long" in shown
    assert "ValueError: &lt;b&gt;no price&lt;/b&gt;" in shown
    assert receipt_of(crawl)["hooks"] == [{"hook": NAME, "calls": 1200, "errors": 2, "timeouts": 1}]
    metrics = client.get("/metrics").content.decode()
    assert f'crawler_hook_calls{{hook="{NAME}",method="on_page",result="returned"}} 1207.0' in metrics
    assert f'crawler_hook_calls{{hook="{NAME}",method="on_page",result="error"}} 2.0' in metrics


def test_a_page_goes_on_asking_while_calls_are_to_be_made(client: Client, real_redis: Redis) -> None:
    root = a_person("root", superuser=True)
    client.force_login(root)
    crawl = a_finished_crawl(root)
    assert client.get(f"/crawls/{crawl.id}/status").json()["settled"]
    a_delivery(crawl, transport="hook", address=NAME, state="pending")
    assert not client.get(f"/crawls/{crawl.id}/status").json()["settled"]
