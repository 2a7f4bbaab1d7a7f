"""The HTTP fetcher against servers that answer well, badly, slowly, endlessly or not at all."""

from __future__ import annotations

import gzip
import socket
import zlib
from typing import Any

import pytest

from crawler.core.outcomes import Outcome
from crawler.fetching.fetcher import Fetched, Limits, anything
from crawler.fetching.guard import Guard
from crawler.fetching.http import HttpFetcher
from tests.fetching.secure import as_site_test, trusting_the_test
from tests.fetching.server import Reply, Server, Site, Then, chunked, page


def gzipped(data: bytes) -> bytes:
    return gzip.compress(data, mtime=0)  # the same bytes each time, so that a test keeps its name


LOOPBACK = Guard(("127.0.0.1",))
SHORT = Limits(total_seconds=0.25)
SMALL = Limits(max_body_bytes=1000)


def ask(reply: Reply, limits: Limits | None = None, **wishes: Any) -> Fetched:
    """What the fetcher makes of a site whose only page is this reply."""
    with Server({"/": reply}) as server, HttpFetcher(LOOPBACK, "Tester/1", limits) as fetcher:
        return fetcher.get(f"{server.origin}/", **wishes)


def ask_each(site: Site, *paths: str, limits: Limits | None = None) -> tuple[list[Fetched], Server]:
    with Server(site) as server, HttpFetcher(LOOPBACK, "Tester/1", limits) as fetcher:
        return [fetcher.get(server.origin + path) for path in paths], server


def test_it_gives_the_page_and_the_facts_about_it() -> None:
    fetched = ask(page("<p>é", content_type="Text/HTML; charset=UTF-8"))
    assert fetched.outcome is Outcome.SUCCESS
    assert fetched.http_status == 200
    assert fetched.content_type == "text/html"
    assert fetched.content_type_header == "Text/HTML; charset=UTF-8"
    assert fetched.body == "<p>é".encode()
    assert (fetched.bytes_read, fetched.requests, fetched.error) == (5, 1, "")


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


def test_environment_proxies_are_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    assert ask(page()).outcome is Outcome.SUCCESS


# Redirects


def test_a_redirect_is_reported_and_not_followed() -> None:
    [fetched], server = ask_each({"/": page("moved", "302 Found", location="/b"), "/b": page()}, "/")
    assert (fetched.outcome, fetched.location, fetched.body) == (Outcome.REDIRECT, "/b", b"")
    assert server.paths() == ["/"]


def test_of_several_locations_the_first_counts() -> None:
    reply = Reply(b"HTTP/1.1 301 Moved\r\nLocation: /a\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n")
    assert ask(reply).location == "/a"


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


# Bodies


@pytest.mark.parametrize("content_type", ["text/html", "application/xhtml+xml", "TEXT/HTML;charset=x"])
def test_html_is_read(content_type: str) -> None:
    assert ask(page("<p>", content_type=content_type)).body == b"<p>"


@pytest.mark.parametrize("content_type", ["text/plain", "application/pdf", "image/svg+xml", "text/html+x"])
def test_nothing_else_is_kept(content_type: str) -> None:
    fetched = ask(page("<p>", content_type=content_type))
    assert (fetched.outcome, fetched.body) == (Outcome.SUCCESS, b"")


def test_the_caller_may_want_more() -> None:
    assert ask(page("text", content_type="text/plain"), wants=anything).body == b"text"


