"""The figures of the queue of a crawl that runs are the same wherever they are shown."""

import re
from io import StringIO
from typing import Any
from uuid import UUID

import pytest
from django.core.management import call_command

from tests.site import Site, page
from tests.stack import Stack

WORKERS = 1
PAGES = {"/": page("/a", "/b", "/c"), **dict.fromkeys(("/a", "/b", "/c"), page())}
DELAY_S = 600.0  # after the first page the crawl only waits, so that its figures stay as they are
CLOSED, DEAD, ALL = 2, 1, 5
ROUNDED_BY = 0.05001
RATES = {"pages_in": "In", "pages_out": "Out", "retried": "Retried", "dead": "Dead letters"}


def read(crew: Stack, *paths: str) -> list[Any]:
    """What a superuser gets there."""

    def get() -> list[Any]:
        from django.contrib.auth.models import User
        from django.test import Client

        browser = Client()
        browser.force_login(User.objects.get_or_create(username="root", is_superuser=True, is_staff=True)[0])
        return [browser.get(path) for path in paths]

    return crew.within(get)


def of_api(crew: Stack, crawl: UUID) -> Any:
    [response] = read(crew, f"/api/v1/crawls/{crawl}/queue")
    return response.json()


def of_page(crew: Stack, crawl: UUID) -> dict[str, float]:
    [response] = read(crew, f"/crawls/{crawl}/")
    rows = re.findall(r'<th scope="row">([^<]+)</th><td class="number">([\d.]+)</td>', response.content.decode())
    return {name: float(dict(rows)[label]) for name, label in RATES.items()}


def of_command(crew: Stack, crawl: UUID) -> dict[str, float]:
    printed = StringIO()
    crew.within(lambda: call_command("status", str(crawl), stdout=printed))
    [line] = re.findall(r"^Pages a minute: (.*)$", printed.getvalue(), re.MULTILINE)
    told = {label: number for number, label in re.findall(r"([\d.]+) (in|out|retried|dead letters)", line)}
    return {name: float(told[label.lower()]) for name, label in RATES.items()}


def of_metrics(crew: Stack, crawl: UUID) -> tuple[dict[str, float], float]:
    """Pages so far, and for how many seconds its oldest open page is due."""
    [response] = read(crew, "/metrics")
    text = response.content.decode()
    pages = re.findall(rf'^crawler_crawl_pages_total{{crawl="{crawl}",flow="(\w+)"}} (\S+)$', text, re.MULTILINE)
    [age] = re.findall(rf'^crawler_crawl_oldest_due_seconds{{crawl="{crawl}"}} (\S+)$', text, re.MULTILINE)
    return {flow: float(number) for flow, number in pages}, float(age)


def test_api_command_page_and_metrics_agree(crew: Stack) -> None:
    """Rates of a crawl that waits only fall, and the age of its oldest page only grows: what is read between two
    readings of the API lies between these."""
    with Site(PAGES).serving() as site, Site({}).serving() as without_tls:
        crawl = crew.start(f"{site.url}/", f"https://{without_tls.host}/", delay=DELAY_S, obey_robots=False)
        crew.wait_for(lambda: sum(row["status"] for row in crew.pages(crawl).values()) == CLOSED)
        crew.wait_for(lambda: of_api(crew, crawl)["per_minute"]["last_minute"] is not None)
        before = of_api(crew, crawl)
        seen, oldest_seen = of_metrics(crew, crawl)
        told, shown = of_command(crew, crawl), of_page(crew, crawl)
        after = of_api(crew, crawl)
    assert seen == {"in": ALL, "out": CLOSED, "retried": 0.0, "dead": DEAD}
    assert (before["open"], before["dead_letters"]) == (after["open"], after["dead_letters"]) == (ALL - CLOSED, DEAD)
    first, last = before["per_minute"]["last_minute"], after["per_minute"]["last_minute"]
    for reading in (told, shown):
        for name, rate in reading.items():
            rounded_by = ROUNDED_BY if rate < 9.95 else 0.5  # from ten on they are shown in whole pages
            assert last[name] - ROUNDED_BY - rounded_by <= rate <= first[name] + ROUNDED_BY + rounded_by, name
    for rates in (first, last, told, shown):  # that of the one closed page that is a dead letter, times each count
        assert rates["dead"] > 0
        assert rates["retried"] == 0
    assert first["pages_in"] / first["pages_out"] == pytest.approx(ALL / CLOSED, rel=0.1)
    assert first["pages_out"] / first["dead"] == pytest.approx(CLOSED / DEAD, rel=0.1)
    assert before["oldest_due_seconds"] <= oldest_seen + 1.0 <= after["oldest_due_seconds"] + 2.0  # of whole seconds
