"""The setting chooses the transport; what differs between them is documented; libcurl opens no connection itself."""

import resource
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pycurl
import pytest
from django.core.exceptions import ImproperlyConfigured

from crawler import extras
from crawler.core.pages.outcomes import Outcome
from crawler.http.client import HttpFetcher
from crawler.http.fetcher import Limits
from crawler.http.guard import Guard
from crawler.http.transports import curl_transport
from crawler.http.transports.curl_transport import CurlTransport
from crawler.http.transports.requests_transport import RequestsTransport
from crawler.http.transports.transport import RoutedAdapter
from crawler.settings import environment
from tests.http.asking import LOOPBACK
from tests.http.differences import DIFFERENCES, TRAPS, over
from tests.http.names import Names
from tests.http.server import Reply, Server, Then, page
from tests.missing import leave_out

KINDS = {"builtin": RoutedAdapter, "curl": CurlTransport, "requests": RequestsTransport}
DOCUMENT = (Path(__file__).parent.parent.parent / "docs" / "http-clients.md").read_text()


@pytest.mark.parametrize(("name", "kind"), KINDS.items())
def test_the_setting_chooses(settings: Any, http_client: str, name: str, kind: type) -> None:
    settings.CRAWLER_HTTP_CLIENT = name
    with HttpFetcher(LOOPBACK, "Tester/1") as fetcher:
        assert type(fetcher._top._transport) is kind


def test_another_name_stops_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRAWLER_HTTP_CLIENT", "wget")
    with pytest.raises(ImproperlyConfigured, match="must be one of: builtin, curl, requests"):
        environment.http_client("CRAWLER_HTTP_CLIENT")


def test_a_missing_package_stops_the_start_and_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRAWLER_HTTP_CLIENT", "curl")
    assert environment.http_client("CRAWLER_HTTP_CLIENT") == "curl"
    leave_out(monkeypatch, extras.CURL)
    with pytest.raises(ImproperlyConfigured, match="pip install pycurl"):
        environment.http_client("CRAWLER_HTTP_CLIENT")


