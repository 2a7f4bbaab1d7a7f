"""A TLS test site: its certificate, its trust store, and names that resolve to loopback."""

import socket
import ssl
from pathlib import Path
from typing import Any

from crawler.http.guard import Guard

CERTIFICATE = Path(__file__).with_name("site.test.pem")


def trusting_the_test() -> ssl.SSLContext:
    return ssl.create_default_context(cafile=str(CERTIFICATE))


def as_site_test() -> ssl.SSLContext:
    """What a server needs to be taken for site.test."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE)
    return context


def on_loopback(host: str, port: int, **kwargs: Any) -> list[tuple[Any, ...]]:
    return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]


EVERY_NAME = Guard(("127.0.0.1",), resolver=on_loopback)
"""Takes every name for one of loopback."""