@pytest.mark.parametrize(
    ("body", "kept"),
    [
        (b"<p>", True),
        (b" \r\n\t<p>", True),
        (b"\xef\xbb\xbf<p>", True),  # byte order mark
        ("\ufeff<p>".encode("utf-16-le"), True),
        (b"%PDF-1.7", False),
        (b"plain", False),
        (b" " * 5000 + b"<p>", False),  # nobody looks that far
        (b"", False),
    ],
)
@pytest.mark.parametrize("content_type", ["", "nonsense"])
def test_without_a_media_type_the_body_decides(body: bytes, kept: bool, content_type: str) -> None:
    fetched = ask(page(body, content_type=content_type))
    assert fetched.outcome is Outcome.SUCCESS
    assert fetched.body == (body if kept else b"")
    assert fetched.content_type == ""


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("gzip", gzipped(b"<p>hello")),
        ("x-gzip", gzipped(b"<p>hello")),
        ("GZIP", gzipped(b"<p>") + gzipped(b"hello")),
        ("deflate", zlib.compress(b"<p>hello")),
        ("identity", b"<p>hello"),
    ],
)
def test_an_encoded_body_is_decoded(encoding: str, body: bytes) -> None:
    fetched = ask(page(body, content_encoding=encoding))
    assert fetched.body == b"<p>hello"
    assert fetched.bytes_read == len(body)


def test_chunks_are_joined() -> None:
    assert ask(chunked(b"<p>", b"hel", b"lo")).body == b"<p>hello"


def test_a_body_without_a_length_ends_with_the_connection() -> None:
    assert ask(page("<p>hello", then=Then.CLOSE, content_length="")).body == b"<p>hello"


def test_http_1_0_is_understood() -> None:
    assert ask(Reply(b"HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n<p>", Then.CLOSE)).body == b"<p>"


def test_a_longer_body_can_be_cut() -> None:
    fetched = ask(page("x" * 5000), SMALL, truncate_at=10)
    assert (fetched.outcome, fetched.body) == (Outcome.SUCCESS, b"x" * 10)


def test_interim_responses_are_skipped() -> None:
    hints = b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n"
    interim = b"HTTP/1.1 100 Continue\r\n\r\n" + hints + b"HTTP/1.1 102 Processing\r\n\r\n" + hints
    fetched, after = ask_each({"/": Reply(interim + page("<p>a").data), "/b": page("<p>b")}, "/", "/b")[0]
    assert (fetched.http_status, fetched.body) == (200, b"<p>a")
    assert after.body == b"<p>b"


@pytest.mark.parametrize(
    ("header", "seconds"), [("120", 120.0), ("Thu, 01 Jan 1970 00:02:00 GMT", 20.0), ("soon", None)]
)
def test_it_says_how_long_the_server_asked_us_to_wait(header: str, seconds: float | None) -> None:
    with (
        Server({"/": page("", "503 Busy", retry_after=header)}) as server,
        HttpFetcher(LOOPBACK, "Tester/1", now=lambda: 100.0) as fetcher,
    ):
        assert fetcher.get(f"{server.origin}/").retry_after == seconds


def test_it_hands_on_every_word_to_crawlers() -> None:
    head = "HTTP/1.1 404 Not Found\r\nX-Robots-Tag: noindex\r\nx-robots-tag: bot: é, none\r\nContent-Length: 0\r\n\r\n"
    assert ask(Reply(head.encode())).robots_tags == ("noindex", "bot: é, none")
    assert ask(page()).robots_tags == ()


# Connections


def test_one_connection_serves_many_pages() -> None:
    site = {
        "/a": page(),
        "/b": chunked(b"<p>"),
        "/c": page("moved", "301 Moved", location="/"),
        "/d": page("small", content_type="image/png"),
        "/e": chunked(b"small", content_type="image/png"),
        "/f": page("", "204 No Content", content_length=""),
        "/g": page(gzipped(b"<p>"), content_encoding="gzip"),
        "/h": page("", "304 Not Modified", content_length=""),
    }
    fetched, server = ask_each(site, *site, "/missing")
    assert all(one.requests == 1 and not one.error for one in fetched)
    assert server.connections == 1


def test_each_host_keeps_its_own_connection() -> None:
    with (
        Server({"/": page("<p>one")}) as one,
        Server({"/": page("<p>two")}) as two,
        HttpFetcher(LOOPBACK, "Tester/1") as fetcher,
    ):
        bodies = [fetcher.get(f"{server.origin}/").body for server in (one, two, one, two)]
    assert bodies == [b"<p>one", b"<p>two"] * 2
    assert (one.connections, two.connections) == (1, 1)


