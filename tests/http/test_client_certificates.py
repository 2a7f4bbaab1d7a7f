"""A host that asks who we are is shown the certificate that is set for it; no other host is shown any."""

import ssl
from pathlib import Path
from typing import Any

import pytest

from crawler.core.pages.outcomes import Outcome
from crawler.http.client import HttpFetcher
from crawler.http.fetcher import FetchResult
from tests.http.certificates import Authority, identity
from tests.http.secure import EVERY_NAME
from tests.http.server import Server, page


def asking_for_a_certificate(authority: Authority, folder: Path, host: str = "site.test") -> ssl.SSLContext:
    context = authority.server(folder, host)
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(cadata=authority.pem)
    return context


@pytest.fixture
def authority() -> Authority:
    return Authority.made("Clients")


@pytest.fixture
def certificate(authority: Authority, tmp_path: Path) -> str:
    return str(identity(authority, "the crawler", tmp_path))


def asked(authority: Authority, folder: Path) -> tuple[FetchResult, list[str]]:
    """What a host that wants a certificate has sent, and what it was asked."""
    with (
        Server({"/": page("<p>a")}, tls=asking_for_a_certificate(authority, folder)) as server,
        HttpFetcher(EVERY_NAME, "Tester/1", trust=authority.trusted) as fetcher,
    ):
        return fetcher.get(f"https://site.test:{server.port}/"), server.requests


def test_the_host_gets_the_certificate_that_is_set_for_it(
    authority: Authority, certificate: str, settings: Any, tmp_path: Path
) -> None:
    settings.CRAWLER_CLIENT_CERTIFICATES = {"site.test": certificate}
    fetched, _ = asked(authority, tmp_path)
    assert (fetched.outcome, fetched.body) == (Outcome.SUCCESS, b"<p>a")


def test_without_one_the_host_is_not_spoken_to(
    authority: Authority, certificate: str, settings: Any, tmp_path: Path
) -> None:
    settings.CRAWLER_CLIENT_CERTIFICATES = {"other.test": certificate}
    fetched, requests = asked(authority, tmp_path)
    assert fetched.outcome in (Outcome.TLS, Outcome.CONNECT)
    assert requests == []


def test_after_a_host_with_one_another_is_shown_none(
    authority: Authority, certificate: str, settings: Any, tmp_path: Path
) -> None:
    settings.CRAWLER_CLIENT_CERTIFICATES = {"site.test": certificate}
    known, stranger = (asking_for_a_certificate(authority, tmp_path, host) for host in ("site.test", "other.test"))
    with (
        Server({"/": page()}, tls=known) as site,
        Server({"/": page()}, tls=stranger) as other,
        HttpFetcher(EVERY_NAME, "Tester/1", trust=authority.trusted) as fetcher,
    ):
        of_site = fetcher.get(f"https://site.test:{site.port}/")
        of_other = fetcher.get(f"https://other.test:{other.port}/")
    assert of_site.outcome is Outcome.SUCCESS
    assert of_other.outcome in (Outcome.TLS, Outcome.CONNECT)
    assert other.requests == []
