"""A crawl logs in at a form, stays logged in, and says why it cannot."""

from io import BytesIO
from typing import Any

import pytest
from redis import Redis

from crawler.capabilities.browser.result import Rendering
from crawler.capabilities.browser.rules import RenderChoices
from crawler.capabilities.login.form import LoginFailed, LoginForm
from crawler.capabilities.login.keeper import Session
from crawler.capabilities.login.sessions import MAX_TIMES_SHOWN, Logins, LoginState
from crawler.core.access.credentials import parse
from crawler.core.access.reach import OPERATOR
from crawler.core.errors import BadInput
from crawler.core.extraction.rules import FieldRule
from crawler.core.options.catalogue import CrawlOptions
from crawler.core.protocol.fetch_policy import FetchPolicy
from crawler.crawls import control
from crawler.crawls.change import change
from crawler.crawls.import_urls import load_list
from crawler.crawls.start import start_crawl
from crawler.encryption import seal, seal_cookies
from crawler.fetcher.preview import preview
from crawler.frontier.keys import CrawlKeys
from crawler.http.client import HttpFetcher
from crawler.http.fetcher import FetchResult
from crawler.models import Crawl, Page
from crawler.reports.diagnosis_facts import held_because
from tests.bench import Bench
from tests.http.secure import EVERY_NAME
from tests.login_site import FIELDS, SIGN, LoginSite
from tests.manager.test_rendering import come, work
from tests.rendering_twin import Browser
from tests.site import Answer, Reply, Server, Site, moved, page

FORM = '<form method="post" action="/in"><input name="user"><input name="password" type="password"></form>'
HIDDEN = "https://other.example"


def start(site: Server, *fields: str, **options: Any) -> Crawl:
    chosen = CrawlOptions(**{"login_url": f"{site.url}/login", **options})
    sealed = seal(parse(login_fields=fields or FIELDS))
    return start_crawl([f"{site.url}/"], chosen, allow_private=True, sealed=sealed)


def outcomes(crawl: Crawl) -> dict[str, str]:
    return {one.url: one.outcome for one in Page.objects.filter(crawl=crawl)}


def policy_of(origin: str, check: str = "") -> FetchPolicy:
    return FetchPolicy(
        user_agent="Tester/1",
        obey_robots=False,
        delay=0.0,
        concurrency=1,
        private_hosts=(),
        max_body_bytes=10**6,
        own_hosts=(origin,),
        login_url=f"{origin}/login",
        login_check=check,
    )


def log_in(pages: dict[str, Answer], *, check: str = "") -> Site:
    """Log in once at this site; the site, with what it was sent."""
    site = Site({"/login": FORM, **pages})
    policy = policy_of(site.url, check)
    form = LoginForm(policy, (("user", "ann"), ("password", "pass-9")))
    with site.serving(), HttpFetcher(EVERY_NAME, "Tester/1", own_hosts=[site.url]) as fetcher:
        form.log_in(fetcher, lambda: True)
    return site


def test_a_crawl_finds_what_a_member_finds_and_does_not_log_out(bench: Bench) -> None:
    with LoginSite(session_pages=9).serving() as site:
        crawl = start(site, login_check=SIGN)
        bench.work()
    assert outcomes(crawl) == dict.fromkeys(site.expected, "2xx")
    assert (site.logins, site.logouts) == (2, 0)
    crawl.refresh_from_db()
    assert crawl.state == "finished"


def test_a_wrong_password_pauses_it_and_says_so(bench: Bench) -> None:
    with LoginSite().serving() as site:
        crawl = start(site, "user=ann", "password=wrong")
        bench.work()
        crawl.refresh_from_db()
        assert (crawl.state, site.logins, outcomes(crawl)) == ("paused", 1, {f"{site.url}/": ""})
        assert held_because(crawl, 0.0) == (
            f"It is paused: the log-in at {site.url}/login has failed: {site.url}/login shows the form again: check "
            "the values of its fields. Resume it to try again."
        )
        control.resume(crawl.id)
        bench.work()
    crawl.refresh_from_db()
    assert (crawl.state, site.logins, crawl.outcomes) == ("paused", 2, {})