def test_a_large_unwanted_body_is_hung_up_on() -> None:
    site = {"/a": page(b"x" * 100_000, content_type="image/png"), "/b": page()}
    (image, after), server = ask_each(site, "/a", "/b")
    assert (image.outcome, after.outcome) == (Outcome.SUCCESS, Outcome.SUCCESS)
    assert image.bytes_read == 0
    assert server.connections == 2


@pytest.mark.parametrize("then", [Then.CLOSE, Then.RESET])
def test_a_kept_connection_that_was_closed_meanwhile_is_replaced_once(then: Then) -> None:
    (_, fetched), server = ask_each({"/a": page(), "/b": (Reply(then=then), page("<p>b"))}, "/a", "/b")
    assert (fetched.outcome, fetched.body, fetched.requests) == (Outcome.SUCCESS, b"<p>b", 2)
    assert server.paths() == ["/a", "/b", "/b"]


def test_it_does_not_ask_a_third_time() -> None:
    (_, fetched), server = ask_each({"/a": page(), "/b": Reply(then=Then.CLOSE)}, "/a", "/b")
    assert (fetched.outcome, fetched.requests) == (Outcome.CONNECT, 2)
    assert server.paths() == ["/a", "/b", "/b"]


def test_a_new_connection_that_breaks_is_not_tried_again() -> None:
    [fetched], server = ask_each({"/": Reply(then=Then.CLOSE)}, "/")
    assert (fetched.outcome, fetched.requests) == (Outcome.CONNECT, 1)
    assert server.paths() == ["/"]


def test_what_is_posted_is_never_sent_twice() -> None:
    with Server({"/": (page(), Reply(then=Then.CLOSE))}) as server, HttpFetcher(LOOPBACK, "Tester/1") as fetcher:
        first = fetcher.post(f"{server.origin}/", b"one", {"Content-Type": "text/plain"})
        second = fetcher.post(f"{server.origin}/", b"two", {})
    assert (first.outcome, second.outcome) == (Outcome.SUCCESS, Outcome.CONNECT)
    assert server.bodies == [b"one", b"two"]


# What one request asks for beyond the others


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


@pytest.mark.parametrize(("limit", "outcome"), [(1999, Outcome.TOO_LARGE), (2000, Outcome.SUCCESS)])
def test_one_request_may_have_a_limit_of_its_own(limit: int, outcome: Outcome) -> None:
    body = page(b"<" * 2000)
    assert ask(body, SMALL, max_bytes=limit).outcome is outcome
    assert ask(body, max_bytes=limit).outcome is outcome
    assert ask(page(gzipped(b"<" * 2000), content_encoding="gzip"), SMALL, max_bytes=limit).outcome is outcome


# When a request is sent


def test_it_says_when_a_request_is_sent_before_it_waits_for_the_answer() -> None:
    asked: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer() -> None:
            """Play the server, in the very thread that would wait for it."""
            with listener.accept()[0] as sock:
                asked.append(sock.recv(1000))
                sock.sendall(page("<p>answered").data)

        with HttpFetcher(LOOPBACK, "Tester/1", on_sent=answer) as fetcher:
            fetched = fetcher.get(f"http://127.0.0.1:{listener.getsockname()[1]}/a")
    assert fetched.body == b"<p>answered"
    assert [head.split()[1] for head in asked] == [b"/a"]


def test_it_says_so_for_each_of_two_tries_and_never_for_none() -> None:
    sent: list[str] = []
    with (
        Server({"/a": page(), "/b": (Reply(then=Then.CLOSE), page())}) as server,
        HttpFetcher(LOOPBACK, "Tester/1", on_sent=lambda: sent.append("sent")) as fetcher,
    ):
        asked = [fetcher.get(server.origin + path).requests for path in ("/a", "/b")]
        asked.append(fetcher.get("http://10.0.0.1/").requests)
    assert (asked, len(sent)) == ([1, 2, 0], 3)


# What goes wrong


