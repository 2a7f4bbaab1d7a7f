"""Crawls of a site that wants a log-in, by real workers."""

import gzip
import zlib
from typing import Any
from urllib.parse import quote, quote_plus
from uuid import UUID

import pytest

from tests.login_site import FIELDS, PASSWORD, SIGN, LoginSite
from tests.stack import Stack

pytestmark = pytest.mark.long


def start(stack: Stack, site: LoginSite, **options: Any) -> UUID:
    return stack.start(f"{site.url}/", login_fields=FIELDS, login_url=f"{site.url}/login", **options)


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
