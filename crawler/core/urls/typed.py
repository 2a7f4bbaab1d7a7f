"""Web addresses as users type them, before they are normalised. Needs the standard library alone: `bin/crawl` refuses
what cannot be one before anything is installed."""

from __future__ import annotations

import re

from crawler.core.errors import BadInput


def with_scheme(text: str) -> str:
    """What a user typed, as an absolute URL that is not normalised yet; or BadInput("start_urls") saying what to type
    instead. A missing scheme means https, or http where TLS is unlikely."""
    typed = text.strip()
    if not typed:
        raise bad_url("A web address is missing; enter one such as https://example.com/.")
    if re.search(r"[\t\r\n]", typed):
        raise bad_url(f"{shown(typed)} spans several lines; enter one web address at a time.")
    if typed.startswith("//"):
        return "https:" + typed
    scheme, colon, rest = typed.partition(":")
    if colon and re.fullmatch(r"[A-Za-z][A-Za-z0-9+.-]*", scheme) and not re.match(r"\d+(?:[/?#]|$)", rest):
        if scheme.lower() not in ("http", "https"):
            raise bad_url(f"Only http and https can be crawled, not {shorten(scheme)}: {shown(typed)}.")
        if not rest.strip("/\\"):
            raise bad_url(f"{shown(typed)} has no host; enter a web address such as https://example.com/.")
        return typed
    return _guessed_scheme(typed) + typed


def _guessed_scheme(typed: str) -> str:
    """The scheme of input without one, which must look like a host."""
    host = re.split(r"[/?#\\]", typed, maxsplit=1)[0]
    name, port = _split_port(host)
    if "@" in host:
        raise bad_url(f"{shown(typed)} looks like an e-mail address; enter a web address such as https://example.com/.")
    if re.search(r"\s", host) or not (port or "." in name.strip(".") or name.startswith("[") or name == "localhost"):
        raise bad_url(f"{shown(typed)} is not a web address; enter one such as https://example.com/.")
    numbers = name.startswith("[") or re.fullmatch(r"[0-9.]+", name)
    local = numbers or name == "localhost" or name.endswith(".localhost")
    return "http://" if local or port not in ("", "443", "8443") else "https://"


def _split_port(host: str) -> tuple[str, str]:
    """Name in lower case, and port or "" of a host as typed; the colons inside [::1] belong to the name."""
    match = re.fullmatch(r"(.*?)(?::(\d*))?", host, re.DOTALL)
    return (match[1].lower(), match[2] or "") if match else (host.lower(), "")


def shown(typed: str) -> str:
    return repr(shorten(typed))


def shorten(text: str) -> str:
    return text if len(text) <= 80 else text[:79] + "…"


def bad_url(message: str) -> BadInput:
    return BadInput("start_urls", message)
