"""What a page may do in the browser, and what is read from it."""

import os
import signal
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from crawler.capabilities.browser.result import Rendering
from tests.capabilities.browser.pages import Pages
from tests.capabilities.browser.processes import below, command_of
from tests.http.certificates import self_signed
from tests.http.server import Server, Then, page

DONE = "<p id=done>"
"""A page that waits for it is ready at once, without half a second of quiet."""
READY = {"wait_for": "#done", "seconds": 20.0}
SCRIPT = {"content_type": "text/javascript"}
ADD_LINK = "document.body.innerHTML += '<a href=/added>added</a><p id=done>'"


@pytest.fixture
def server() -> Iterator[Server]:
    site = {
        "/add.js": page(ADD_LINK, **SCRIPT),
        "/api": page("from the API", content_type="text/plain"),
        "/moved.js": page("", "302 Found", location="/add.js"),
        "/dot.png": page(b"\x89PNG", content_type="image/png"),
        "/endless": page("x", then=Then.DRIP, content_length="", content_type="text/plain"),
        "/large": page(b"x" * 400_000, content_type="text/plain"),
    }
    with Server(site) as server:
        yield server


def test_the_dom_after_its_scripts_is_returned(pages: Pages, server: Server) -> None:
    rendering = pages.render(server, "<!doctype html><title>é</title><body><script src=/add.js></script>", **READY)

    assert rendering.html.startswith(b"<!DOCTYPE html>\n<html><head><title>\xc3\xa9</title>")
    assert b'<a href="/added">added</a>' in rendering.html
    assert (rendering.requests, rendering.own_requests, rendering.error) == (1, 1, "")
    assert server.paths() == ["/add.js"]  # the document itself was there


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc").is_dir(), reason="the processes below this one are known on Linux only")
def test_a_request_that_is_under_way_while_the_machine_is_busy_is_waited_for(pages: Pages, server: Server) -> None:
    def hold_up(url: str) -> dict[str, str]:
        """Playwright's process stands still for longer than a page is to be quiet."""
        for pid in nodes:
            with suppress(ProcessLookupError):  # that of an earlier browser
                os.kill(pid, signal.SIGSTOP)
                threading.Timer(0.8, os.kill, (pid, signal.SIGCONT)).start()
        return {}

    pages.render(server, "<p id=done>", **READY)  # the browser runs
    nodes = [pid for pid in below(os.getpid()) if b"node" in command_of(pid)]
    late = "fetch('/api').then((r) => r.text()).then((t) => document.body.append(t))"
    fetching = f"addEventListener('load', () => setTimeout(() => {late}, 200))"
    rendering = pages.render(
        server, f"<body><script>{fetching}</script>", headers_for=hold_up, may_request=lambda url: not time.sleep(0.3)
    )

    assert nodes
    assert b"from the API" in rendering.html


@pytest.mark.parametrize(
    "leave",
    [
        "<script>location.href = '/elsewhere#part'</script>",
        pytest.param("<meta http-equiv=refresh content='0; url=/elsewhere'>", marks=pytest.mark.long),
        pytest.param(
            "<form action=/elsewhere></form><script>document.forms[0].submit()</script>", marks=pytest.mark.long
        ),
    ],
)
def test_where_a_page_goes_is_told_and_not_requested(pages: Pages, server: Server, leave: str) -> None:
    rendering = pages.render(server, f"<title>Here</title>{leave}")

    assert rendering.redirect_to.rstrip("?") == f"{server.origin}/elsewhere"
    assert b"<title>Here</title>" in rendering.html
    assert server.requests == []


@pytest.mark.long
def test_a_page_that_empties_itself_is_told_from_an_empty_one(pages: Pages, server: Server) -> None:
    rendering = pages.render(server, "<script>location.href = 'about:blank'</script>")
    assert (rendering.html, rendering.error) == (b"", "the page removed its own content")


@pytest.mark.long
def test_a_refresh_header_is_a_redirect_too(pages: Pages, server: Server) -> None:
    rendering = pages.render(server, "<p>", headers="Refresh: 0; url=/elsewhere")
    assert rendering.redirect_to == f"{server.origin}/elsewhere"


@pytest.mark.long
def test_a_form_that_is_posted_goes_nowhere(pages: Pages, server: Server) -> None:
    rendering = pages.render(server, "<form method=post action=/x></form><script>document.forms[0].submit()</script>")
    assert (rendering.redirect_to, rendering.error) == ("", f"the page sends a form to {server.origin}/x")


def test_dialogs_popups_and_downloads_hold_nothing_up(pages: Pages, server: Server) -> None:
    script = f"""
        alert(1); confirm(2); prompt(3); window.open('/popup'); window.onbeforeunload = () => 'stay';
        document.body.innerHTML = '<a href="data:application/zip,x" download=x>'; document.querySelector('a').click();
        {ADD_LINK}"""
    rendering = pages.render(server, f"<body><script>{script}</script>", **READY)
    assert b"added" in rendering.html
    assert server.requests == []


