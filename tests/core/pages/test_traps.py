"""Endless series come to an end by themselves, and honest sites are crawled whole."""

import itertools
from collections import deque
from collections.abc import Callable, Iterable
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.core.pages import traps
from crawler.core.pages.traps import Count, Suspicion, TrapReason, TrapVerdict, judge, suspect
from crawler.core.urls.normalise import normalise
from crawler.core.urls.query_params import TRACKING_PARAMETERS, Parameters
from tests.suites import cases

TODAY = date(2026, 11, 21)
SITE = "https://example.com"
MD5 = "0123456789abcdef0123456789abcdef"

ALONE = [
    ("/docs/docs/docs/", TrapReason.REPEATED),
    ("/a/b1/img/b1/img/b1/img", TrapReason.REPEATED),
    ("/a/a/a/a/a/a/", TrapReason.REPEATED),
    ("/node/x/node/y/node/z/node", TrapReason.REPEATED),
    ("/" + "/".join(f"s{number}" for number in range(25)), TrapReason.LONGER),
    (f"/a?sid={MD5}", TrapReason.SESSION),
    (f"/a;jsessionid={MD5}/b", TrapReason.SESSION),
    ("/calendar/2131/05", TrapReason.DATES),
    ("/?date=1931-05-17", TrapReason.DATES),
    ("/shop?color=red&size=m", TrapReason.FILTERS),
]


@pytest.mark.parametrize(("address", "reason"), ALONE)
def test_a_url_is_suspected_by_itself(address: str, reason: TrapReason) -> None:
    suspicion = suspect(SITE + address, 3, f"{SITE}/", TODAY)
    assert suspicion is not None
    assert suspicion.reason is reason


HONEST = [
    "/",
    "/docs/docs/",  # a project named like its folder
    "/tiles/1/1/1",
    "/pool/a/a/a.html",
    "/f/f/f/picture.jpg",  # named by its digest
    "/2011/11/11/eleven",
    "/title/1/chapter/1/section/1",
    "/2024/05/17/title",
    "/2031/05/17/title",
    "/calendar/2031/12",  # five years ahead
    "/calendar/1996/01",
    "/archive/9123",
    "/viewtopic.php?t=715&start=15",
    "/?page=5000",
    "/item?id=70512",
    "/search?q=word&page=3",
    "/?sid=12",
    "/a?v=" + MD5,
    "/file?X-Amz-Security-Token=" + "x" * 1500,  # signed, and found on a page with a short URL
]


@pytest.mark.parametrize("address", HONEST)
def test_an_honest_url_is_not(address: str) -> None:
    assert suspect(SITE + address, 3, f"{SITE}/", TODAY) is None


@pytest.mark.parametrize("url", cases("honest_urls"))
def test_no_page_of_two_manuals_is(url: str) -> None:
    assert suspect(url, 30, url, TODAY) is None


def test_a_long_url_found_on_a_long_url_is_suspected() -> None:
    before = f"{SITE}/login?next=" + "%2Flogin" * 100
    assert suspect(before + "%2Flogin" * 50, 3, before, TODAY) is not None


@given(st.text(alphabet="ab/12.?&=;-%c", max_size=60), st.integers(0, 3000))
def test_nothing_makes_it_fall_over(rest: str, depth: int) -> None:
    url = normalise(f"{SITE}/{rest}")
    assert url is not None
    suspicion = suspect(url, depth, SITE, TODAY)
    if suspicion:
        _, count = judge(suspicion, Count())
        assert count.pages + count.quarantined == suspicion.counts or count.quarantined == 1


Links = Callable[[str], Iterable[str]]


def crawl(
    start: str, links: Links, *, dropped: Iterable[str] = TRACKING_PARAMETERS
) -> tuple[set[str], dict[Suspicion, Count]]:
    """The paths a crawl asks for, and the counts it ends with."""
    drop = Parameters.of(tuple(dropped))
    counts: dict[bytes, tuple[Suspicion, Count]] = {}
    seen, waiting = {start}, deque([(start, 0)])
    while waiting:
        page, depth = waiting.popleft()
        for link in links(page):
            url = drop.without(normalise(link, SITE + page) or "")
            path = url.removeprefix(SITE)
            if path in seen:
                continue
            suspicion = suspect(url, depth + 1, SITE + page, TODAY)
            if suspicion:
                _, count = counts.get(suspicion.key, (suspicion, Count()))
                verdict, count = judge(suspicion, count)
                counts[suspicion.key] = suspicion, count
                if verdict is not TrapVerdict.LET_IN:
                    seen.update([path] if verdict is TrapVerdict.QUARANTINE else [])
                    continue
            seen.add(path)
            waiting.append((path, depth + 1))
            assert len(seen) < 60_000, "it does not end"
    return seen, dict(counts.values())


def quarantined(counts: dict[Suspicion, Count]) -> dict[TrapReason, int]:
    found: dict[TrapReason, int] = {}
    for suspicion, count in counts.items():
        if count.quarantined:
            found[suspicion.reason] = found.get(suspicion.reason, 0) + count.quarantined
    return found


HONEST_PAGES = {f"/honest/{number}" for number in range(50)}


def beside_honest_pages(trap: Links, *entries: str) -> Links:
    return lambda page: [*entries, *sorted(HONEST_PAGES)] if page == "/" else trap(page)


def calendar(page: str) -> Iterable[str]:
    if not page.startswith("/calendar/"):
        return []
    year, month = map(int, page.split("/")[2:4])
    return [f"/calendar/{year + (month == 12)}/{month % 12 + 1:02}", f"/calendar/{year - 1}/{month:02}", "/"]


def week_by_number(page: str) -> Iterable[str]:
    return [f"/week?nr={int(page.partition('=')[2]) + 1}"] if "nr=" in page else []


