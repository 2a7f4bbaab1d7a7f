"""What is remembered of robots.txt files: for a day, for all crawls, and by one asker at a time."""

import pytest
from redis import Redis

from crawler.core.pages.outcomes import Outcome
from crawler.frontier import keys
from crawler.frontier.robots import LOCK_TTL_S, UNREACHABLE_TTL_S, RobotsCache, RobotsEntry

ORIGIN = "https://example.com"
RULES = RobotsEntry(status=200, outcome=Outcome.SUCCESS, body=b"\xef\xbb\xbf\xff\0", oddity="odd", error="")


def test_what_is_kept_is_found_again_octet_for_octet_by_everyone(redis: Redis) -> None:
    RobotsCache(redis).put(ORIGIN, RULES, reachable=True)
    assert RobotsCache(redis).get(ORIGIN) == RULES


def test_it_is_kept_for_a_day_and_no_longer(redis: Redis) -> None:
    RobotsCache(redis).put(ORIGIN, RULES, reachable=True)
    assert 86_390 < redis.ttl(keys.robots(ORIGIN)) <= 86_400


@pytest.mark.parametrize(
    ("crawl", "sealed", "private_hosts", "is_found"),
    [
        ("one", "", (), False),
        ("one", "sealed", ("b", "a"), False),
        ("another", "", ("b", "a"), True),
        ("another", "", ("a", "b"), True),
        ("another", "", ("a",), False),
    ],
)
def test_what_a_crawl_may_read_is_found_by_those_that_may_ask_the_same(
    redis: Redis, crawl: str, sealed: str, private_hosts: tuple[str, ...], is_found: bool
) -> None:
    RobotsCache.of(redis, "one", sealed="", private_hosts=("a", "b")).put(ORIGIN, RULES, reachable=True)
    found = RobotsCache.of(redis, crawl, sealed=sealed, private_hosts=private_hosts).get(ORIGIN)
    assert (found == RULES) is is_found


@pytest.mark.parametrize(("crawl", "is_found"), [("one", True), ("another", False)])
def test_a_crawl_with_credentials_or_a_proxy_keeps_it_to_itself(redis: Redis, crawl: str, is_found: bool) -> None:
    RobotsCache.of(redis, "one", sealed="sealed", private_hosts=()).put(ORIGIN, RULES, reachable=True)
    found = RobotsCache.of(redis, crawl, sealed="sealed", private_hosts=()).get(ORIGIN)
    assert (found == RULES) is is_found
    assert RobotsCache.of(redis, "one", sealed="", private_hosts=()).get(ORIGIN) is None


def test_crawls_with_a_user_agent_of_their_own_share_it_among_themselves(redis: Redis) -> None:
    def of(user_agent: str, *private_hosts: str) -> RobotsCache:
        return RobotsCache.of(redis, "one", sealed="", private_hosts=private_hosts, user_agent=user_agent)

    of("Bot/1").put(ORIGIN, RULES, reachable=True)
    assert of("Bot/1").get(ORIGIN) == RULES
    assert [of("Bot/2").get(ORIGIN), of("").get(ORIGIN), of("Bot/1", "a").get(ORIGIN)] == [None] * 3


def test_crawls_that_accept_any_certificate_share_it_among_themselves(redis: Redis) -> None:
    def of(*, ignore_tls_errors: bool) -> RobotsCache:
        return RobotsCache.of(redis, "one", sealed="", private_hosts=(), ignore_tls_errors=ignore_tls_errors)

    of(ignore_tls_errors=True).put(ORIGIN, RULES, reachable=True)
    assert [of(ignore_tls_errors=True).get(ORIGIN), of(ignore_tls_errors=False).get(ORIGIN)] == [RULES, None]


def test_that_it_could_not_be_had_is_soon_forgotten(redis: Redis) -> None:
    RobotsCache(redis).put(ORIGIN, RobotsEntry(status=503, outcome=Outcome.SERVER_ERROR, body=b""), reachable=False)
    assert 0 < redis.pttl(keys.robots(ORIGIN)) <= UNREACHABLE_TTL_S * 1000


@pytest.mark.parametrize("other", ["http://example.com", "https://example.com:8443", "https://www.example.com"])
def test_another_origin_has_rules_of_its_own(redis: Redis, other: str) -> None:
    RobotsCache(redis).put(ORIGIN, RULES, reachable=True)
    assert RobotsCache(redis).get(other) is None


@pytest.mark.parametrize("raw", [b"", b"\xff", b"\x80", b"\x83\xa6status\xcc\xc8\xa7outcome\xa32xx\xa4text\xa1a"])
def test_what_another_version_wrote_is_as_good_as_nothing(redis: Redis, raw: bytes) -> None:
    redis.set(keys.robots(ORIGIN), raw)
    assert RobotsCache(redis).get(ORIGIN) is None


def test_one_worker_at_a_time_may_ask(redis: Redis) -> None:
    memory = RobotsCache(redis)
    assert memory.acquire_lock(ORIGIN, "one")
    assert not memory.acquire_lock(ORIGIN, "other")
    memory.release_lock(ORIGIN)
    assert memory.acquire_lock(ORIGIN, "other")


def test_a_renewed_robots_lock_does_not_expire(redis: Redis) -> None:
    memory = RobotsCache(redis)
    memory.acquire_lock(ORIGIN, "one")
    redis.expire(keys.robots_lock(ORIGIN), 1)
    memory.renew_lock(ORIGIN)
    assert LOCK_TTL_S - 1 <= redis.ttl(keys.robots_lock(ORIGIN)) <= LOCK_TTL_S
