"""The requests of the HTTP client, and the fields of its results."""

import socket
from pathlib import Path

import pytest

from crawler.core.pages.outcomes import Outcome
from crawler.http.body import MAX_HEAD
from crawler.http.client import HttpFetcher
from tests.http.asking import LOOPBACK, SMALL, ask, ask_each
from tests.http.differences import over
from tests.http.secure import EVERY_NAME, as_site_test, trusting_the_test
from tests.http.server import Reply, Server, Then, page


def test_it_gives_the_page_and_the_facts_about_it() -> None:
    fetched = ask(page("<p>é", content_type="Text/HTML; charset=UTF-8"))
    assert fetched.outcome is Outcome.SUCCESS
    assert fetched.http_status == 200
    assert fetched.content_type == "text/html"
    assert fetched.content_type_header == "Text/HTML; charset=UTF-8"
    assert fetched.body == "<p>é".encode()
    assert (fetched.bytes_read, fetched.requests, fetched.error) == (5, 1, "")
    assert 0 <= fetched.first_byte_ms <= fetched.elapsed_ms


def test_it_gives_the_headers_as_they_came() -> None:
    head = b"HTTP/1.1 200 OK\r\nSERVER: x \xe9\r\nSet-Cookie: a=b\r\nset-cookie: c=d\r\nContent-Length: 0\r\n\r\n"
    assert ask(Reply(head)).headers == "SERVER: x é\nSet-Cookie: a=b\nset-cookie: c=d\nContent-Length: 0"


def test_of_endless_headers_some_are_given() -> None:
    lines = b"X: %s\r\n" % (b"y" * 1000) * 50
    assert len(ask(Reply(b"HTTP/1.1 200 OK\r\n" + lines + b"Content-Length: 0\r\n\r\n")).headers) == MAX_HEAD


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        ("204 No Content", Outcome.SUCCESS),
        ("301 Moved", Outcome.REDIRECT),
        ("304 Not Modified", Outcome.REDIRECT),
        ("404 Not Found", Outcome.CLIENT_ERROR),
        ("429", Outcome.CLIENT_ERROR),
        ("503 Busy", Outcome.SERVER_ERROR),
        ("600 Whatever", Outcome.MALFORMED),
        ("999 Go away", Outcome.MALFORMED),
        ("101 Switching Protocols", Outcome.MALFORMED),
    ],
)
def test_the_status_decides_the_outcome(status: str, outcome: Outcome) -> None:
    fetched = ask(page("", status))
    assert fetched.outcome is outcome
    assert fetched.http_status == int(status[:3])
    assert bool(fetched.error) == (outcome is Outcome.MALFORMED)


def test_it_says_who_asks_and_nothing_about_anyone_else() -> None:
    _, server = ask_each({"/": page(set_cookie="a=b")}, "/", "/")
    head = server.requests[1].lower()
    assert f"host: 127.0.0.1:{server.port}" in head
    assert "user-agent: tester/1" in head
    assert "accept-encoding: gzip, deflate" in head
    assert "cookie" not in head
    assert "referer" not in head


def test_it_asks_for_the_url_to_the_letter() -> None:
    path = "/100%/a%20b//c|d?q=%zz|[]&&%C3%A9"
    [fetched], server = ask_each({path: page()}, path)
    assert server.paths() == [path]
    assert fetched.outcome is Outcome.SUCCESS


def test_it_sends_no_fragment_and_no_password() -> None:
    with Server({"/a": page()}) as server, HttpFetcher(LOOPBACK, "Tester/1") as fetcher:
        fetcher.get(f"http://user:secret@127.0.0.1:{server.port}/a#b")
    assert server.paths() == ["/a"]
    assert "authorization" not in server.requests[0].lower()


