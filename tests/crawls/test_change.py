"""What was chosen for a crawl is changed while it runs: all of it or nothing, and what it means for open pages."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

from crawler.core.access.credentials import Credentials, parse
from crawler.core.access.reach import OPERATOR
from crawler.core.errors import BadInput
from crawler.core.politeness import host_rules
from crawler.crawls import control
from crawler.crawls.change import Changed, change
from crawler.crawls.control import cancel
from crawler.crawls.control import finish as stop_waiting
from crawler.encryption import opened, seal
from crawler.manager import dispatch
from crawler.manager.add import ask_again
from crawler.manager.tick import manage
from crawler.models import AuditEntry, Crawl, Disagreement, Page
from crawler.queueing import queues
from crawler.reports.receipt import receipt_of
from crawler.storage import queries
from tests.bench import Bench
from tests.manager.test_add import finish
from tests.site import page

LEAVES = tuple(f"/{number}" for number in range(12))
PAGES = {"/": page(*LEAVES), **dict.fromkeys(LEAVES, page())}
pytestmark = pytest.mark.site(PAGES)


def slow_down(crawl: UUID) -> object:
    return change(crawl, {"delay": 2.0}, by=OPERATOR)


def changed(bench: Bench, **values: Any) -> Changed:
    done = change(bench.crawl.id, values, by=OPERATOR)
    assert done is not None
    return done


def outcomes(bench: Bench) -> dict[str, int]:
    bench.crawl.refresh_from_db()
    return {outcome: number for outcome, number in bench.crawl.outcomes.items() if number}


def first_pages_are_found(bench: Bench, **options: object) -> None:
    """The start page is done, the others wait in the ready queue, and none is handed out."""
    bench.start(**options)
    manage(bench.crawl.id)
    bench.work("fetch", at_most=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dispatch, "_dequeue_drafts", lambda context: [])
        manage(bench.crawl.id)
    assert (bench.context.frontier.ready_queue.size(), bench.crawl.outcomes) == (12, {})


def test_the_change_is_told_and_noted_with_before_and_after(bench: Bench) -> None:
    bench.start(delay=5.0)
    assert changed(bench, delay=0.0, concurrency=4) == Changed({"delay": 5.0}, {"delay": 0.0})
    noted = AuditEntry.objects.get(act="crawl.changed")
    assert (noted.before, noted.after) == ({"delay": 5.0}, {"delay": 0.0})
    finish(bench)


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"delay": -1.0}, "delay"),
        ({"max_depth": 3}, "max_depth"),
        ({"include": ("[",)}, "include"),
        ({"concurrency": "many"}, "concurrency"),
        ({"delay": 1.0, "notify_events": ("crawl.page",)}, "notify_events"),
        ({"notify_webhooks": ("http://10.0.0.1/",)}, "notify_webhooks"),
    ],
)
def test_what_cannot_be_used_changes_nothing(bench: Bench, values: dict[str, Any], field: str) -> None:
    bench.start()
    Crawl.objects.update(options={**bench.crawl.options, "private_hosts": []})
    before = Crawl.objects.get().options
    with pytest.raises(BadInput) as told:
        changed(bench, **values)
    assert told.value.field == field
    assert Crawl.objects.get().options == before
    assert not AuditEntry.objects.filter(act="crawl.changed").exists()


@pytest.mark.parametrize(
    ("values", "ended", "limits"),
    [
        ({"max_pages": 5}, {"2xx": 5, "limit": 8}, {"pages": 8}),
        ({"exclude": (r"/1\d?$",)}, {"2xx": 10, "excluded": 3}, {}),
        ({"deadline": 0.001}, {"2xx": 1, "expired": 12}, {"deadline": 12}),
    ],
)
def test_a_change_holds_for_what_waits_already(
    bench: Bench, values: dict[str, Any], ended: dict[str, int], limits: dict[str, int]
) -> None:
    first_pages_are_found(bench)
    changed(bench, **values)
    finish(bench)
    assert outcomes(bench) == ended
    assert sum(bench.site.hits[path] for path in ("/", *LEAVES)) == ended["2xx"]
    assert bench.crawl.limits == limits


def test_a_lower_page_limit_closes_nothing_that_is_handed_out(bench: Bench) -> None:
    first_pages_are_found(bench)
    manage(bench.crawl.id)
    out = bench.context.frontier.ready_queue.handed_out()
    assert out > 0
    changed(bench, max_pages=1)
    manage(bench.crawl.id)
    assert Page.objects.filter(status=Page.OPEN).count() == 12
    finish(bench)
    assert outcomes(bench) == {"2xx": 1 + out, **({"limit": 12 - out} if out < 12 else {})}


def test_beyond_a_lower_page_limit_no_page_is_tried_once_more_either(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host_rules, "MAX_SLICE_PAGES", 3)  # so that not all are handed out at once
    bench.start(concurrency=1)
    manage(bench.crawl.id)
    bench.work("fetch", at_most=1)
    manage(bench.crawl.id)
    queue = bench.context.frontier.ready_queue
    assert queue.handed_out()
    assert queue.size()
    Page.objects.filter(id__in=[page.id for page in Page.objects.order_by("-id")[:3]]).update(attempts=1)
    changed(bench, max_pages=1)
    manage(bench.crawl.id)
    assert queue.size() == 0


def test_a_higher_page_limit_brings_closed_pages_back_only_on_demand(bench: Bench) -> None:
    bench.run(max_pages=3)
    changed(bench, max_pages=100)
    bench.work()
    assert (bench.state(), outcomes(bench)) == ("finished", {"2xx": 3, "limit": 10})
    ask_again(bench.crawl.id, Page.objects.filter(outcome="limit").values_list("id", flat=True))
    finish(bench)
    assert outcomes(bench) == {"2xx": 13}


def test_a_start_url_is_never_left_out(bench: Bench) -> None:
    bench.start()
    changed(bench, include=("/nothing",))
    finish(bench)
    assert outcomes(bench) == {"2xx": 1}


def test_without_a_deadline_open_pages_have_no_end(bench: Bench) -> None:
    first_pages_are_found(bench, deadline=3600.0)
    changed(bench, deadline=None)
    assert queries.next_expiry(bench.crawl.id) is None
    finish(bench)


def test_a_later_deadline_leaves_pages_with_a_shorter_time_alone(bench: Bench) -> None:
    first_pages_are_found(bench, deadline=3600.0, page_ttl=60.0)
    before = queries.next_expiry(bench.crawl.id)
    changed(bench, deadline=7200.0)
    assert queries.next_expiry(bench.crawl.id) == before


def test_kept_open_no_longer_it_finishes(bench: Bench) -> None:
    bench.start(stay_open=True)
    changed(bench, stay_open=False)
    finish(bench)


def test_a_new_receiver_gets_the_notices_from_then_on(bench: Bench) -> None:
    bench.start()
    done = changed(bench, notify_emails=("me@example.com",))
    assert done == Changed({"notify_emails": 0}, {"notify_emails": 1})
    finish(bench)
    assert not Disagreement.objects.exists()


def test_a_crawl_that_is_over_stays_over(bench: Bench) -> None:
    bench.start()
    cancel(bench.crawl.id)
    assert changed(bench, delay=2.0).after == {"delay": 2.0}
    assert bench.state() == "cancelled"


def test_the_receipt_of_a_crawl_that_is_over_names_the_limit_it_had(bench: Bench) -> None:
    bench.run(max_pages=3)
    bench.crawl.refresh_from_db()
    told = receipt_of(bench.crawl)
    assert "3 pages at most" in told["ended_message"]
    for limit in (100, None):
        changed(bench, max_pages=limit)
        assert receipt_of(Crawl.objects.get()) == told


@pytest.mark.parametrize("act", [slow_down, stop_waiting], ids=["change", "finish"])
def test_while_redis_does_not_respond_nothing_is_changed(
    bench: Bench, act: Callable[[UUID], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.start(stay_open=True)
    monkeypatch.setattr(queues, "connection", lambda: Redis(port=1, retry=Retry(NoBackoff(), 0)))
    with pytest.raises(RedisError):
        act(bench.crawl.id)
    assert Crawl.objects.get().options == bench.crawl.options


@pytest.mark.parametrize("act", [slow_down, stop_waiting], ids=["change", "finish"])
def test_what_redis_is_not_told_of_reconcile_does(
    bench: Bench, act: Callable[[UUID], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*given: object) -> None:
        raise RedisError("gone")

    bench.start(stay_open=True)
    monkeypatch.setattr(control, "wake", refuse)
    assert act(bench.crawl.id)
    assert Crawl.objects.get().options != bench.crawl.options


def test_the_patterns_of_a_list_are_refused(bench: Bench) -> None:
    bench.start()
    Crawl.objects.update(source="urls.txt")
    with pytest.raises(BadInput, match="A list contains all its pages"):
        changed(bench, exclude=("/a",))


EARLIER = parse(headers=["X-Key: swordfish-1"], login_fields=["user=ann", "password=swordfish-2"])


def logs_in(bench: Bench, **options: object) -> None:
    """A crawl that logs in, before its first page."""
    bench.start(**options)
    options_of_it = {**bench.crawl.options, "login_url": f"{bench.site.url}/login"}
    Crawl.objects.update(options=options_of_it, sealed=seal(EARLIER))


def credentials() -> Credentials:
    return opened(Crawl.objects.get().sealed)


def test_the_fields_of_the_log_in_are_replaced_and_other_credentials_stay(bench: Bench) -> None:
    logs_in(bench)
    told = changed(bench, login_fields=["name=bob", "password=swordfish-3", "code=1"], delay=2.0)
    assert told == Changed({"delay": 0.0, "login_fields": 2}, {"delay": 2.0, "login_fields": 3})
    assert credentials() == parse(
        headers=["X-Key: swordfish-1"], login_fields=["name=bob", "password=swordfish-3", "code=1"]
    )
    noted = AuditEntry.objects.get(act="crawl.changed")
    assert (noted.before, noted.after) == (told.before, told.after)


def test_whether_the_fields_are_the_same_is_not_told(bench: Bench) -> None:
    logs_in(bench)
    for password in ("swordfish-2", "guessed"):
        assert changed(bench, login_fields=["user=ann", f"password={password}"]).after == {"login_fields": 2}


def test_the_sign_of_being_logged_in_is_changed_and_the_fields_stay(bench: Bench) -> None:
    logs_in(bench, login_check="")
    before = Crawl.objects.get().sealed
    assert changed(bench, login_check="a.me").after == {"login_check": "a.me"}
    assert credentials() == EARLIER
    assert Crawl.objects.get().sealed != before  # batches that were told of another sign are outdated


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"login_fields": []}, "login_fields"),
        ({"login_fields": None}, "login_fields"),
        ({"login_fields": ["swordfish-4"]}, "login_fields"),
        ({"login_fields": ["password=swordfish-4"], "delay": -1.0}, "delay"),
        ({"login_check": "a["}, "login_check"),
    ],
)
def test_a_log_in_that_cannot_be_used_changes_nothing(bench: Bench, values: dict[str, Any], field: str) -> None:
    logs_in(bench)
    with pytest.raises(BadInput) as told:
        changed(bench, **{"max_pages": 5, **values})
    assert told.value.field == field
    assert "swordfish" not in str(told.value)
    assert (credentials(), Crawl.objects.get().chosen.max_pages) == (EARLIER, None)


@pytest.mark.parametrize("values", [{"login_fields": ["user=ann"]}, {"login_check": "a.me"}])
def test_a_crawl_that_does_not_log_in_cannot_begin_to(bench: Bench, values: dict[str, Any]) -> None:
    bench.start()
    with pytest.raises(BadInput, match="This crawl does not log in"):
        changed(bench, **values)
    assert not AuditEntry.objects.filter(act="crawl.changed").exists()


def test_credentials_under_a_lost_key_are_not_replaced_in_part(bench: Bench) -> None:
    logs_in(bench)
    Crawl.objects.update(sealed="gone")
    with pytest.raises(BadInput, match="SECRET_KEY"):
        changed(bench, login_fields=["user=ann"])
    assert Crawl.objects.get().sealed == "gone"
