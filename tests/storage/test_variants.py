"""What pages say ends endless sites, whatever the part of their URLs is called; honest sites are crawled whole."""

import itertools
from collections.abc import Callable, Iterable, Sequence
from hashlib import blake2b
from typing import NamedTuple
from urllib.parse import parse_qs, urlsplit

import pytest
from django.db import connection, transaction

from crawler.core.html.page_metadata import PageMetadata
from crawler.core.options.catalogue import CrawlOptions
from crawler.core.pages.outcomes import Outcome
from crawler.core.pages.traps import TrapReason
from crawler.core.protocol.discovery import Discovery
from crawler.core.protocol.messages import PageResult
from crawler.core.urls import variants as rules
from crawler.models import Crawl, Page, PageVariants, Trap, VaryingPart
from crawler.storage import quarantine, queries, variants, writer
from tests.databases import sqlite_plans

pytestmark = pytest.mark.django_db

NOW = 1_800_000_000.0
SITE = "https://example.com"
AT_ONCE = 20  # pages that are asked for side by side


class Said(NamedTuple):
    """A page of a made-up site."""

    text: str
    links: Sequence[str] = ()
    title: str = "A page"
    shows_more: bool = False


def new_crawl(options: CrawlOptions | None = None, start: str = "/") -> Crawl:
    crawl = Crawl.objects.create(start_urls=[SITE + start], options=(options or CrawlOptions()).to_plain())
    writer.open_start_pages(crawl, [SITE + start], NOW)
    return crawl


def answer(page: Page, said: Said) -> tuple[PageResult, list[Discovery]]:
    digest = blake2b(said.text.encode(), digest_size=16).digest() if said.text else b""
    result = PageResult(
        id=page.id,
        attempt=1,
        outcome=Outcome.SUCCESS,
        http_status=200,
        title=said.title,
        facts=PageMetadata(digest=digest, shows_more=said.shows_more),
    )
    return result, [Discovery(SITE + link, page.depth + 1, 0, page.id) for link in said.links]


def ask(crawl: Crawl, site: Callable[[str], Said], *, times: int = 1) -> int:
    """Ask for the open pages found first; how many."""
    asked = list(Page.objects.filter(crawl=crawl, status=Page.OPEN).order_by("id")[:AT_ONCE])
    answers = [answer(page, site(page.url.removeprefix(SITE))) for page in asked]
    found = [page for _, led_to in answers for page in led_to]
    for _ in range(times):
        writer.apply(crawl.id, [result for result, _ in answers], [], found, NOW)
    return len(asked)


def crawled(crawl: Crawl, site: Callable[[str], Said], at_most: int = 3000) -> set[str]:
    """Crawl the site to its end; the paths that were asked for."""
    number = 0
    while asked := ask(crawl, site):
        number += asked
        assert number < at_most, "it does not end"
    crawl.refresh_from_db()
    assert crawl.tallies == queries.count_rows(crawl.id)
    rows = Page.objects.filter(crawl=crawl, outcome=Outcome.SUCCESS)
    return {url.removeprefix(SITE) for url in rows.values_list("url", flat=True)}


def traps_of(crawl: Crawl) -> dict[str, Trap]:
    return {trap.pattern: trap for trap in quarantine.shown(crawl)}