def test_neither_proxies_nor_passwords_are_taken_from_the_environment(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    netrc = tmp_path / ".netrc"
    netrc.write_text("default login me password swordfish\nmachine 127.0.0.1 login me password swordfish\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NETRC", str(netrc))
    with Server({"/": page()}) as canary:
        for name in ("http_proxy", "https_proxy", "all_proxy", "ftp_proxy", "socks_proxy"):
            monkeypatch.setenv(name, canary.origin)
            monkeypatch.setenv(name.upper(), canary.origin)
        monkeypatch.setenv("no_proxy", "")
        monkeypatch.setenv("NO_PROXY", "")
        [fetched], server = ask_each({"/": page()}, "/")
        with (
            Server({"/": page()}, tls=as_site_test()) as secured,
            HttpFetcher(EVERY_NAME, "Tester/1", trust=trusting_the_test) as fetcher,
        ):
            fetcher.get(f"https://site.test:{secured.port}/")
    assert (fetched.outcome, secured.paths()) == (Outcome.SUCCESS, ["/"])
    assert not any("authorization" in head.lower() for head in server.requests + secured.requests)
    assert canary.connections == 0


def test_a_redirect_is_reported_and_not_followed() -> None:
    [fetched], server = ask_each({"/": page("moved", "302 Found", location="/b"), "/b": page()}, "/")
    assert (fetched.outcome, fetched.location, fetched.body) == (Outcome.REDIRECT, "/b", b"")
    assert server.paths() == ["/"]


def test_of_several_locations_the_first_counts(http_client: str) -> None:
    fetched = ask(Reply(b"HTTP/1.1 301 Moved\r\nLocation: /a\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n"))
    assert fetched.outcome is over(http_client, "two different `Location` headers", Outcome.REDIRECT)
    assert fetched.location == ("/a" if fetched.outcome is Outcome.REDIRECT else "")


def test_a_location_is_read_as_browsers_read_it() -> None:
    reply = Reply("HTTP/1.1 301 Moved\r\nLocation: /é\r\nContent-Length: 0\r\n\r\n".encode())
    assert ask(reply).location == "/é"


@pytest.mark.parametrize(
    "reply",
    [
        page("short", "302 Found", Then.CLOSE, location="/b", content_length="500"),  # broken
        page("short", "302 Found", location="/b", content_length="99999999"),  # too large
        page("<p>", "302 Found", location="/b", content_encoding="br"),  # unreadable
    ],
)
def test_a_redirect_needs_no_body(reply: Reply) -> None:
    fetched = ask(reply, SMALL)
    assert (fetched.outcome, fetched.location, fetched.error) == (Outcome.REDIRECT, "/b", "")


def test_headers_go_out_with_one_request_and_in_place_of_the_usual_ones() -> None:
    with Server({"/": page()}) as server, HttpFetcher(LOOPBACK, "Tester/1") as fetcher:
        fetcher.get(f"{server.origin}/", headers={"If-None-Match": '"a"', "accept": "application/xml"})
        fetcher.get(f"{server.origin}/")
    once, usual = (head.lower().split("\n") for head in server.requests)
    assert {'if-none-match: "a"', "accept: application/xml"} <= set(once)
    assert len([line for line in once if line.startswith("accept:")]) == 1
    assert not [line for line in usual if line.startswith("if-none-match")]


def test_it_gives_the_validators_of_the_answer() -> None:
    when = "Tue, 15 Nov 1994 12:45:26 GMT"
    fetched = ask(page(etag='W/"a b"', last_modified=when))
    assert (fetched.etag, fetched.last_modified) == ('W/"a b"', when)
    assert ask(page()).etag == ""


@pytest.mark.parametrize("value", ['"' + "a" * 500 + '"', '"a\tb"'])
def test_a_validator_that_cannot_be_sent_back_is_none(value: str) -> None:
    fetched = ask(page(etag=value))
    assert (fetched.outcome, fetched.etag) == (Outcome.SUCCESS, "")


def test_it_says_when_a_request_is_sent_before_it_waits_for_the_answer() -> None:
    asked: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer() -> None:
            """Play the server, in the very thread that would wait for it."""
            with listener.accept()[0] as sock:
                asked.append(sock.recv(1000))
                sock.sendall(page("<p>answered").data)

        with HttpFetcher(LOOPBACK, "Tester/1") as fetcher:
            fetcher.serve(answer)
            fetched = fetcher.get(f"http://127.0.0.1:{listener.getsockname()[1]}/a")
    assert fetched.body == b"<p>answered"
    assert [head.split()[1] for head in asked] == [b"/a"]


def test_it_says_so_for_each_of_two_tries_and_never_for_none() -> None:
    sent: list[str] = []
    with (
        Server({"/a": page(), "/b": (Reply(then=Then.CLOSE), page())}) as server,
        HttpFetcher(LOOPBACK, "Tester/1") as fetcher,
    ):
        fetcher.serve(lambda: sent.append("sent"))
        asked = [fetcher.get(server.origin + path).requests for path in ("/a", "/b")]
        asked.append(fetcher.get("http://10.0.0.1/").requests)
    assert (asked, len(sent)) == ([1, 2, 0], 3)