def test_a_refused_connection_is_told_from_a_missing_name() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with HttpFetcher(LOOPBACK, "Tester/1") as fetcher:
        fetched = fetcher.get(f"http://127.0.0.1:{port}/")
    assert (fetched.outcome, fetched.http_status, fetched.requests) == (Outcome.CONNECT, None, 0)
    assert "refused" in fetched.error


def test_a_name_that_does_not_resolve() -> None:
    def nowhere(*args: Any, **kwargs: Any) -> list[tuple[Any, ...]]:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    with HttpFetcher(Guard(resolver=nowhere), "Tester/1") as fetcher:
        fetched = fetcher.get("http://missing.test/")
    assert fetched.outcome is Outcome.DNS
    assert fetched.error == "the host name missing.test does not resolve: Name or service not known"


def test_a_label_no_name_server_takes() -> None:
    with HttpFetcher(Guard(), "Tester/1") as fetcher:
        assert fetcher.get(f"http://{'a' * 70}.test/").outcome is Outcome.DNS


@pytest.mark.parametrize("url", ["ftp://127.0.0.1/", "http://", "nonsense", "http://a b/", "http://127.0.0.1:99999/"])
def test_what_is_no_web_address_is_not_asked(url: str) -> None:
    with HttpFetcher(LOOPBACK, "Tester/1") as fetcher:
        assert fetcher.get(url).outcome is Outcome.MALFORMED


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        (Reply(b"", Then.CLOSE), Outcome.CONNECT),  # not a byte
        (Reply(b"", Then.RESET), Outcome.CONNECT),
        (Reply(HEAD + b"Content-Length: 500\r\n\r\n<p>", Then.RESET), Outcome.CONNECT),  # reset half-way
        (Reply(HEAD + b"Content-Length: 500\r\n\r\n<p>", Then.CLOSE), Outcome.MALFORMED),  # shorter than announced
        (Reply(b"220 mail.test ESMTP\r\n", Then.CLOSE), Outcome.MALFORMED),  # not HTTP
        (Reply(b"\x15\x03\x01\x00\x02\x02\x46", Then.CLOSE), Outcome.MALFORMED),  # TLS where none was asked for
        (Reply(b"HTTP/1.1\r\n\r\n", Then.CLOSE), Outcome.MALFORMED),  # no status
        (Reply(b"HTTP/1.1 abc OK\r\n\r\n", Then.CLOSE), Outcome.MALFORMED),
        (Reply(b"HTTP/1.1 -20 OK\r\n\r\n", Then.CLOSE), Outcome.MALFORMED),
        (Reply(b"HTTP/2.0 200 OK\r\n\r\n", Then.CLOSE), Outcome.MALFORMED),
        (Reply(b"\n" * 100, Then.CLOSE), Outcome.MALFORMED),
        (Reply(HEAD + b"Content-Length: 3\r\nContent-Length: 5\r\n\r\n<p>"), Outcome.MALFORMED),
        (Reply(HEAD + b"Transfer-Encoding: chunked\r\n\r\nxyz\r\n", Then.CLOSE), Outcome.MALFORMED),
        (Reply(HEAD + b"Transfer-Encoding: chunked\r\n\r\n-5\r\n<p>", Then.CLOSE), Outcome.MALFORMED),
        (Reply(HEAD + b"Transfer-Encoding: chunked\r\n\r\n9\r\n<p>", Then.CLOSE), Outcome.MALFORMED),
        (Reply(HEAD + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"), Outcome.MALFORMED),
        (Reply(HEAD + b"Transfer-Encoding: chunked \r\n\r\n0\r\n\r\n", Then.CLOSE), Outcome.MALFORMED),
        (page("<p>", content_encoding="gzip"), Outcome.MALFORMED),  # says gzip and is not
        (page(gzipped(b"<p>hello")[:-9], content_encoding="gzip"), Outcome.MALFORMED),
        (page("<p>", content_encoding="br"), Outcome.MALFORMED),  # not asked for
        (page("<p>", content_encoding="gzip, gzip"), Outcome.MALFORMED),
    ],
)
def test_bad_answers_are_outcomes(reply: Reply, outcome: Outcome) -> None:
    fetched = ask(reply)
    assert fetched.outcome is outcome
    assert fetched.body == b""
    assert fetched.error
    assert fetched.error.isprintable()
    assert len(fetched.error) <= 300


