"""All places that open network connections are listed here; a new one needs a guard and an entry."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import crawler

ROOT = Path(crawler.__file__).parent

# Modules of Python and of our dependencies by which a connection can be opened.
OPENERS = {
    "socket", "ssl", "smtplib", "ftplib", "poplib", "imaplib", "telnetlib", "asyncio", "http.client", "urllib.request",
    "xmlrpc.client", "requests", "urllib3", "httpx", "aiohttp", "websockets", "websocket", "pycurl", "boto3", "dns",
    "botocore", "storages", "playwright.sync_api", "playwright.async_api", "scrapy",
    "twisted",
}  # fmt: skip

KNOWN = {
    # Scrapy, all of whose requests go to the worker, which has them sent by the client below:
    "capabilities/scrapy/inside/__main__.py": "runs Scrapy, with the handler below in place of all of its own",
    "capabilities/scrapy/inside/handler.py": "gives requests to the worker",
    "capabilities/scrapy/inside/pages.py": "has pages run through Scrapy",
    "capabilities/scrapy/inside/spiders.py": "knows what a spider is",
    "capabilities/scrapy/inside/yielded.py": "takes the requests that spiders yield",
    # The one way to what a person or a site names:
    "http/guard.py": "looks names up and judges their addresses",
    "http/connector.py": "connects to those addresses",
    "http/connection.py": "takes a socket that is connected",
    "http/resettable.py": "ends such a connection at once",
    "http/event_loop.py": "waits for sockets that were opened elsewhere",
    "http/request.py": "fills in the headers of requests",
    "http/client.py": "fills in the requests that a transport sends",
    "http/layers.py": "passes them on",
    "http/exchange_sender.py": "gives them to a transport",
    "http/transports/transport.py": "is an adapter of requests, in place of its own",
    "http/transports/requests_transport.py": "is an adapter of requests over those connections",
    "http/socks.py": "speaks to a proxy over such a connection",
    "http/errors.py": "puts errors in words",
    "http/transports/curl_lines.py": "takes a socket that is connected",
    "http/transports/curl_transport.py": "has libcurl use a socket that is connected, and open none",
    "http/transports/curl_transfer.py": "has libcurl send a request over that one",
    "http/transports/curl_trust.py": "tells libcurl whom to trust",
    "http/transports/curl_errors.py": "puts libcurl's errors in words",
    # The way of the browser, whose pages reach nothing else:
    "capabilities/browser/proxy.py": "listens on loopback, and has the connector open what pages ask for",
    "capabilities/browser/proxy_relay.py": "passes on what comes over connections that were opened elsewhere",
    "capabilities/browser/driver.py": "has Playwright start Chromium, which has no way but that proxy",
    "capabilities/browser/page.py": "opens pages in it, each with credentials for that proxy",
    "capabilities/browser/types.py": "names the types of its pages",
    "capabilities/browser/tab.py": "opens the context of a page, whose proxy it is given",
    "capabilities/browser/page_clock.py": "says how time passes in a tab",
    "capabilities/browser/page_requests.py": "decides which of their requests go out through it",
    "capabilities/browser/recorder.py": "copies the bodies of what they loaded",
    "capabilities/browser/page_pictures.py": "has Chromium draw them",
    "capabilities/browser/page_reader.py": "reads the pages, and has no connection",
    "capabilities/browser/admission.py": "waits for a turn, and has no connection",
    # The operator's own servers, named by settings:
    "notices/send.py": "the errors of the mail server in EMAIL_URL",
    "launch/embedded_redis.py": "the Redis it has begun itself, on a socket of this machine",
    "launch/watchdog.py": "tells that Redis to stop, on the same socket",
    "launch/up.py": "the web server it has begun itself",
    "launch/web_worker.py": "reads from connections that clients have opened",
    "capabilities/browser/chromium.py": "looks whether a browser for the tests is there",
    # No connection:
    "http/cookies.py": "describes requests to Python's cookie jar",
    "settings/environment.py": "looks whether the files of client certificates can be used",
    "frontier/leases.py": "this machine's name",
    "queueing/workers.py": "this machine's name",
    "frontier/autoscalers.py": "this machine's name",
}


NAMED = re.compile(rf"\b({'|'.join(opener.partition('.')[0] for opener in sorted(OPENERS))})\b")
SOURCES = {str(file.relative_to(ROOT)): file.read_text() for file in ROOT.rglob("*.py")}


def imported(source: str) -> Iterator[str]:
    """The full name of whatever it imports, wherever it does; of "from a import b" as "a.b"."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def opens(source: str) -> bool:
    """Whether it imports one of those. To read a file as Python takes long."""
    return bool(NAMED.search(source)) and any(
        f"{name}.".startswith(f"{opener}.") for name in imported(source) for opener in OPENERS
    )


def test_every_module_that_could_connect_is_known() -> None:
    assert {name for name, source in SOURCES.items() if opens(source)} == set(KNOWN)


def test_guards_and_fetchers_are_made_in_few_places() -> None:
    made = {
        kind: {name for name, source in SOURCES.items() if re.search(rf"(?<!class ){kind}\(", source)}
        for kind in ("Guard", "HttpFetcher", "Route", "RoutedAdapter", "CurlTransport", "Curl")
    }
    assert made == {
        "Guard": {"http/guard.py", "http/client.py"},  # the latter for the operator's own proxy
        "HttpFetcher": {"http/client.py", "notices/send.py"},
        "Route": {"http/client.py", "capabilities/browser/proxy.py"},
        "RoutedAdapter": {"http/exchange_sender.py"},
        "CurlTransport": {"http/exchange_sender.py"},
        "Curl": {"http/transports/curl_transport.py"},
    }