def test_blocked_kinds_and_hosts_are_not_requested(pages: Pages, server: Server) -> None:
    third = f"http://localhost:{server.port}"
    document = f"<img src=/dot.png><script src={third}/add.js></script><script src=/add.js></script>"
    rendering = pages.render(server, document, blocked_hosts=("*.localhost",), **READY)

    assert server.paths() == ["/add.js"]
    assert {resource.error for resource in rendering.resources} == {"blocked: image", "blocked: localhost", ""}
    assert (rendering.requests, rendering.console) == (1, ())


@pytest.mark.long
def test_a_third_party_needs_no_turn(pages: Pages, server: Server) -> None:
    document = f"<body><script src=http://localhost:{server.port}/add.js></script>"
    rendering = pages.render(server, document, take_turn=lambda: False, **READY)
    assert (rendering.requests, rendering.own_requests) == (1, 0)


def test_the_calling_thread_is_asked_for_each_request_to_the_own_host(pages: Pages, server: Server) -> None:
    asked = []

    def may_request(url: str) -> bool:
        asked.append((url.removeprefix(server.origin), threading.current_thread()))
        return url.endswith(".js")

    turns: list[int] = []
    document = "<script src=/add.js></script><script>fetch('/api')</script>"
    rendering = pages.render(server, document, may_request=may_request, take_turn=lambda: turns.append(1) is None)

    assert sorted(path for path, _ in asked) == ["/add.js", "/api"]
    assert {thread for _, thread in asked} == {threading.current_thread()}
    assert (server.paths(), len(turns), rendering.own_requests) == (["/add.js"], 1, 1)


@pytest.mark.parametrize("scheme", ["http", pytest.param("https", marks=pytest.mark.long)])
def test_http_and_https_are_one_host_and_another_port_is_another_one(pages: Pages, server: Server, scheme: str) -> None:
    asked: list[str] = []
    document = f"""
        <body><script src=http://127.0.0.1/a.js></script><script src=https://127.0.0.1/b.js></script>
        <script>new WebSocket('wss://127.0.0.1/live')</script><script src={server.origin}/add.js></script>"""
    rendering = pages.render(
        server, document, url=f"{scheme}://127.0.0.1/", may_request=lambda url: asked.append(url) is not None, **READY
    )

    own = {"http://127.0.0.1/a.js", "https://127.0.0.1/b.js", "wss://127.0.0.1/live"}
    assert set(asked) == own
    assert {resource.url for resource in rendering.resources if resource.error == "not allowed"} == own
    assert (rendering.requests, rendering.own_requests, server.paths()) == (1, 0, ["/add.js"])


@pytest.mark.long
def test_without_a_turn_nothing_is_sent(pages: Pages, server: Server) -> None:
    rendering = pages.render(server, f"{DONE}<script src=/add.js></script>", take_turn=lambda: False, **READY)
    assert (server.requests, rendering.requests) == ([], 0)


def test_its_security_policy_holds_and_its_cookies_are_its_own(pages: Pages, server: Server) -> None:
    policy = "Content-Security-Policy: script-src 'unsafe-inline'\nSet-Cookie: a=1\nSet-Cookie: b=2"
    document = "<body><script>document.body.append(document.cookie)</script><script src=/add.js></script>" + DONE
    assert b"a=1; b=2" in pages.render(server, document, headers=policy, **READY).html
    assert b"a=1" not in pages.render(server, document.replace("</script><", "</script>x<"), **READY).html
    assert server.paths() == ["/add.js"]  # of the second one


def test_credentials_do_not_follow_a_redirect_to_another_host(pages: Pages, server: Server) -> None:
    third = {"/there.js": page(ADD_LINK, access_control_allow_origin="*", **SCRIPT)}
    with Server(third) as other:
        site = {"/moved.js": page("", "302 Found", location=f"{other.origin}/there.js")}
        with Server(site) as own:
            rendering = pages.render(
                own,
                "<body><script src=/moved.js></script>",
                headers_for=lambda url: {"Authorization": "Basic c2VjcmV0"} if url.startswith(own.origin) else {},
                **READY,
            )
            assert "Basic c2VjcmV0" in own.requests[0]
            assert "Basic" not in other.requests[0]
            assert (rendering.requests, rendering.own_requests) == (2, 1)


def test_a_redirect_is_asked_for_and_counted_like_a_request(pages: Pages, server: Server) -> None:
    document = f"<body><script src=/moved.js></script>{DONE}"
    rendering = pages.render(server, document, may_request=lambda url: "moved" in url, **READY)
    assert (rendering.requests, rendering.own_requests) == (1, 1)

    rendering = pages.render(server, document.replace(DONE, ""), **READY)
    assert (rendering.requests, rendering.own_requests) == (2, 2)
    assert server.paths() == ["/moved.js", "/moved.js", "/add.js"]


