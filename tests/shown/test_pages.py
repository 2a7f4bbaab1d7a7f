"""Every address of the web pages and of the admin, with what strangers wrote in all places: a browser's parser finds no
element, attribute or address in it that one of those texts has made."""

import re
from collections.abc import Iterable, Iterator
from itertools import product
from typing import Any
from urllib.parse import quote

from django.contrib import admin
from django.contrib.auth.models import User
from django.test import Client
from django.urls import URLPattern, reverse
from django_rq.urls import get_admin_urlpatterns
from redis import Redis
from rq.worker import Worker
from selectolax.lexbor import LexborHTMLParser

from crawler.core.pages.content_formats import FORMS
from crawler.models import Channel, Crawl, Delivery, Page, Schedule
from crawler.reports.catalogue.entries import REPORTS
from crawler.reports.comparison import CHANGES
from crawler.web import urls
from tests.evil import ADDRESSES, EVERYTHING, MARK, a_failed_job
from tests.shown.looking import html_faults

PLACE = re.compile(r"<(?:\w+:)?(\w+)>")
PATTERNS = [pattern for pattern in urls.urlpatterns if isinstance(pattern, URLPattern)]
assert len(PATTERNS) == len(urls.urlpatterns), "what is included there is not looked at"

WITHOUT = {
    # addresses at which nothing is shown that a stranger wrote: what is
    "crawl-pages-export": "a file",
    "crawl-export": "a file",
    "crawl-report-export": "a file",
    "crawl-comparison-export": "a file",
    "crawl-status": "JSON",
    "crawl-graph-data": "JSON",
    "page-content": "plain text",
    "account-password": "a form",
    "login": "a form",
    "login-link": "a sentence",
    "invitation": "a sentence",
    "healthz": "a word",
    "readyz": "JSON",
    "metrics": "numbers",
}
OF_RUNNING = {"crawl-detail", "crawl-status", "crawl-why", "crawl-figures"}
"""What says more of a crawl that runs."""

DATA = {name for name, what in WITHOUT.items() if what in {"a file", "JSON"}}
"""Looked at in `test_data`."""


def places_of(name: str, crawl: Crawl, other: Crawl) -> dict[str, Iterable[object]]:
    """What stands in the places of an address."""
    pages = list(Page.objects.filter(crawl=crawl).order_by("pk"))
    script = next(page for page in pages if page.url == ADDRESSES[0])
    changes = [change.slug for change in CHANGES]
    return {
        "crawl_id": [crawl.pk, other.pk] if name in OF_RUNNING else [crawl.pk],
        "other_id": [other.pk],
        "page_id": [pages[0].pk, script.pk, pages[-5].pk],
        "export_format": ["csv"],
        "slug": changes if "comparison" in name else [report.slug for report in REPORTS],
        "form": FORMS,
        "host": ["example.com"],
        "key": ["2xx-200"],
        "schedule_id": Schedule.objects.values_list("pk", flat=True)[:1],
        "delivery_id": Delivery.objects.values_list("pk", flat=True)[:1],
        "channel_id": Channel.objects.values_list("pk", flat=True)[:1],
        "token_id": [1],
        "uidb64": ["MQ"],
        "token": ["abc-def"],
    }


def filled(route: str, places: dict[str, Iterable[object]]) -> Iterator[str]:
    """The route's addresses with all that can stand in its places."""
    names = PLACE.findall(route)
    for values in product(*(places[name] for name in names)):
        given = dict(zip(names, values, strict=True))
        yield "/" + PLACE.sub(lambda found, given=given: str(given[found[1]]), route)


def page_of(response: Any) -> str:
    """Its HTML; "" when it is something else."""
    return response.content.decode() if response["Content-Type"].startswith("text/html") else ""