def shop(page: str) -> Iterable[str]:
    """Eight filters with three values each: a link changes one of them."""
    if not page.startswith("/shop"):
        return []
    chosen = dict(pair.split("=") for pair in page.partition("?")[2].split("&") if pair)
    changed = ({**chosen, f"f{name}": str(value)} for name in range(8) for value in range(3))
    return ["/shop?" + "&".join(f"{name}={value}" for name, value in sorted(each.items())) for each in changed]


def relative(page: str) -> Iterable[str]:
    return ["docs/a.html", "docs/b.html"] if page.startswith("/manual") else []


def nested_login(page: str) -> Iterable[str]:
    return (
        [f"/login?next={page.replace('%', '%25').replace('?', '%3F').replace('=', '%3D')}"] if "login" in page else []
    )


session = itertools.count()


def board(page: str) -> Iterable[str]:
    """Each page gives its visitor another session, and it is in every link."""
    if not page.startswith("/board"):
        return []
    own = f"sid={next(session):08x}{MD5[8:]}"
    return [f"/board/{number}?{own}" for number in range(20)]


TRAPS = [
    (calendar, "/calendar/2026/11", TrapReason.DATES, 433 + 1000),
    (week_by_number, "/week?nr=1", TrapReason.SERIES, 6000),
    (shop, "/shop", TrapReason.FILTERS, 1 + 24 + 28 * 9 + 200),
    (relative, "/manual/", TrapReason.REPEATED, 10),
    (nested_login, "/login", TrapReason.LONGER, 60),
]


@pytest.mark.parametrize(
    ("trap", "entry", "reason", "at_most"), TRAPS, ids=lambda value: getattr(value, "__name__", None)
)
def test_a_trap_ends_by_itself_and_costs_no_honest_page(
    trap: Links, entry: str, reason: TrapReason, at_most: int
) -> None:
    seen, counts = crawl("/", beside_honest_pages(trap, entry))
    assert seen >= HONEST_PAGES
    assert set(quarantined(counts)) == {reason}
    assert len(seen) - len(HONEST_PAGES) - quarantined(counts)[reason] <= at_most + 10


def test_session_ids_are_dropped_and_every_page_is_asked_for_once() -> None:
    seen, counts = crawl("/", beside_honest_pages(board, "/board"))
    assert seen == {"/", "/board", *HONEST_PAGES, *(f"/board/{number}" for number in range(20))}
    assert not counts


def test_session_ids_that_are_not_to_be_dropped_are_quarantined() -> None:
    seen, counts = crawl("/", beside_honest_pages(board, "/board"), dropped=())
    assert seen >= HONEST_PAGES
    assert quarantined(counts) == {TrapReason.SESSION: 20}


def pagination(page: str) -> Iterable[str]:
    number = int(page.partition("=")[2] or 1)
    return [f"/?page={number + 1}"] if number < 5000 else []


def archive_by_day(page: str) -> Iterable[str]:
    if page != "/":
        return []
    return [
        f"/{year}/{month:02}/{day:02}/" for year in range(2006, 2027) for month in range(1, 13) for day in range(1, 29)
    ]


def discussions(page: str) -> Iterable[str]:
    if page != "/":
        return []
    topics = range(1000)
    return [
        f"/viewtopic.php?f={topic % 30}&t={topic}&view={view}" for topic in topics for view in ("print", "new", "all")
    ]


def goods_by_id(page: str) -> Iterable[str]:
    return (
        [f"/item?id={number}&lang={tongue}" for number in range(1500) for tongue in ("en", "de", "fr")]
        if page == "/"
        else []
    )


def small_shop(page: str) -> Iterable[str]:
    if page != "/":
        return []
    return [
        f"/shop?color={color}&size={size}&sort={sort}" for color in range(10) for size in range(5) for sort in range(4)
    ]


def encyclopedia(page: str) -> Iterable[str]:
    if page != "/":
        return []
    return [f"/index.php?title=T{number}&action={act}&oldid={number * 7}" for number in range(700) for act in "vehd"]


@pytest.mark.parametrize(
    ("links", "pages"),
    [
        (pagination, 5000),
        (archive_by_day, 1 + 21 * 12 * 28),
        (discussions, 1 + 3000),
        (goods_by_id, 1 + 4500),
        (small_shop, 1 + 200),
        (encyclopedia, 1 + 2800),
    ],
)
def test_an_honest_site_is_crawled_whole(links: Links, pages: int) -> None:
    seen, counts = crawl("/", links)
    assert quarantined(counts) == {}
    assert len(seen) == pages


def test_all_categories_of_a_shop_make_one_trap() -> None:
    first = suspect(f"{SITE}/goods/shoes?a=1&b=2&c=3", 3, SITE, TODAY)
    second = suspect(f"{SITE}/goods/hats?a=1&b=2&d=3&e=4", 3, SITE, TODAY)
    assert first is not None
    assert second is not None
    assert first.key == second.key


def test_beyond_its_rows_a_trap_is_counted_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(traps, "MAX_QUARANTINED", 2)
    suspicion, count, verdicts = Suspicion(TrapReason.REPEATED, "x"), Count(), []
    for _ in range(4):
        verdict, count = judge(suspicion, count)
        verdicts.append(verdict)
    assert verdicts == [TrapVerdict.QUARANTINE] * 2 + [TrapVerdict.LEAVE_OUT] * 2
    assert (count.quarantined, count.left_out) == (2, 2)


def test_a_released_trap_lets_everything_in() -> None:
    verdict, count = judge(Suspicion(TrapReason.REPEATED, "x"), Count(quarantined=5, released=True))
    assert verdict is TrapVerdict.LET_IN
    assert count.pages == 1