def test_without_the_package_the_other_client_works() -> None:
    code = """
import sys
sys.modules["pycurl"] = None
import django
django.setup()
from crawler.http.client import HttpFetcher
from crawler.http.guard import Guard
with HttpFetcher(Guard(), "Tester/1") as fetcher:
    print(fetcher.get("http://127.0.0.1/").outcome)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "private_address"


@pytest.mark.parametrize("case", DIFFERENCES)
def test_every_difference_is_documented(case: str) -> None:
    assert f"| {case} | {DIFFERENCES[case].cells} |\n" in DOCUMENT


def test_every_trap_that_differs_is_one_of_them() -> None:
    assert {case for traps in TRAPS.values() for case, _ in traps.values()} <= DIFFERENCES.keys()


def test_libcurl_that_asks_for_a_socket_gets_the_one_that_was_opened_and_no_second(settings: Any) -> None:
    settings.CRAWLER_HTTP_CLIENT = "curl"
    with Server({"/": page()}) as server, HttpFetcher(LOOPBACK, "Tester/1") as fetcher:
        assert fetcher.get(f"{server.origin}/").outcome is Outcome.SUCCESS
        assert isinstance(fetcher._top._transport, CurlTransport)
        assert fetcher._top._transport._open(0, ("127.0.0.1", server.port)) == pycurl.SOCKET_BAD


def test_a_connection_that_libcurl_gave_up_is_opened_anew_and_judged_anew(settings: Any) -> None:
    """Bytes behind a response have libcurl close the connection; the name leads elsewhere by then."""
    settings.CRAWLER_HTTP_CLIENT = "curl"
    guard = Guard(("127.0.0.1",), resolver=Names("127.0.0.1", "127.0.0.2"))
    site = {"/a": Reply(page("<p>a").data + b"x"), "/b": page("<p>b")}
    with Server(site) as server, HttpFetcher(guard, "Tester/1") as fetcher:
        outcomes = [fetcher.get(f"http://site.test:{server.port}{path}").outcome for path in ("/a", "/b")]
    assert outcomes == [Outcome.SUCCESS, Outcome.PRIVATE_ADDRESS]
    assert server.paths() == ["/a"]


def test_libcurl_looks_up_no_name(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.CRAWLER_HTTP_CLIENT = "curl"
    names = Names("127.0.0.1")
    with Server({"/": page()}) as server, HttpFetcher(Guard(("127.0.0.1",), resolver=names), "Tester/1") as fetcher:
        for host in ("site.test", "site.test.", "no-such-name.invalid"):
            assert fetcher.get(f"http://{host}:{server.port}/").outcome is Outcome.SUCCESS
    assert names.asked == ["site.test", "site.test.", "no-such-name.invalid"]


@pytest.mark.parametrize("client", ["builtin", "curl"])
def test_a_name_that_is_none_in_the_dns_is_refused_by_libcurl(settings: Any, client: str) -> None:
    settings.CRAWLER_HTTP_CLIENT = client
    guard = Guard(("127.0.0.1",), resolver=Names("127.0.0.1"))
    with Server({"/": page()}) as server, HttpFetcher(guard, "Tester/1") as fetcher:
        fetched = fetcher.get(f"http://a$b.test:{server.port}/")
        following = fetcher.get(f"http://site.test:{server.port}/")
    assert fetched.outcome is over(client, "nothing: its name has a character such as `$`", Outcome.SUCCESS)
    assert following.outcome is Outcome.SUCCESS


@pytest.mark.parametrize(("client", "said"), [("builtin", "nothing arrived"), ("curl", "no response")])
def test_silence_within_the_status_line(settings: Any, client: str, said: str) -> None:
    settings.CRAWLER_HTTP_CLIENT = client
    reply = Reply(b"HTTP/1.1 200 O", Then.STALL)
    with Server({"/": reply}) as server, HttpFetcher(LOOPBACK, "Tester/1", Limits(read_seconds=0.1)) as fetcher:
        fetched = fetcher.get(f"{server.origin}/")
    assert (fetched.outcome, fetched.error) == (Outcome.TIMEOUT, f"{said} for 0.1 seconds")


@pytest.mark.parametrize("client", ["builtin", "curl"])
def test_an_address_of_ipv6_is_asked(settings: Any, client: str) -> None:
    settings.CRAWLER_HTTP_CLIENT = client

    def answer(listener: socket.socket) -> None:
        with listener.accept()[0] as sock:
            for _ in range(2):
                sock.recv(1000)
                sock.sendall(page("<p>six").data)

    with socket.create_server(("::1", 0), family=socket.AF_INET6) as listener:
        thread = threading.Thread(target=answer, args=(listener,))
        thread.start()
        with HttpFetcher(Guard(("::1",)), "Tester/1") as fetcher:
            url = f"http://[::1]:{listener.getsockname()[1]}/"
            assert [fetcher.get(url).body for _ in range(2)] == [b"<p>six"] * 2
        thread.join()


def test_a_large_head_of_a_request_is_sent_whole(settings: Any) -> None:
    settings.CRAWLER_HTTP_CLIENT = "curl"
    with Server({"/": page()}) as server, HttpFetcher(LOOPBACK, "Tester/1") as fetcher:
        small, large = {"X-Key": "x"}, {"X-Key": "y" * 500_000}
        assert [fetcher.get(f"{server.origin}/", headers=sent).http_status for sent in (small, large, small)] == [
            200
        ] * 3
    assert [len(head) > 500_000 for head in server.requests] == [False, True, False]


def test_a_header_without_a_value_is_sent(settings: Any) -> None:
    settings.CRAWLER_HTTP_CLIENT = "curl"
    with Server({"/": page()}) as server, HttpFetcher(LOOPBACK, "Tester/1") as fetcher:
        fetcher.get(f"{server.origin}/", headers={"X-Empty": ""})
    assert "X-Empty:" in server.requests[0].splitlines()


def test_a_process_may_have_as_many_files_as_its_connections_need(settings: Any) -> None:
    settings.CRAWLER_HTTP_CLIENT = "curl"
    limit, highest = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(limit, 1024), highest))
        curl_transport._allow_files.cache_clear()
        with HttpFetcher(LOOPBACK, "Tester/1"):
            assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] == min(curl_transport.FILES, highest)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, highest))


def test_sockets_are_closed_with_the_fetcher(settings: Any) -> None:
    settings.CRAWLER_HTTP_CLIENT = "curl"
    before = len(list(Path("/proc/self/fd").iterdir()))
    site = {"/": page(), "/stall": Reply(b"HTTP/1.1 200 OK\r\n", Then.STALL)}
    for _ in range(5):
        with Server(site) as server, HttpFetcher(LOOPBACK, "Tester/1", Limits(read_seconds=0.05)) as fetcher:
            for path in ("/", "/stall", "/"):
                fetcher.get(server.origin + path)
    assert len(list(Path("/proc/self/fd").iterdir())) <= before
