"""Crawls of a site that wants a log-in, by real workers."""

import gzip
import zlib
from typing import Any
from urllib.parse import quote, quote_plus
from uuid import UUID

import pytest

from tests.acceptance.test_killed import kill_with_children
from tests.login_site import FIELDS, PASSWORD, SIGN, LoginSite
from tests.stack import Stack

pytestmark = pytest.mark.long


def start(stack: Stack, site: LoginSite, *, fields: tuple[str, ...] = FIELDS, **options: Any) -> UUID:
    return stack.start(f"{site.url}/", login_fields=fields, login_url=f"{site.url}/login", **options)


def outcomes(stack: Stack, crawl: UUID) -> dict[str, str]:
    return {url: page["outcome"] for url, page in stack.pages(crawl).items()}


@pytest.mark.parametrize("check", ["", SIGN])
def test_two_workers_find_the_members_pages_although_the_session_ends(stack: Stack, check: str) -> None:
    with LoginSite(40, session_pages=18).serving() as site:
        for _ in range(2):
            stack.start_worker()
        crawl = start(stack, site, login_check=check)
        receipt = stack.wait_until_finished(crawl)
    assert outcomes(stack, crawl) == dict.fromkeys(site.expected, "2xx")
    assert (receipt["failed"], site.logouts) == (0, 0)
    assert site.logins >= 3
    stack.wait_for(lambda: not stack.left_over())


def test_a_wrong_password_pauses_the_crawl_with_the_reason_until_the_right_one_is_given(stack: Stack) -> None:
    with LoginSite().serving() as site:
        for _ in range(2):
            stack.start_worker()
        crawl = start(stack, site, fields=("user=ann", "password=wrong-password"))
        for times in (1, 2):
            stack.wait_for(lambda: stack.crawl(crawl)["state"] == "paused")
            assert site.logins == times
            assert stack.crawl(crawl)["pause_reason"] == (
                f"the log-in at {site.url}/login has failed: {site.url}/login shows the form again: check the values "
                "of its fields"
            )
            status = stack.run("python", "manage.py", "status", str(crawl))
            assert "It is paused: the log-in at" in status.stdout + status.stderr
            if times == 1:
                stack.run("python", "manage.py", "resume", str(crawl))
        assert outcomes(stack, crawl) == {f"{site.url}/": ""}
        (stack.folder / "password").write_text(PASSWORD)
        given = ("--login-field", "user=ann", "--login-field", f"password=@{stack.folder / 'password'}")
        changed = stack.run("python", "manage.py", "change", str(crawl), *given)
        assert "Changed: Fields of the log-in form (2)." in changed.stdout
        (stack.folder / "password").unlink()
        assert stack.crawl(crawl)["state"] == "paused"
        stack.run("python", "manage.py", "resume", str(crawl))
        receipt = stack.wait_until_finished(crawl)
    assert outcomes(stack, crawl) == dict.fromkeys(site.expected, "2xx")
    assert (receipt["failed"], site.logins) == (0, 3)
    assert "wrong-password" not in everything(stack)
    assert PASSWORD not in everything(stack)


def test_a_page_that_shows_the_form_to_members_pauses_the_crawl_and_can_be_excluded(stack: Stack) -> None:
    with LoginSite(12, forbidden="/members/5").serving() as site:
        for _ in range(2):
            stack.start_worker()
        crawl = start(stack, site)
        stack.wait_for(lambda: stack.crawl(crawl)["state"] == "paused")
        assert stack.crawl(crawl)["pause_reason"].startswith(f"{site.url}/members/5 shows the log-in form although")
        assert outcomes(stack, crawl)[f"{site.url}/members/5"] == ""
        assert site.logins == 2
        stack.run("python", "manage.py", "change", str(crawl), "--exclude", "/members/5$")
        stack.run("python", "manage.py", "resume", str(crawl))
        stack.wait_until_finished(crawl)
    found = outcomes(stack, crawl)
    assert found.pop(f"{site.url}/members/5") == "excluded"
    assert set(found.values()) == {"2xx"}
    assert stack.crawl(crawl)["pause_reason"] == ""


def test_another_worker_logs_in_when_one_is_killed_while_it_does(stack: Stack) -> None:
    with LoginSite().serving() as site:
        site.before_answer_to_form = 5.0
        doomed = stack.start_worker()
        crawl = start(stack, site)
        stack.wait_for(lambda: site.logins == 1)
        kill_with_children(doomed.pid)
        site.before_answer_to_form = 0.0
        stack.start_worker()
        receipt = stack.wait_until_finished(crawl)
    assert outcomes(stack, crawl) == dict.fromkeys(site.expected, "2xx")
    assert (receipt["failed"], site.logins) == (0, 2)


def test_a_crawl_whose_cookies_are_lost_with_redis_logs_in_again(stack: Stack) -> None:
    with LoginSite(30).serving() as site:
        stack.start_worker()
        stack.spawn("python", "manage.py", "clock")
        crawl = start(stack, site, delay=0.1)
        stack.wait_for(lambda: len(site.requests) > 12)
        stack.redis.flushall()
        receipt = stack.wait_until_finished(crawl)
    assert outcomes(stack, crawl) == dict.fromkeys(site.expected, "2xx")
    assert (receipt["failed"], site.logins) == (0, 2)


def test_password_and_session_are_found_nowhere(stack: Stack) -> None:
    """Neither in Redis while the crawl runs, nor in the database, the logs or an archive."""
    with LoginSite(30, session_pages=20).serving() as site:
        stack.start_worker()
        crawl = start(stack, site, delay=0.05, keep=["warc"])
        in_redis = b""
        while stack.crawl(crawl)["state"] == "running":
            in_redis += b"".join(filter(None, (_dumped(stack, key) for key in stack.redis.keys("*"))))
        receipt = stack.wait_until_finished(crawl)
    assert receipt["failed"] == 0
    assert b"jar" in in_redis
    seen = in_redis + everything(stack).encode(errors="replace")
    for secret in {PASSWORD, quote(PASSWORD), quote_plus(PASSWORD), *site.secrets - site.tokens}:
        assert secret.encode() not in seen
    assert "sid=…" in everything(stack)


def _dumped(stack: Stack, key: bytes) -> bytes:
    """What is under the key, and in it if it is a compressed job."""
    kind = stack.redis.type(key)
    if kind == b"hash":
        values = list(stack.redis.hgetall(key).items())
    elif kind == b"list":
        values = [(key, value) for value in stack.redis.lrange(key, 0, -1)]
    elif kind == b"string":
        values = [(key, stack.redis.get(key) or b"")]
    else:
        return key
    return b"".join(name + _inflated(value) for name, value in values)


def _inflated(value: bytes) -> bytes:
    try:
        return zlib.decompress(value)
    except zlib.error:
        return value


def everything(stack: Stack) -> str:
    """All that the stack's folder holds: database, logs, mails, and kept content."""
    found = []
    for file in stack.folder.rglob("*"):
        if file.is_file() and file.name != "secret_key":
            content = file.read_bytes()
            found.append(gzip.decompress(content) if content.startswith(b"\x1f\x8b") else content)
    return b"\n".join(found).decode(errors="replace")
