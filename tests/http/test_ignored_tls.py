"""A crawl that ignores TLS errors: any certificate is accepted, and it is told why it is not trusted."""

import ssl
from collections.abc import Callable
from pathlib import Path

import pytest

from crawler.core.pages.outcomes import Outcome
from crawler.http.client import HttpFetcher
from tests.http.secure import EVERY_NAME
from tests.http.server import Server, Then, page
from tests.http.test_tls import AUTHORITY, WRONG_CERTIFICATES, choosy, expired

Serving = Callable[[Path], ssl.SSLContext]


def fetcher(*, ignore: bool = True) -> HttpFetcher:
    return HttpFetcher(EVERY_NAME, "Tester/1", trust=AUTHORITY.trusted, ignore_tls_errors=ignore)


@pytest.mark.parametrize(("server_of", "said"), WRONG_CERTIFICATES)
def test_any_certificate_is_accepted_and_what_is_wrong_with_it_is_told(
    tmp_path: Path, server_of: Serving, said: str
) -> None:
    site = {"/": page(), "/b": page("<p>b")}
    with Server(site, tls=server_of(tmp_path)) as server, fetcher() as asking:
        first, second = (asking.get(f"https://site.test:{server.port}{path}") for path in site)
    assert (first.outcome, first.requests, first.error) == (Outcome.SUCCESS, 1, "")
    assert said in first.certificate_error
    assert (second.body, second.certificate_error) == (b"<p>b", first.certificate_error)
    assert server.paths() == ["/", "/b"]


def test_a_trusted_certificate_is_verified_and_nothing_is_told(tmp_path: Path) -> None:
    with Server({"/": page()}, tls=AUTHORITY.server(tmp_path)) as server, fetcher() as asking:
        fetched = asking.get(f"https://site.test:{server.port}/")
    assert (fetched.outcome, fetched.certificate_error, server.connections) == (Outcome.SUCCESS, "", 1)


def test_that_one_host_is_not_trusted_changes_nothing_for_another(tmp_path: Path) -> None:
    with (
        Server({"/": page()}, tls=expired(tmp_path)) as bad,
        Server({"/": page()}, tls=AUTHORITY.server(tmp_path)) as good,
        fetcher() as asking,
    ):
        told = [asking.get(f"https://site.test:{server.port}/").certificate_error for server in (bad, good, bad)]
    assert told == ["its certificate has expired", "", "its certificate has expired"]


def test_nothing_is_sent_before_the_certificate_was_verified_or_accepted(tmp_path: Path) -> None:
    sent: list[int] = []
    with Server({"/": page()}, tls=expired(tmp_path)) as server, fetcher() as asking:
        asking.serve(lambda: sent.append(server.connections))
        assert asking.get(f"https://site.test:{server.port}/").outcome is Outcome.SUCCESS
    assert sent == [2]


def test_a_kept_connection_that_was_closed_meanwhile_is_replaced(tmp_path: Path) -> None:
    site = {"/a": page(then=Then.CLOSE), "/b": page("<p>b")}
    with Server(site, tls=expired(tmp_path)) as server, fetcher() as asking:
        fetched = [asking.get(f"https://site.test:{server.port}{path}") for path in site]
    assert [one.outcome for one in fetched] == [Outcome.SUCCESS] * 2


def test_what_is_wrong_with_tls_itself_is_an_error_as_ever(tmp_path: Path) -> None:
    with Server({"/": page()}, tls=choosy(tmp_path)) as server, fetcher() as asking:
        fetched = asking.get(f"https://site.test:{server.port}/")
    assert (fetched.outcome, fetched.certificate_error) == (Outcome.TLS, "")


def test_it_is_off_unless_a_crawl_turns_it_on(tmp_path: Path) -> None:
    with Server({"/": page()}, tls=expired(tmp_path)) as server, fetcher(ignore=False) as asking:
        fetched = asking.get(f"https://site.test:{server.port}/")
    assert (fetched.outcome, fetched.http_status, server.requests) == (Outcome.TLS, None, [])
