"""Whom libcurl trusts: the authorities of this machine, or those of browsers."""

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pycurl
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import serialization
from requests.adapters import DEFAULT_CA_BUNDLE_PATH

from crawler.core.pages.outcomes import Outcome
from crawler.http.client import HttpFetcher
from crawler.http.connection import public_trust
from crawler.http.transports import curl_trust
from tests.http.certificates import Authority
from tests.http.secure import EVERY_NAME
from tests.http.server import Server, page

AUTHORITY = Authority.made("Authority of a machine")
HASH = "12ab34cd"


@pytest.fixture(autouse=True)
def over_libcurl(settings: Any, http_client: str) -> Iterator[None]:
    settings.CRAWLER_HTTP_CLIENT = "curl"
    curl_trust._public.cache_clear()
    yield
    curl_trust._public.cache_clear()


def pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)


def outcome(folder: Path) -> Outcome:
    """Of a page whose server has a certificate of that authority."""
    with (
        Server({"/": page()}, tls=AUTHORITY.server(folder)) as server,
        HttpFetcher(EVERY_NAME, "Tester/1") as fetcher,
    ):
        return fetcher.get(f"https://site.test:{server.port}/").outcome


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The machine's folder of authorities."""
    folder = tmp_path / "authorities"
    folder.mkdir()
    monkeypatch.setenv("SSL_CERT_DIR", str(folder))
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    return folder


def test_without_a_word_the_authority_is_a_stranger(tmp_path: Path) -> None:
    assert outcome(tmp_path) is Outcome.TLS


def test_an_authority_of_the_machines_folder_is_trusted(tmp_path: Path, folder: Path) -> None:
    (folder / "authority.pem").write_bytes(pem(AUTHORITY.certificate))
    subprocess.run(["openssl", "rehash", str(folder)], check=True)
    assert curl_trust.trust_options(public_trust)[pycurl.CAPATH] == str(folder)
    assert outcome(tmp_path) is Outcome.SUCCESS


def test_an_authority_of_a_file_is_trusted_too(tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / f"{HASH}.0").write_bytes(b"")
    own = tmp_path / "own.pem"
    own.write_bytes(pem(AUTHORITY.certificate))
    monkeypatch.setenv("SSL_CERT_FILE", str(own))
    assert outcome(tmp_path) is Outcome.SUCCESS


def test_without_such_a_folder_those_of_browsers_are_trusted(folder: Path) -> None:
    (folder / "readme").write_text("no authority")
    assert curl_trust.trust_options(public_trust) == {pycurl.CAINFO: DEFAULT_CA_BUNDLE_PATH}
