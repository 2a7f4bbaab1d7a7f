"""A crawl with extraction rules: what they find stands beside each page, and is shared with nobody who has others."""

from typing import Any

import pytest

from crawler.core.extraction import extractor
from crawler.core.extraction.rules import FieldRule
from crawler.core.options.catalogue import CrawlOptions
from crawler.core.pages.cache_policy import cache_partition
from crawler.models import Page, PageFacts
from tests.bench import Bench
from tests.site import Reply, page

RULES = (FieldRule(name="heading", selector="h1"), FieldRule(name="price", selector="b", type="number"))
PAGES = {
    "/": page("/a", "/text", title="Home"),
    "/a": "<h1>A kettle</h1><b>12,50</b>",
    "/text": Reply("<h1>none</h1>", headers={"Content-Type": "text/plain"}),
}


def found(bench: Bench, path: str) -> tuple[dict[str, Any], dict[str, str]]:
    page_id = Page.objects.get(crawl=bench.crawl, url=f"{bench.site.url}{path}").id
    facts = PageFacts.objects.get(page_id=page_id)
    return facts.fields, facts.notes


@pytest.mark.site(PAGES)
def test_fields_stand_beside_each_page(bench: Bench) -> None:
    bench.run(fields=RULES)
    assert bench.state() == "finished"
    assert found(bench, "/a") == ({"heading": "A kettle", "price": 12.5}, {})
    assert found(bench, "/") == ({"heading": None, "price": None}, {})
    assert found(bench, "/text") == ({}, {})


@pytest.mark.site(PAGES)
def test_a_rule_may_be_written_in_xpath(bench: Bench) -> None:
    rules = (FieldRule(name="heading", xpath="//h1/text()"), FieldRule(name="price", xpath="//b", type="number"))
    bench.run(fields=rules)
    assert found(bench, "/a") == ({"heading": "A kettle", "price": 12.5}, {})


@pytest.mark.site(PAGES)
def test_a_fault_of_ours_costs_no_page(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    def faulty(*given: object) -> extractor.Extraction:
        raise ZeroDivisionError("a fault")

    monkeypatch.setattr(extractor, "extract", faulty)
    bench.run(fields=RULES)
    assert not Page.objects.exclude(outcome="2xx").exists()
    assert found(bench, "/a")[1] == dict.fromkeys(("heading", "price"), "the extraction rules could not read the page")


@pytest.mark.site({"/": "<h1>Home</h1>"})
def test_remembered_answers_are_used_by_crawls_with_the_same_rules_alone(bench: Bench) -> None:
    for rules in (RULES, RULES, RULES[:1], ()):
        bench.run(fields=rules, response_ttl=600.0)
    assert bench.site.hits["/"] == 3
    last_with_both = Page.objects.filter(reused=True).get()
    assert PageFacts.objects.get(page_id=last_with_both.id).fields == {"heading": "Home", "price": None}


def test_crawls_without_rules_share_answers_as_they_did() -> None:
    assert cache_partition(CrawlOptions()) == b""
    assert cache_partition(CrawlOptions(fields=RULES)) not in (b"", cache_partition(CrawlOptions(fields=RULES[:1])))