def test_with_the_right_password_given_later_nothing_is_lost(bench: Bench) -> None:
    with LoginSite().serving() as site:
        crawl = start(site, "user=ann", "password=wrong")
        bench.work()
        assert change(crawl.id, {"login_fields": FIELDS}, by=OPERATOR)
        bench.work()
        crawl.refresh_from_db()
        assert (crawl.state, site.logins) == ("paused", 1)
        control.resume(crawl.id)
        bench.work()
    crawl.refresh_from_db()
    assert (crawl.state, crawl.pause_reason, site.logins) == ("finished", "", 2)
    assert outcomes(crawl) == dict.fromkeys(site.expected, "2xx")


def test_a_batch_with_the_earlier_password_does_not_send_it_any_more(bench: Bench) -> None:
    """It hands its page back, and the next batch with it logs in."""
    with LoginSite().serving() as site:
        crawl = start(site, "user=ann", "password=wrong")
        bench.work("crawl", at_most=1)
        assert bench.jobs("fetch")
        change(crawl.id, {"login_fields": FIELDS}, by=OPERATOR)
        bench.work()
    crawl.refresh_from_db()
    assert (crawl.state, site.logins) == ("finished", 1)
    assert outcomes(crawl) == dict.fromkeys(site.expected, "2xx")


def test_a_changed_log_in_ends_the_session_and_a_log_in_under_way(real_redis: Redis) -> None:
    logins = Logins(real_redis, CrawlKeys("c"))
    assert logins.acquire_lock("a")
    assert logins.begin_session("a", seal_cookies(b"[]"))
    session = logins.read().session
    logins.note_shown(session, 1, "why")
    assert logins.acquire_lock("b")
    logins.forget("first")
    assert not logins.begin_session("b", seal_cookies(b"[]"))
    assert logins.read(1, "first") == LoginState(is_outdated=True)
    assert logins.acquire_lock("c")
    assert logins.fail("c", "the second is wrong, too")
    logins.forget("second")
    assert [logins.read(1, sealed).is_outdated for sealed in ("first", "second", "third")] == [True, True, False]
    assert logins.failure() == ""


def test_a_page_that_only_others_may_see_pauses_it_and_no_other_is_lost(bench: Bench) -> None:
    with LoginSite(forbidden="/members/5").serving() as site:
        crawl = start(site)
        bench.work()
    crawl.refresh_from_db()
    assert crawl.state == "paused"
    assert crawl.pause_reason.startswith(f"{site.url}/members/5 shows the log-in form although the log-in worked")
    assert outcomes(crawl)[f"{site.url}/members/5"] == ""
    assert site.logins == 2


def test_a_page_that_showed_the_form_to_a_worker_that_died_does_not_pause_it_when_another_session_ends(
    bench: Bench, real_redis: Redis
) -> None:
    with LoginSite().serving() as site:
        crawl = start(site)
        while not site.shown_since_login:
            bench.work(at_most=1)
        logins = Logins(real_redis, CrawlKeys(str(crawl.id)))
        bench.work("crawl")
        waiting = Page.objects.filter(crawl=crawl, status=Page.OPEN).values_list("id", flat=True)
        assert (
            [logins.note_shown(logins.read().session, page, "why") for page in waiting] == [True] * len(waiting) != []
        )
        site.end_sessions()
        bench.work()
    crawl.refresh_from_db()
    assert (crawl.state, crawl.pause_reason) == ("finished", "")
    assert outcomes(crawl) == dict.fromkeys(site.expected, "2xx")


