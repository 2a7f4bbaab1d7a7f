"""The truth about a simulated web, and that a crawl which differs from it is found out."""

from crawler.core.robots import robots_txt
from tests.sim.answers import OURS, robots_text
from tests.sim.factories import TERMS, asked, log_of, star
from tests.sim.truth import Terms, asked_too_often, differences, truth_of
from tests.sim.world import Answer, Health, Host, Page, Robots, World

ORIGIN = "http://127.0.9.1:80"


def host_with(*pages: Page, **facts: object) -> World:
    """One host whose start page leads to all the others."""
    start = Page("/start", links=tuple((0, place) for place in range(1, len(pages) + 1)))
    return World((Host("127.0.9.1", (start, *pages), **facts),))  # type: ignore[arg-type]  # named by the caller


def closed(world: World, terms: Terms = TERMS) -> dict[str, object]:
    return {url.removeprefix(ORIGIN): found for url, found in truth_of(world, terms).pages.items()}


def test_each_page_closes_with_its_last_answer() -> None:
    world = host_with(
        Page("/missing", Answer.MISSING),
        Page("/broken", Answer.BROKEN),
        Page("/flaky", Answer.FLAKY),
        Page("/busy", Answer.BUSY, retry_after=1),
        Page("/limited", Answer.LIMITED, retry_after=1),
        Page("/moved", Answer.MOVED, target=(0, 1)),
    )
    assert closed(world) == {
        "/start": ("2xx", 200),
        "/missing": ("4xx", 404),
        "/broken": ("5xx", 500),
        "/flaky": ("2xx", 200),
        "/busy": ("2xx", 200),
        "/limited": ("2xx", 200),
        "/moved": ("3xx", 301),
    }


def test_with_one_attempt_trouble_is_the_last_word_and_hides_what_lies_behind() -> None:
    world = host_with(Page("/flaky", Answer.FLAKY, links=((0, 2),)), Page("/limited", Answer.LIMITED, retry_after=1))
    once = Terms(delay=0.2, concurrency=2, attempts=1)
    assert closed(world, once)["/flaky"] == ("5xx", 500)
    assert closed(world, once)["/limited"] == ("4xx", 429)


def test_what_only_a_missing_or_forbidden_page_links_to_is_never_found() -> None:
    start = Page("/start", links=((0, 1), (0, 2)))
    missing, forbidden = Page("/gone", Answer.MISSING, links=((0, 3),)), Page("/no/x", forbidden=True, links=((0, 3),))
    world = World((Host("127.0.9.1", (start, missing, forbidden, Page("/behind")), closed_to="/no/"),))
    assert closed(world) == {"/start": ("2xx", 200), "/gone": ("4xx", 404), "/no/x": ("robots", None)}


def test_hosts_that_cannot_be_had_say_why() -> None:
    assert closed(host_with(health=Health.HANGING)) == {"/start": ("timeout", None)}
    assert closed(host_with(health=Health.REFUSING)) == {"/start": ("connect", None)}
    assert closed(host_with(robots=Robots.DOWN)) == {"/start": ("robots", None)}
    assert closed(host_with(robots=Robots.LATE)) == {"/start": ("2xx", 200)}


def test_a_host_outside_is_not_part_of_it() -> None:
    start = Page("/start", links=((1, 0),))
    world = World((Host("127.0.9.1", (start,)), star(1, 2, inside=False)))
    assert closed(world) == {"/start": ("2xx", 200)}


def test_it_agrees_with_the_reading_of_robots_txt_on_every_page_of_a_web() -> None:
    world = World.from_seed(3, hosts=200, port=8080)
    for number, host in enumerate(world.hosts):
        if host.robots in (Robots.RULES, Robots.NAMED, Robots.LATE):
            rules = robots_txt.parse(robots_text(host))
            allowed = [rules.allows(world.url((number, place)), OURS) for place in range(len(host.pages))]
            assert allowed == [not page.forbidden for page in host.pages]
            assert (rules.crawl_delay(OURS) or 0.0) == host.crawl_delay


def test_a_crawl_that_equals_the_truth_has_no_differences() -> None:
    truth = truth_of(World.from_seed(3, hosts=50, port=8080), TERMS)
    assert differences(truth, dict(truth.pages)) == []


def test_what_a_crawl_missed_invented_or_mistook_is_told() -> None:
    truth = truth_of(host_with(Page("/a"), Page("/b", Answer.MISSING)), TERMS)
    rows = {f"{ORIGIN}/start": ("2xx", 200), f"{ORIGIN}/b": ("2xx", 200), f"{ORIGIN}/c": ("2xx", 200)}
    assert differences(truth, rows) == [
        f"{ORIGIN}/b is ('2xx', 200) and should be ('4xx', 404)",
        f"missing: {ORIGIN}/a ('2xx', 200)",
        f"surplus: {ORIGIN}/c ('2xx', 200)",
    ]


def test_a_page_that_was_asked_for_again_without_need_is_told() -> None:
    truth = truth_of(host_with(Page("/a"), Page("/flaky", Answer.FLAKY)), TERMS)
    enough = [asked(0, "/robots.txt"), asked(1, "/a"), asked(2, "/flaky"), asked(3, "/flaky")]
    assert asked_too_often(truth, log_of(*enough)) == []
    told = asked_too_often(truth, log_of(*enough, asked(4, "/a")))
    assert told == ["host 0: /a was asked for 2 times and needed to be 1 times"]