class Endless:
    """Sites with ten texts and a new value in every link, which comes from a counter as good as from a die."""

    def __init__(self) -> None:
        self.values = map("{:x}".format, itertools.count(1))

    def some(self, form: str, *numbers: int) -> list[str]:
        return [form.format(number % 10, next(self.values)) for number in numbers]

    def parameter(self, path: str) -> Said:
        number = int(parse_qs(urlsplit(path).query).get("page", ["0"])[0])
        return Said(f"Text {number}", self.some("/list?page={}&x={}", number + 1, number + 3, number + 7))

    def segment(self, path: str) -> Said:
        number = int(path.rpartition("/")[2] or 0)
        return Said(f"Text {number}", self.some("/s/{1}/list/{0}", number + 1, number + 3, number + 7))

    def first_segment(self, path: str) -> Said:
        number = int(path.rpartition("/")[2] or 0)
        return Said(f"Text {number}", self.some("/{1}/list/{0}", number + 1, number + 3, number + 7))

    def behind_semicolon(self, path: str) -> Said:
        number = int(path.partition(";")[0].rpartition("/")[2] or 0)
        return Said(f"Text {number}", self.some("/list/{};x={}", number + 1, number + 3, number + 7))

    def chain(self, path: str) -> Said:
        number = int(parse_qs(urlsplit(path).query).get("page", ["0"])[0])
        return Said(f"Text {number}", self.some("/list?page={}&x={}", number + 1))

    def many_paths(self, path: str) -> Said:
        number = int(urlsplit(path).path[1:] or 0)
        return Said(f"Text {number}", self.some("/{}?x={}", number + 1, number + 3, number + 7))


ENDLESS = [
    (Endless.parameter, "example.com/…?x=*", TrapReason.PARAMETER),
    (Endless.segment, "example.com/s/*", TrapReason.SEGMENT),
    (Endless.first_segment, "example.com/*", TrapReason.SEGMENT),
    (Endless.behind_semicolon, "example.com/…;x=*", TrapReason.PARAMETER),
    (Endless.chain, "example.com/…?x=*", TrapReason.PARAMETER),
    (Endless.many_paths, "example.com/…?x=*", TrapReason.PARAMETER),
]


@pytest.mark.parametrize(("kind", "pattern", "reason"), ENDLESS)
def test_a_new_value_in_every_link_comes_to_an_end(
    kind: Callable[[Endless, str], Said], pattern: str, reason: TrapReason
) -> None:
    crawl, site = new_crawl(), Endless()
    asked = crawled(crawl, lambda path: kind(site, path), at_most=1000)
    [trap] = traps_of(crawl).values()
    assert (trap.pattern, trap.reason) == (pattern, reason)
    assert {kind(site, path).text for path in asked} == {f"Text {number}" for number in range(10)}
    rows = Page.objects.filter(crawl=crawl, outcome=Outcome.TRAP)
    assert rows.count() == trap.quarantined
    assert set(rows.values_list("trap_id", "status")) == {(trap.id, Page.CLOSED)}
    assert all("makes no difference" in row.error for row in rows)


def test_without_quarantine_it_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "MIN_REPEATS", 20)
    crawl, site = new_crawl(CrawlOptions(traps=False)), Endless()
    for _ in range(10):
        assert ask(crawl, site.parameter)
    assert not VaryingPart.objects.exists()


def test_what_is_first_found_with_the_parameter_of_a_trap_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """There is more behind one that is found late, and no link to it without the parameter."""
    monkeypatch.setattr(rules, "MIN_REPEATS", 50)
    crawl, site = new_crawl(), Endless()

    def more_behind(path: str) -> Said:
        if "page=10" in path:
            return Said("Text 10", ["/only-from-here"])
        known = site.parameter(path)
        return Said(known.text, [*known.links, *site.some("/list?page=1{0}&x={1}", 0, 0)])

    while not Trap.objects.exists():
        ask(crawl, site.parameter)
    asked = crawled(crawl, more_behind)
    behind = [path for path in asked if "page=10" in path]
    assert len(behind) == rules.VARIANTS_KEPT
    assert "/only-from-here" in asked