def test_while_another_worker_logs_in_again_no_page_is_requested_in_the_session_that_has_ended(
    bench: Bench, real_redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That one is killed in the middle of it, and its lock expires."""
    monkeypatch.setattr("crawler.capabilities.login.sessions.LOCK_TTL_S", 2)
    with LoginSite().serving() as site:
        crawl = start(site)
        while not site.shown_since_login:
            bench.work(at_most=1)
        bench.work("crawl")
        site.end_sessions()
        assert Logins(real_redis, CrawlKeys(str(crawl.id))).acquire_lock("a worker that dies")
        before = site.forms
        bench.work()
    crawl.refresh_from_db()
    assert (crawl.state, crawl.pause_reason) == ("finished", "")
    assert outcomes(crawl) == dict.fromkeys(site.expected, "2xx")
    assert site.logins == 2
    assert site.forms - before <= 4, "in place of the page, then for the log-in, and as a page of the crawl"


def test_a_page_that_shows_the_form_in_one_batch_after_another_fails_the_log_in_in_the_end(real_redis: Redis) -> None:
    logins = Logins(real_redis, CrawlKeys("c"))
    assert logins.acquire_lock("a")
    assert logins.begin_session("a", seal_cookies(b"[]"))
    session = logins.read().session
    assert [logins.note_shown(session, 1, "why") for _ in range(MAX_TIMES_SHOWN)] == [True] * (MAX_TIMES_SHOWN - 1) + [
        False
    ]
    assert logins.failure() == "why"


def test_a_session_that_ends_again_and_again_pauses_it(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawler.capabilities.login.sessions.MAX_LOGINS_PER_HOUR", 3)
    with LoginSite(session_pages=2).serving() as site:
        crawl = start(site)
        bench.work()
    crawl.refresh_from_db()
    assert crawl.state == "paused"
    assert "the site ended the session " in crawl.pause_reason
    assert site.logins == 3


def test_the_cookies_that_pages_set_are_shared_and_none_is_lost(real_redis: Redis) -> None:
    """Two workers get one cookie each, in the same session; what a response of an earlier session sets is dropped."""
    logins = Logins(real_redis, CrawlKeys("c"))
    host = "http://example.com"
    policy = policy_of(host)
    assert logins.acquire_lock("a")
    assert not logins.acquire_lock("b")
    first, second = Session(policy, logins), Session(policy, logins)
    first.cookies.note(f"{host}/", ["sid=1"])
    assert logins.begin_session("a", seal_cookies(first.cookies.dumped()))
    session = first.read(1).session
    assert second.read(2).session == session
    for worker, header in ((first, "a=1"), (second, "b=2")):
        worker.cookies.note(f"{host}/", [header])
        worker.keep(worker.cookies, session)
    first.read(1)
    assert sorted(first.cookies.pairs(f"{host}/")) == ["a=1", "b=2", "sid=1"]
    late = second.cookies
    assert logins.acquire_lock("b")
    assert logins.begin_session("b", seal_cookies(b"[]"))
    late.note(f"{host}/", ["sid=ended"])
    second.keep(late, session)
    second.read(2)
    assert second.cookies.pairs(f"{host}/") == []


@pytest.mark.parametrize(
    ("pages", "check", "said"),
    [
        ({"/login": "<p>nothing"}, "", "has no form with the fields password, user"),
        ({"/login": Reply("x", 500)}, "", "the page with the form cannot be loaded"),
        ({"/login": moved("/login")}, "", "redirects more than 10 times in a row"),
        ({"/login": moved(f"{HIDDEN}/login")}, "", f"redirects to {HIDDEN}, which is not one of the crawl's own hosts"),
        ({"/login": FORM.replace("/in", f"{HIDDEN}/in")}, "", f"the form is sent to {HIDDEN}, which is not one"),
        ({"/login": FORM.replace("post", "get")}, "", "would send the password in a URL"),
        ({"/in": Reply("x", 403)}, "", "the site rejected the log-in: "),
        ({"/in": FORM}, "", "shows the form again"),
        ({"/in": "<p>hello"}, SIGN, "which shows that the log-in worked"),
        ({"/in": moved(f"{HIDDEN}/")}, "", f"redirects to {HIDDEN}, which is not one of the crawl's own hosts"),
    ],
)
def test_it_says_why_it_failed(pages: dict[str, Answer], check: str, said: str) -> None:
    with pytest.raises(LoginFailed) as failed:
        log_in(pages, check=check)
    assert said in str(failed.value)
    assert "pass-9" not in str(failed.value)


@pytest.mark.parametrize(
    "pages",
    [
        {"/in": page()},
        {"/in": moved("/home"), "/home": f"{FORM}<a class=account>"},
        {"/login": moved("/de/login"), "/de/login": FORM, "/in": '<a class="account">'},
        {"/login": Reply(FORM, 401), "/in": '<a class="account">'},
        {"/login": FORM.replace("/in", "in2"), "/in2": moved("/in", 307), "/in": '<a class="account">'},
    ],
)
def test_it_works(pages: dict[str, Answer]) -> None:
    site = log_in(pages, check=SIGN if "account" in str(pages) else "")
    (posted, *_) = [request for request in site.requests if request.body]
    assert posted.body == b"user=ann&password=pass-9"
    assert posted.headers["Origin"] == site.url


@pytest.mark.parametrize(
    ("options", "fields", "field"),
    [
        ({"login_url": ""}, FIELDS, "login_url"),
        ({}, (), "login_fields"),
        ({"login_url": "https://other.example/login"}, FIELDS, "login_url"),
        ({"login_url": "", "login_check": SIGN}, (), "login_check"),
        ({"response_ttl": 60.0}, FIELDS, "login_url"),
        ({"render": "auto", "keep": ("warc",)}, FIELDS, "login_url"),
    ],
)
def test_what_does_not_fit_together_is_refused(
    bench: Bench, options: dict[str, Any], fields: tuple[str, ...], field: str
) -> None:
    chosen = CrawlOptions(**{"login_url": f"{bench.site.url}/login", **options})
    with pytest.raises(BadInput) as refused:
        start_crawl([bench.site.url], chosen, allow_private=True, sealed=seal(parse(login_fields=fields)))
    assert refused.value.field == field


def test_a_list_may_name_a_logout_which_is_not_requested(bench: Bench) -> None:
    with LoginSite(2).serving() as site:
        sealed = seal(parse(login_fields=FIELDS))
        chosen = CrawlOptions(login_url=f"{site.url}/login", hosts=(site.host,))
        lines = f"{site.url}/members/0\n{site.url}/logout\n".encode()
        crawl = load_list(BytesIO(lines), "list.txt", chosen, allow_private=True, sealed=sealed)
        bench.work()
    assert outcomes(crawl) == {f"{site.url}/members/0": "2xx", f"{site.url}/logout": "excluded"}
    assert site.logouts == 0


def test_extraction_rules_are_tried_on_a_page_behind_the_log_in() -> None:
    with LoginSite(2).serving() as site:
        chosen = CrawlOptions(
            fields=(FieldRule(name="me", selector=SIGN),), obey_robots=False, login_url=f"{site.url}/login"
        )
        for fields, value in ((FIELDS, "me"), (("user=ann", "password=wrong"), None)):
            sealed = seal(parse(login_fields=fields))
            told = preview(f"{site.url}/members/1", chosen, start_urls=[site.url], allow_private=True, sealed=sealed)
            assert [row.value for row in told.rows] == ([value] if value else [])
            assert bool(told.trouble) == (value is None)


def test_what_a_rendered_page_requests_of_its_own_host_gets_the_cookies(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    class Asking(Browser):
        """Every page requests something of its own host, and of another one."""

        def render(self, url: str, fetched: FetchResult, choices: RenderChoices, **more: Any) -> Rendering:
            asked.extend([more["headers_for"](url).get("Cookie"), more["headers_for"](f"{HIDDEN}/x").get("Cookie")])
            return super().render(url, fetched, choices, **more)

    Asking({}).installed(monkeypatch)
    with LoginSite(3).serving() as site:
        bench.crawl = start(site, render="always")
        come()
        work(bench)
    assert outcomes(bench.crawl) == dict.fromkeys(site.expected, "2xx")
    assert set(asked[::2]) <= {f"sid={secret}" for secret in site.secrets}
    assert set(asked[1::2]) == {None}
    assert len(asked) == 2 * len(site.expected)
