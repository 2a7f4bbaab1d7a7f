"""Where connections are made is known: a door added elsewhere has to be entered here, and needs a guard."""

from __future__ import annotations

import re
from pathlib import Path

import crawler

ROOT = Path(crawler.__file__).parent

# Modules of Python and of our dependencies by which a connection can be opened.
OPENERS = {
    "socket", "ssl", "smtplib", "ftplib", "poplib", "imaplib", "telnetlib", "asyncio", "http.client", "urllib.request",
    "xmlrpc.client", "requests", "urllib3", "httpx", "aiohttp", "websockets", "websocket", "pycurl", "boto3", "dns",
    "botocore", "storages", "playwright.sync_api", "playwright.async_api", "ssrfguard",
}  # fmt: skip

KNOWN = {
    # The one way to what a person or a site names:
    "fetching/guard.py": "looks names up and judges their addresses",
    "fetching/routes.py": "connects to those addresses",
    "fetching/connecting.py": "names a socket's options",
    "fetching/connection.py": "takes a socket that is connected",
    "fetching/tls.py": "takes a socket that is connected",
    "fetching/adapter.py": "is an adapter of requests, in place of its own",
    "fetching/http.py": "fills requests' requests in",
    "fetching/outgoing.py": "fills their headers in",
    "fetching/trust.py": "knows whose certificates are believed",
    "fetching/tls_words.py": "puts errors in words",
    "fetching/trouble.py": "puts errors in words",
    # The operator's own servers, named by settings:
    "notify/email.py": "the errors of the mail server in EMAIL_URL",
    "queues.py": "the Redis in REDIS_URL",
    "launch/redis_server.py": "the Redis it has begun itself",
    "launch/up.py": "the web server it has begun itself",
    "launch/chromium.py": "looks whether a browser for the tests is there",
    # No connection:
    "engine/batches.py": "this machine's name",
    "core/addresses.py": "a table of addresses",
}


SOURCES = {str(file.relative_to(ROOT)): file.read_text() for file in ROOT.rglob("*.py")}
IMPORT = re.compile(r"^\s*(?:import|from) +([\w.]+)(?: +import +(\w+))?", re.MULTILINE)


def opens(source: str) -> bool:
    """Whether it imports one of those."""
    names = {name for found in IMPORT.findall(source) for name in (found[0], ".".join(found))}
    return any(name == opener or name.startswith(f"{opener}.") for name in names for opener in OPENERS)


def test_every_module_that_could_connect_is_known() -> None:
    assert {name for name, source in SOURCES.items() if opens(source)} == set(KNOWN)


def test_guards_and_fetchers_are_made_in_few_places() -> None:
    made = {
        kind: {name for name, source in SOURCES.items() if re.search(rf"(?<!class ){kind}\(", source)}
        for kind in ("Guard", "HttpFetcher", "Route", "RoutedAdapter")
    }
    assert made == {
        "Guard": {"engine/guards.py", "engine/fetchers.py"},  # the latter for the operator's own proxy
        "HttpFetcher": {"engine/fetchers.py", "engine/deliver.py"},
        "Route": {"fetching/http.py"},
        "RoutedAdapter": {"fetching/http.py"},
    }