def shop(sold_out: Callable[[int], bool], products: int, leads_on: bool) -> Callable[[str], Said]:
    """Ten products a list; a product that is sold out says nothing else, and `leads_on` to two others."""

    def site(path: str) -> Said:
        query = parse_qs(urlsplit(path).query)
        number = int(query.get("id", query.get("page", ["0"]))[0])
        if "id" not in query:
            lists = [f"/list?page={page}" for page in (number + 1,) if page * 10 < products]
            return Said(f"List {number}", [*(f"/item?id={number * 10 + place}" for place in range(10)), *lists])
        others = [f"/item?id={other % products}" for other in (number * 7 + 1, number * 3 + 2)] if leads_on else []
        return Said("Sold out" if sold_out(number) else f"Product {number}", ["/", *others], title="Shop")

    return site


SHOPS = {
    "none": lambda number: False,
    "three of ten, here and there": lambda number: number * 7919 % 10 < 3,
    "nine of ten, here and there": lambda number: number * 7919 % 10 < 9,
    "the first 200": lambda number: number < 200,
    "all but the first 100": lambda number: number >= 100,
}


@pytest.mark.parametrize("leads_on", [False, True])
@pytest.mark.parametrize("sold_out", [*SHOPS])
def test_a_shop_with_ids_is_crawled_whole(monkeypatch: pytest.MonkeyPatch, sold_out: str, leads_on: bool) -> None:
    monkeypatch.setattr(rules, "MIN_REPEATS", 50)
    crawl = new_crawl()
    asked = crawled(crawl, shop(SHOPS[sold_out], 500, leads_on))
    assert {f"/item?id={number}" for number in range(500)} <= asked
    assert not traps_of(crawl)