def test_a_script_without_end_is_ended_and_the_page_read(pages: Pages, server: Server) -> None:
    document = "<body><script>document.body.append('scripted'); for (;;) {}</script>"
    began = time.monotonic()
    rendering = pages.render(server, document, seconds=1.0)
    assert b"scripted" in rendering.html
    assert rendering.error == "the page was not ready after 1 s; a script did not end"
    assert time.monotonic() - began < 30


@pytest.mark.long
def test_a_page_that_begins_a_script_without_end_again_and_again_is_ended(pages: Pages, server: Server) -> None:
    again = "function busy() { setTimeout(busy, 0); for (;;) {} }; busy()"
    rendering = pages.render(server, f"<p>before<script>{again}</script>", seconds=1.0)
    assert rendering.error.endswith("a script did not end")
    assert b"before" in rendering.html
    assert b"added" in pages.render(server, "<body><script src=/add.js></script>", **READY).html


@pytest.mark.long
def test_a_page_may_not_load_more_than_its_limit(pages: Pages, server: Server) -> None:
    load = "(async () => { for (let n = 0; n < 9; n++) await fetch('/large').then((r) => r.text()) })()"
    rendering = pages.render(server, f"<p>before<script>{load}</script>", max_bytes=1_000_000)
    assert b"before" in rendering.html
    assert rendering.error
    assert len(server.requests) < 9


@pytest.mark.long
def test_a_page_may_not_send_more_requests_than_its_limit(pages: Pages, server: Server) -> None:
    load = "for (let n = 0; n < 9; n++) fetch('/api?' + n)"
    rendering = pages.render(server, f"<script>{load}</script>", max_requests=3)
    assert (rendering.requests, len(server.requests), rendering.error) == (3, 3, "more than 3 requests")


@pytest.mark.long
def test_a_large_dom_is_cut(pages: Pages, server: Server, settings: object) -> None:
    settings.CRAWLER_MAX_BODY_MB = 0.001  # type: ignore[attr-defined]  # pytest-django's wrapper has no types
    rendering = pages.render(server, f"{DONE}<script>document.body.append('é'.repeat(5000))</script>", **READY)
    assert len(rendering.html) == 1048
    assert rendering.error == "the DOM exceeds 1,048 bytes; the rest was not stored"


@pytest.mark.long
def test_errors_of_the_page_and_its_vitals_are_told(pages: Pages, server: Server) -> None:
    script = "console.log('fine'); console.error('bad', 1); setTimeout(() => { throw new Error('worse') })"
    rendering = pages.render(server, f"<h1>Large</h1><script>{script}</script>")
    assert rendering.console == ("bad 1", "worse")
    assert rendering.vitals["lcp_ms"] > 0
    assert rendering.vitals["cls"] == 0.0


@pytest.mark.long
def test_web_sockets_are_decided_like_requests_and_not_waited_for(pages: Pages, server: Server) -> None:
    asked: list[str] = []
    document = "<script>new WebSocket(location.href.replace('http', 'ws') + 'live')</script>"
    rendering = pages.render(server, document, may_request=lambda url: asked.append(url) is not None)
    assert [url.rpartition("/")[2] for url in asked] == ["live"]
    assert [(resource.kind, resource.error) for resource in rendering.resources] == [("websocket", "not allowed")]
    assert server.requests == []


@pytest.mark.long
def test_a_page_reaches_no_network_but_by_its_proxy(pages: Pages, server: Server) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stun:
        stun.bind(("127.0.0.1", 0))
        stun.settimeout(0.2)
        ice = f"{{iceServers: [{{urls: 'stun:127.0.0.1:{stun.getsockname()[1]}'}}]}}"
        call = f"const c = new RTCPeerConnection({ice}); c.createDataChannel('x'); c.setLocalDescription()"
        closed = "fetch('http://127.0.0.1:1/').catch((e) => document.body.append('refused'))"
        rendering: Rendering = pages.render(server, f"<body><script>{call}; {closed}</script>")
        with pytest.raises(TimeoutError):
            stun.recv(100)
    assert b"refused" in rendering.html


@pytest.mark.long
@pytest.mark.parametrize("ignore", [True, False])
def test_what_it_loads_from_a_host_whose_certificate_is_not_trusted(pages: Pages, tmp_path: Path, ignore: bool) -> None:
    with (
        Server({"/": page()}) as own,
        Server(
            {"/x.js": page("document.body.append('written')", content_type="text/javascript")},
            tls=self_signed(tmp_path),
        ) as other,
    ):
        script = f"<body><script src=https://127.0.0.1:{other.port}/x.js></script>"
        rendering = pages.render(own, script, ignore_tls_errors=ignore)
    assert (b"written" in rendering.html) is ignore