def test_the_status_is_kept_when_the_body_breaks() -> None:
    assert ask(Reply(HEAD + b"Content-Length: 500\r\n\r\n<p>", Then.CLOSE)).http_status == 200


def test_odd_headers_do_not_hide_the_page() -> None:
    odd = b"no colon here\r\n: nameless\r\nX-Bytes: \xff\xfe\x01\r\n folded: yes\r\n"
    assert ask(Reply(HEAD + b"Content-Length: 3\r\n" + odd + b"\r\n<p>")).body == b"<p>"


# Too much


@pytest.mark.parametrize(
    "reply",
    [
        page("x" * 1001),  # says so
        chunked(*[b"x" * 100] * 11),  # does not say so
        page("x" * 1001, then=Then.CLOSE, content_length=""),
        page(gzipped(b"x" * 1001), content_encoding="gzip"),  # small only on the wire
        page(zlib.compress(b"x" * 1001), content_encoding="deflate"),
        page(gzipped(b"") * 100, content_encoding="gzip"),  # large only on the wire
    ],
)
def test_a_body_beyond_the_limit(reply: Reply) -> None:
    fetched = ask(reply, SMALL)
    assert (fetched.outcome, fetched.http_status, fetched.body) == (Outcome.TOO_LARGE, 200, b"")
    assert "1000" in fetched.error


@pytest.mark.parametrize("reply", [page("x" * 1000), page(gzipped(b"x" * 1000), content_encoding="gzip")])
def test_a_body_at_the_limit(reply: Reply) -> None:
    assert ask(reply, SMALL).body == b"x" * 1000


def test_an_endless_body_is_cut_off() -> None:
    reply = Reply(HEAD + b"\r\n", Then.DRIP, b"x" * 50_000)
    assert ask(reply, Limits(max_body_bytes=100_000)).outcome is Outcome.TOO_LARGE


def test_a_compressed_bomb_is_never_unpacked() -> None:
    squeezer = zlib.compressobj(9, zlib.DEFLATED, 31)
    bomb = b"".join(squeezer.compress(bytes(1 << 20)) for _ in range(256)) + squeezer.flush()
    fetched = ask(page(bomb, content_encoding="gzip"))
    assert fetched.outcome is Outcome.TOO_LARGE
    assert fetched.bytes_read < len(bomb) / 2


@pytest.mark.parametrize(
    "headers",
    [
        b"X: y\r\n" * 200,  # too many
        b"X: " + b"y" * 70_000 + b"\r\n",  # too long a line
        (b"X: " + b"y" * 30_000 + b"\r\n") * 3,  # too much together
        b"\r\n" + (b"HTTP/1.1 103 Early Hints\r\nX: " + b"y" * 5_000 + b"\r\n\r\n") * 20,  # in interim responses
    ],
)
def test_headers_beyond_the_limit(headers: bytes) -> None:
    status = b"HTTP/1.1 103 Early Hints" if headers.startswith(b"\r\n") else b"HTTP/1.1 200 OK\r\n"
    fetched = ask(Reply(status + headers + b"\r\n<p>", Then.CLOSE))
    assert (fetched.outcome, fetched.http_status) == (Outcome.TOO_LARGE, None)


# Too slow