def test_a_false_alarm_is_taken_back_by_the_crawl_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of the first products says the same and leads to the next two, so that it looks like a trap."""
    monkeypatch.setattr(rules, "MIN_REPEATS", 50)

    def site(path: str) -> Said:
        number = int(parse_qs(urlsplit(path).query).get("id", ["0"])[0])
        others = [f"/item?id={other}" for other in (number * 2 + 1, number * 2 + 2) if other < 1000]
        return Said("Sold out" if number < 70 else f"Product {number}", others)

    crawl = new_crawl(start="/item?id=0")
    reopened: list[int] = []
    seen: list[int] = []
    while asked := list(Page.objects.filter(crawl=crawl, status=Page.OPEN).order_by("id")[:AT_ONCE]):
        answers = [answer(page, site(page.url)) for page in asked]
        found = [page for _, led_to in answers for page in led_to]
        writer.apply(
            crawl.id, [result for result, _ in answers], [], found, NOW, on_reopened=lambda: reopened.append(1)
        )
        seen.append(Page.objects.filter(crawl=crawl, outcome=Outcome.TRAP).count())
    assert max(seen) > 0, "it was no false alarm"
    assert reopened == [1]
    assert Page.objects.filter(crawl=crawl, outcome=Outcome.SUCCESS).count() == 1000
    assert not traps_of(crawl)
    crawl.refresh_from_db()
    assert crawl.tallies == queries.count_rows(crawl.id)


def test_a_parameter_of_a_trap_that_matters_elsewhere_is_let_be_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "MIN_REPEATS", 50)
    site = Endless()

    def steps(path: str) -> Said:
        if path == "/steps":
            return Said("Steps", [f"/steps?x={number}" for number in range(40)])
        if path.startswith("/steps"):
            return Said(path)
        return Said(site.parameter(path).text, [*site.parameter(path).links, "/steps"])

    crawl = new_crawl()
    while not Trap.objects.exists():
        ask(crawl, site.parameter)
    asked = crawled(crawl, steps)
    assert {f"/steps?x={n}" for n in range(40)} <= asked
    assert [*traps_of(crawl)] == ["example.com/…?x=*"]


def album(shows_more: bool) -> Callable[[str], Said]:
    """Pages with a picture each and nothing to read but "next"."""

    def site(path: str) -> Said:
        number = int(path.rpartition("/")[2] or 0)
        return Said("next", [f"/album/{number + 1}"] if number < 120 else [], shows_more=shows_more)

    return site


def test_pages_with_little_to_read_and_something_to_see_are_no_evidence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "MIN_REPEATS", 50)
    assert len(crawled(new_crawl(), album(shows_more=True))) == 121
    assert len(crawled(new_crawl(), album(shows_more=False))) < 100


def test_pages_without_text_and_with_titles_of_their_own_are_no_evidence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "MIN_REPEATS", 50)
    assert len(crawled(new_crawl(), lambda path: album(False)(path)._replace(text=""))) == 121
    assert len(crawled(new_crawl(), lambda path: album(False)(path)._replace(title=path))) == 121


def test_the_same_text_on_pages_that_lead_nowhere_new_is_no_evidence(monkeypatch: pytest.MonkeyPatch) -> None:
    """A form that every page links to, with the way back."""
    monkeypatch.setattr(rules, "MIN_REPEATS", 50)

    def site(path: str) -> Said:
        if path.startswith("/login"):
            return Said("Please sign in", ["/"])
        number = int(path[1:] or 0)
        return Said(path, [f"/login?next={number}", *([f"/{number + 1}"] if number < 80 else [])])

    crawl = new_crawl()
    assert len(crawled(crawl, site)) == 162
    assert not VaryingPart.objects.exists()


def test_a_report_that_is_taken_in_again_teaches_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "MIN_REPEATS", 50)
    learnt = []
    for reads in (1, 3):
        crawl, site = new_crawl(), Endless()
        for _ in range(6):
            ask(crawl, site.parameter, times=reads)
        groups = PageVariants.objects.filter(part__crawl=crawl)
        learnt.append(
            (
                list(VaryingPart.objects.filter(crawl=crawl).values_list("pages", "same", "different", "checks")),
                sorted(groups.values_list("pages", "same", "different")),
                list(Trap.objects.filter(crawl=crawl).values_list("pages", "quarantined", "left_out")),
            )
        )
    assert learnt[0] == learnt[1]
    assert learnt[0][2], "it was not judged"


def test_what_is_undone_with_its_transaction_was_never_learnt(monkeypatch: pytest.MonkeyPatch) -> None:
    class Killed(Exception):
        """Stands for a death before the commit."""

    monkeypatch.setattr(rules, "MIN_REPEATS", 50)
    crawl, site = new_crawl(), Endless()

    def half_done() -> None:
        with transaction.atomic():
            while not Trap.objects.exists():
                ask(crawl, site.parameter)
            raise Killed

    with pytest.raises(Killed):
        half_done()
    assert not VaryingPart.objects.exists()
    assert not PageVariants.objects.exists()
    crawled(crawl, site.parameter)
    assert len(traps_of(crawl)) == 1


def test_released_its_pages_are_open_and_nothing_is_set_aside_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "MIN_REPEATS", 50)
    crawl, site = new_crawl(), Endless()
    crawled(crawl, site.parameter)
    [trap] = traps_of(crawl).values()
    assert writer.release(crawl.id, quarantine.shown(crawl), NOW) == (1, trap.quarantined)
    for _ in range(20):
        assert ask(crawl, site.parameter) == AT_ONCE
    assert not Page.objects.filter(crawl=crawl, outcome=Outcome.TRAP).exists()
    crawl.refresh_from_db()
    assert crawl.tallies == queries.count_rows(crawl.id)


def test_what_a_sitemap_names_or_a_person_is_not_set_aside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "MIN_REPEATS", 50)
    crawl, site = new_crawl(), Endless()
    listed = [f"{SITE}/list?page=0&x=listed{number}" for number in range(30)]
    found = [Discovery(url, 0, 0, None, linked=False, in_sitemap=True) for url in listed]
    writer.apply(crawl.id, [], [], found[:15], NOW)
    Page.objects.filter(in_sitemap=True).update(due_at=1)  # they are asked for last

    def ask_others() -> None:
        asked = Page.objects.filter(crawl=crawl, status=Page.OPEN, due_at=0).order_by("id")[:AT_ONCE]
        answers = [answer(page, site.parameter(page.url.removeprefix(SITE))) for page in asked]
        found = [page for _, led_to in answers for page in led_to]
        writer.apply(crawl.id, [result for result, _ in answers], [], found, NOW)

    while not Trap.objects.exists():
        ask_others()
    [root] = Page.objects.filter(crawl=crawl, parent_id=None, in_sitemap=False)
    assert root.status == Page.CLOSED
    last = Page.objects.filter(crawl=crawl, status=Page.OPEN, due_at=0).order_by("id").first()
    closing = [answer(last, Said("Sitemap"))[0]] if last else []
    writer.apply(crawl.id, closing, [], found[15:], NOW)
    assert Page.objects.filter(url__in=listed, status=Page.OPEN).count() == 30


def test_a_crawl_without_equal_texts_costs_two_questions(django_assert_num_queries: Callable[[int], object]) -> None:
    crawl = new_crawl()
    ask(crawl, lambda path: Said(path, [f"/{number}" for number in range(AT_ONCE)]))
    asked = list(Page.objects.filter(crawl=crawl, status=Page.OPEN))
    answers = [answer(page, Said(page.url, [f"/{page.id}"])) for page in asked]
    with django_assert_num_queries(2):  # type: ignore[attr-defined]  # pytest-django's fixture has no types
        quarantine.sort_out(crawl, [page for _, led_to in answers for page in led_to], [each for each, _ in answers])


@sqlite_plans
def test_equal_texts_are_looked_up_in_an_index() -> None:
    crawl = new_crawl()
    with connection.execute_wrapper(_explaining(plans := [])):
        variants._twins(crawl, [1, 2, 3])
    assert plans
    lookups = [line for line in plans if "facts_same_text" in line]
    assert lookups
    assert all("crawl_id=? AND digest=?" in line for line in lookups), "it reads more than the equal texts"


def _explaining(plans: list[str]) -> Callable[..., object]:
    def wrapper(execute: Callable[..., object], sql: str, params: object, many: bool, context: object) -> object:
        with connection.cursor() as cursor:
            cursor.cursor.execute(f"EXPLAIN QUERY PLAN {sql % tuple(['?'] * sql.count('%s'))}", params)
            plans.extend(str(line) for line in cursor.cursor.fetchall())
        return execute(sql, params, many, context)

    return wrapper


def test_of_many_parts_those_with_fewest_repetitions_make_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(variants, "FOLLOWED_PARTS", 3)
    crawl = new_crawl()

    def site(path: str) -> Said:
        if path == "/":
            return Said("Start", [f"/{folder}/1" for folder in range(10)])
        _, folder, number = path.split("/")
        repeats = int(number) < (5 if folder == "0" else 3)
        return Said(f"Text {folder}", [f"/{folder}/{int(number) + 1}"] if repeats else [])

    crawled(crawl, site)
    assert VaryingPart.objects.count() == 3
    assert VaryingPart.objects.get(pattern="example.com/0/*").same >= 1
    assert set(PageVariants.objects.values_list("part", flat=True)) == set(
        VaryingPart.objects.values_list("id", flat=True)
    )


def test_another_crawl_learns_for_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "MIN_REPEATS", 50)
    one, site = new_crawl(), Endless()
    crawled(one, site.parameter)
    other = new_crawl()
    assert len(crawled(other, site.parameter)) > 50
    assert len(traps_of(other)) == 1
    one.delete()
    assert VaryingPart.objects.count() == 1


def test_an_honest_part_is_followed_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    crawl = new_crawl()
    crawled(crawl, shop(SHOPS["three of ten, here and there"], 400, leads_on=True))
    parts: Iterable[VaryingPart] = VaryingPart.objects.filter(pattern="example.com/…?id=*")
    assert [part.is_honest for part in parts] == [True]
    assert not PageVariants.objects.filter(part__in=[part.id for part in parts]).exists()