def test_no_text_becomes_more_than_text_on_any_page(as_root: Client, crawl: Crawl, other: Crawl) -> None:
    faults, shown, behind = list[str](), set[str](), set[str]()
    for pattern in PATTERNS:
        name = str(pattern.name)
        for address in () if name in DATA else filled(str(pattern.pattern), places_of(name, crawl, other)):
            response = as_root.get(address)
            page = page_of(response)
            faults += html_faults(page, address)
            shown |= {name} if MARK in page or response.status_code == 405 else set()
            behind |= lines_of(page) if name == "crawl-report" else set()
    assert faults == []
    assert shown | WITHOUT.keys() == {str(pattern.name) for pattern in PATTERNS}
    assert len(behind) > 20
    for address in sorted(behind)[:: len(behind) // 10]:
        assert html_faults(page_of(as_root.get(address)), address) == []


def lines_of(page: str) -> set[str]:
    """The addresses behind the lines of a report."""
    links = LexborHTMLParser(page).css("td a[href*='/reports/']")
    return {str(link.attrs["href"]) for link in links}


def test_what_is_typed_or_answered_to_a_button_is_text_too(
    as_root: Client, root: User, crawl: Crawl, other: Crawl
) -> None:
    """What is said of what was done stands on the page that is opened next."""
    typed = dict.fromkeys(_fields(as_root), EVERYTHING)
    assert len(typed) > 50
    for pattern in sorted(PATTERNS, key=lambda pattern: pattern.name == "crawl-delete"):
        if str(pattern.name) in WITHOUT or "export" in str(pattern.name):
            continue
        address = next(filled(str(pattern.pattern), places_of(str(pattern.name), crawl, other)))
        as_root.force_login(root)
        assert html_faults(page_of(as_root.post(address, typed)), address) == []
    page = page_of(as_root.get("/account/"))
    assert html_faults(page, "/account/") == []
    assert "Deleted: the crawl of" in page


def _fields(browser: Client) -> set[str]:
    """The names of all that can be typed."""
    pages = [browser.get(reverse(name)) for name in ("crawl-list", "account", "channel-list", "token-list")]
    found = (LexborHTMLParser(page_of(page)).css("input, textarea, select") for page in pages)
    names = {node.attrs.get("name") for nodes in found for node in nodes}
    return {name for name in names if name} - {"csrfmiddlewaretoken"}


OF_RQ = ("window.location='/admin/django_rq/", "event.stopPropagation();")
"""Handlers its pages have of their own; the security policy lets none of them run."""


def test_no_text_becomes_more_than_text_in_the_admin(as_root: Client, crawl: Crawl) -> None:
    shown = set[str]()
    for address in admin_addresses():
        page = page_of(as_root.get(address))
        assert html_faults(page, address, own=("\0",)) == []
        shown |= {address.split("/")[3]} if MARK in page else set()
    assert {"crawl", "page", "trap", "schedule", "notice", "delivery", "channel", "disagreement", "apitoken"} <= shown


def admin_addresses() -> Iterator[str]:
    """The list of every table and its first row; a search, and what is asked before something is deleted."""
    yield "/admin/"
    for model in admin.site._registry:
        if model._meta.app_label not in {"crawler", "auth"}:
            continue
        beginning = f"/admin/{model._meta.app_label}/{model._meta.model_name}/"
        yield beginning
        for key in model._default_manager.values_list("pk", flat=True)[:1]:
            yield f"{beginning}{key}/change/"
    yield from (f"/admin/crawler/page/?q={MARK}", f"/admin/crawler/crawl/{Crawl.objects.all()[0].pk}/delete/")


def test_no_text_becomes_more_than_text_on_the_dashboard_of_the_queues(
    as_root: Client, crawl: Crawl, real_redis: Redis
) -> None:
    job, worker = a_failed_job(real_redis), Worker(["crawl"], name=f'"><b>{MARK}', connection=real_redis)
    worker.register_birth()
    result = job.latest_result().id
    places: dict[str, Iterable[object]] = {
        "queue_index": [0],
        "job_id": [job.id],
        "result_id": [result],
        "key": [quote(worker.key)],
    }
    shown = 0
    for pattern in get_admin_urlpatterns():
        if "scheduler" in str(pattern.pattern):
            continue  # of a package that is not here
        for route in filled(str(pattern.pattern), places):
            address = f"/admin/django_rq/dashboard{route}"
            page = page_of(as_root.get(address))
            assert html_faults(page, address, own=OF_RQ) == []
            shown += MARK in page
    assert shown >= 3