@pytest.mark.parametrize(
    "reply",
    [
        Reply(b"", Then.STALL),  # silence
        Reply(b"HTTP/1.1 200 O", Then.STALL),
        Reply(HEAD, Then.STALL),
        Reply(HEAD + b"Content-Length: 500\r\n\r\n<p>", Then.STALL),
        Reply(b"", Then.DRIP, b"H"),  # a status line that never ends
        Reply(HEAD, Then.DRIP, b"X"),  # a header that never ends
        Reply(HEAD, Then.DRIP, b"X: y\r\n"),  # headers that never end
        Reply(b"", Then.DRIP, b"HTTP/1.1 103 Early Hints\r\n\r\n"),  # hints that never end
        Reply(HEAD + b"Content-Length: 5000\r\n\r\n", Then.DRIP),
        Reply(HEAD + b"\r\n", Then.DRIP),
        Reply(HEAD + b"Transfer-Encoding: chunked\r\n\r\n", Then.DRIP, b"1\r\nx\r\n"),
        Reply(HEAD + b"Transfer-Encoding: chunked\r\n\r\n", Then.DRIP, b"1"),  # a chunk size that never ends
        Reply(HEAD + b"Content-Encoding: gzip\r\n\r\n" + gzipped(b"")[:10], Then.DRIP, b"\x00\x00\x00\xff\xff"),
    ],
)
def test_the_whole_exchange_has_its_time(reply: Reply) -> None:
    fetched = ask(reply, SHORT)
    assert fetched.outcome is Outcome.TIMEOUT
    assert fetched.error == "not complete after 0.25 seconds"
    assert fetched.elapsed_ms >= 250


def test_silence_between_bytes_has_its_time() -> None:
    fetched = ask(Reply(HEAD + b"Content-Length: 9\r\n\r\n<p>", Then.STALL), Limits(read_seconds=0.1))
    assert (fetched.outcome, fetched.http_status) == (Outcome.TIMEOUT, 200)
    assert fetched.error == "nothing arrived for 0.1 seconds"


def test_a_dripping_unwanted_body_does_not_change_the_outcome() -> None:
    reply = Reply(b"HTTP/1.1 301 Moved\r\nLocation: /b\r\nContent-Length: 5000\r\n\r\n", Then.DRIP)
    assert ask(reply, SHORT).outcome is Outcome.REDIRECT


def test_each_page_has_its_own_time() -> None:
    with Server({"/": page()}) as server:
        ticks = iter(range(0, 10_000, 8))
        with HttpFetcher(LOOPBACK, "Tester/1", Limits(total_seconds=100), clock=lambda: float(next(ticks))) as fetcher:
            fetched = [fetcher.get(f"{server.origin}/") for _ in range(10)]
    assert {one.outcome for one in fetched} == {Outcome.SUCCESS}


def test_a_connection_that_is_never_taken_has_its_time() -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=0) as full, socket.socket() as first, socket.socket() as second:
        for taken in (first, second):  # the queue holds these, and nobody accepts them
            taken.setblocking(False)
            taken.connect_ex(full.getsockname())
        limits = Limits(connect_seconds=0.2)
        with HttpFetcher(LOOPBACK, "Tester/1", limits) as fetcher:
            fetched = fetcher.get(f"http://127.0.0.1:{full.getsockname()[1]}/")
    assert (fetched.outcome, fetched.requests) == (Outcome.TIMEOUT, 0)
    assert "0.2 seconds" in fetched.error


# The guard


def test_a_private_address_is_not_asked() -> None:
    with Server({"/": page()}) as server, HttpFetcher(Guard(), "Tester/1") as fetcher:
        fetched = fetcher.get(f"{server.origin}/")
    assert (fetched.outcome, fetched.requests) == (Outcome.PRIVATE_ADDRESS, 0)
    assert fetched.error == ("127.0.0.1 is a private address; allow it with --allow-private or CRAWLER_PRIVATE_HOSTS")
    assert server.connections == 0


@pytest.mark.parametrize(
    "host", ["127.1", "0x7f.1", "2130706433", "0177.0.0.1", "localhost", "[::ffff:127.0.0.1]", "0"]
)
def test_no_spelling_of_a_private_address_is_asked(host: str) -> None:
    with Server({"/": page()}) as server, HttpFetcher(Guard(), "Tester/1") as fetcher:
        fetched = fetcher.get(f"http://{host}:{server.port}/")
    assert fetched.outcome is Outcome.PRIVATE_ADDRESS
    assert server.connections == 0


class Names:
    """A name server that gives one answer after another; the last for ever."""

    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []

    def __call__(self, host: str, port: int, **kwargs: Any) -> list[tuple[Any, ...]]:
        self.asked.append(host)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in answer.split()]


def test_the_checked_address_is_the_one_connected_to() -> None:
    names = Names("127.0.0.1", "127.0.0.2")  # whoever looks again is led astray
    with (
        Server({"/": page()}) as server,
        HttpFetcher(Guard(("127.0.0.1",), resolver=names), "Tester/1") as fetcher,
    ):
        fetched = fetcher.get(f"http://site.test:{server.port}/")
    assert fetched.outcome is Outcome.SUCCESS
    assert names.asked == ["site.test"]
    assert f"Host: site.test:{server.port}" in server.requests[0]


def test_a_later_connection_is_judged_anew() -> None:
    names = Names("127.0.0.1", "127.0.0.2")
    with (
        Server({"/": page(then=Then.CLOSE, connection="close")}) as server,
        HttpFetcher(Guard(("127.0.0.1",), resolver=names), "Tester/1") as fetcher,
    ):
        outcomes = [fetcher.get(f"http://site.test:{server.port}/").outcome for _ in range(2)]
    assert outcomes == [Outcome.SUCCESS, Outcome.PRIVATE_ADDRESS]
    assert server.connections == 1


def test_one_private_address_among_several_refuses_the_host() -> None:
    with HttpFetcher(Guard(resolver=Names("1.1.1.1 10.0.0.1")), "Tester/1") as fetcher:
        assert fetcher.get("http://site.test/").outcome is Outcome.PRIVATE_ADDRESS


def test_the_next_address_is_tried_when_one_does_not_answer() -> None:
    names = Names("127.0.0.2 127.0.0.1")  # nobody listens at the first
    with (
        Server({"/": page()}) as server,
        HttpFetcher(Guard(("127.0.0.0/8",), resolver=names), "Tester/1") as fetcher,
    ):
        assert fetcher.get(f"http://site.test:{server.port}/").outcome is Outcome.SUCCESS


# TLS


def tls_server() -> Server:
    return Server({"/": page()}, tls=as_site_test())


def test_tls_goes_by_the_name_and_the_connection_by_the_address() -> None:
    guard = Guard(("127.0.0.1",), resolver=Names("127.0.0.1"))
    with tls_server() as server, HttpFetcher(guard, "Tester/1", trust=trusting_the_test) as fetcher:
        fetched = [fetcher.get(f"https://site.test:{server.port}/") for _ in range(2)]
    assert [one.body for one in fetched] == [b"<p>hello"] * 2
    assert server.connections == 1


@pytest.mark.parametrize(
    ("host", "trust", "detail"),
    [
        ("site.test", None, "self-signed certificate"),
        ("other.test", trusting_the_test, "not valid for 'other.test'"),
    ],
)
def test_a_certificate_that_cannot_be_trusted(host: str, trust: Any, detail: str) -> None:
    guard = Guard(("127.0.0.1",), resolver=Names("127.0.0.1"))
    chosen = {"trust": trust} if trust else {}
    with tls_server() as server, HttpFetcher(guard, "Tester/1", **chosen) as fetcher:
        fetched = fetcher.get(f"https://{host}:{server.port}/")
    assert (fetched.outcome, fetched.http_status, fetched.requests) == (Outcome.TLS, None, 0)
    assert detail in fetched.error


def test_a_server_that_speaks_no_tls() -> None:
    with Server({}, greeting=b"220 mail.test\r\n") as server, HttpFetcher(LOOPBACK, "Tester/1") as fetcher:
        assert fetcher.get(f"https://127.0.0.1:{server.port}/").outcome is Outcome.TLS


def test_a_handshake_that_never_ends_has_its_time() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as silent,
        HttpFetcher(LOOPBACK, "Tester/1", Limits(connect_seconds=0.2)) as fetcher,
    ):
        assert fetcher.get(f"https://127.0.0.1:{silent.getsockname()[1]}/").outcome is Outcome.TIMEOUT


def test_a_mistake_of_ours_is_not_taken_for_the_servers() -> None:
    def broken(media_type: str) -> bool:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        ask(page(), wants=broken)
