"""What a crawl sends beside its URLs, as people type it, as it goes out and as it is shown: never in full.

No message of this module repeats a value: what was typed wrongly may be the secret itself.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

import msgspec

from crawler.core.errors import BadInput
from crawler.core.urls.addresses import Proxy
from crawler.core.urls.normalise import BELOW, host_of, host_typed, origin_of, site_of

Pair = tuple[str, str]

MAX_CHARACTERS = 16_000  # of all values together; servers take 8,000 to 16,000 bytes of headers
SHOWN_FROM = 12  # characters a value must have for its first two to be shown

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")  # RFC 9110, 5.6.2
_VISIBLE = re.compile(r"[ -~]*")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")

_OURS = {
    "host": "it goes by the URL",
    "content-length": "it goes by the request",
    "transfer-encoding": "it goes by the request",
    "content-type": "requests have no body",
    "content-encoding": "requests have no body",
    "expect": "requests have no body",
    "trailer": "requests have no body",
    "te": "the connection is the crawler's business",
    "connection": "the connection is the crawler's business",
    "keep-alive": "the connection is the crawler's business",
    "upgrade": "the connection is the crawler's business",
    "http2-settings": "the connection is the crawler's business",
    "proxy-connection": "the connection is the crawler's business",
    "proxy-authorization": "a proxy's user and password are part of its address, http://user:password@host:port",
    "accept-encoding": "the crawler asks for what it can decode",
    "range": "pages are read from their beginning",
    "if-range": "pages are read from their beginning",
    "if-match": "asking only for what changed is an option of its own",
    "if-none-match": "asking only for what changed is an option of its own",
    "if-modified-since": "asking only for what changed is an option of its own",
    "if-unmodified-since": "asking only for what changed is an option of its own",
    "cookie": "cookies are given for themselves, as name=value",
    "set-cookie": "servers send it; cookies are given for themselves, as name=value",
}
"""Headers nobody may set, and why."""

_ATTRIBUTES = frozenset({"domain", "path", "expires", "max-age", "samesite", "secure", "httponly", "partitioned"})


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Credentials:
    """What goes out with the requests of one crawl. Made by `parse`; its repr tells no secret."""

    headers: tuple[Pair, ...] = ()  # name and value, as typed, each name once
    cookies: tuple[Pair, ...] = ()  # sent with every request, whatever the server sets; there is no jar
    basic: Pair | None = None  # user and password; sent as UTF-8 (RFC 7617, 2.1)
    bearer: str | None = None
    proxy: str | None = None  # "http://user:password@host:port", as `core.urls.addresses` spells it

    def __bool__(self) -> bool:
        return self != NOTHING

    def __repr__(self) -> str:
        return f"Credentials({'; '.join(masked(self))})"


NOTHING = Credentials()


def parse(
    *, headers: Iterable[str] = (), cookies: Iterable[str] = (), auth: str = "", bearer: str = "", proxy: str = ""
) -> Credentials:
    """What people typed, or BadInput naming the field: "headers", "cookies", "auth", "bearer" or "proxy".

    Headers are typed "Name: value", cookies "name=value" or several with ";" between them, `auth` "user:password".
    """
    typed = Credentials(
        headers=tuple(_header(text) for text in headers if text.strip()),
        cookies=tuple(pair for text in cookies for pair in _cookies(text)),
        basic=_basic(auth) if auth else None,
        bearer=_bearer(bearer.strip()) if bearer.strip() else None,
        proxy=Proxy.parse(proxy).text if proxy.strip() else None,
    )
    _check_together(typed)
    return typed


def request_headers(credentials: Credentials) -> dict[str, str]:
    """What is sent to the crawl's own hosts, and to nobody else; the proxy's password is not among it."""
    sent = dict(credentials.headers)
    if credentials.cookies:
        sent["Cookie"] = "; ".join(f"{name}={value}" for name, value in credentials.cookies)
    if credentials.basic is not None:
        sent["Authorization"] = basic_authorization(*credentials.basic)
    if credentials.bearer is not None:
        sent["Authorization"] = f"Bearer {credentials.bearer}"
    return sent


def basic_authorization(user: str, password: str) -> str:
    return f"Basic {base64.b64encode(f'{user}:{password}'.encode()).decode()}"


def masked(credentials: Credentials) -> tuple[str, ...]:
    """A line for each thing that is sent, for people to recognise it by."""
    return tuple(_masked_lines(credentials))


def mask(secret: str) -> str:
    """ "ab…(32 characters)"; of a short secret nothing but its length."""
    size = f"…({len(secret)} character{'' if len(secret) == 1 else 's'})"
    return f"{secret[:2]}{size}" if len(secret) >= SHOWN_FROM else size


def to_json(credentials: Credentials) -> bytes:
    """For `crawler.encryption` alone."""
    return msgspec.json.encode(credentials)


def from_json(data: bytes) -> Credentials:
    return msgspec.json.decode(data, type=Credentials)


def _masked_lines(credentials: Credentials) -> Iterator[str]:
    for name, value in credentials.headers:
        yield f"{name}: {mask(value)}"
    for name, value in credentials.cookies:
        yield f"Cookie: {name}={mask(value)}"
    if credentials.basic is not None:
        user, password = credentials.basic
        known = user if password and len(user) <= 64 else mask(user)  # some services take a token for the user
        yield f"Authorization: Basic {known}:{mask(password)}"
    if credentials.bearer is not None:
        yield f"Authorization: Bearer {mask(credentials.bearer)}"
    if credentials.proxy is not None:
        yield f"Proxy: {Proxy.parse(credentials.proxy)}"


def _header(text: str) -> Pair:
    name, colon, value = text.partition(":")
    name, value = name.strip(), value.strip(" ")
    if not colon or not _TOKEN.fullmatch(name):
        raise BadInput("headers", "A header is typed as 'Name: value', such as 'X-Api-Key: abc'; this one is not.")
    if name.lower() in _OURS:
        raise BadInput("headers", f"The header {name} cannot be set: {_OURS[name.lower()]}.")
    _check_visible("headers", f"The value of the header {name}", value)
    return name, value


def _cookies(text: str) -> Iterator[Pair]:
    for part in filter(None, (part.strip(" ") for part in text.split(";"))):
        name, equals, value = part.partition("=")
        name, value = name.strip(" "), value.strip(" ")
        if name.lower() in _ATTRIBUTES:
            raise BadInput(
                "cookies", f"{name} is no cookie but part of a Set-Cookie header; give only name=value of each cookie."
            )
        if not equals or not _TOKEN.fullmatch(name):
            raise BadInput("cookies", "A cookie is typed as name=value, several as 'a=1; b=2'; this one is not.")
        _check_visible("cookies", f"The value of the cookie {name}", value)
        yield name, value


def _basic(text: str) -> Pair:
    user, colon, password = text.partition(":")
    if not colon or not user:
        raise BadInput("auth", "User and password are typed as user:password; the colon or the user is missing.")
    if _CONTROL.search(text):
        raise BadInput("auth", "User and password cannot hold line ends or control characters.")
    try:
        text.encode()
    except UnicodeEncodeError:  # half of a surrogate pair, from a terminal that does not speak UTF-8
        raise BadInput("auth", "User and password are not readable as text; give them in UTF-8.") from None
    return user, password


def _bearer(token: str) -> str:
    _check_visible("bearer", "The bearer token", token)
    if " " in token:
        raise BadInput("bearer", "A bearer token holds no blanks; give the token alone, without the word Bearer.")
    return token


def _check_visible(field: str, what: str, value: str) -> None:
    if _CONTROL.search(value):
        raise BadInput(field, f"{what} holds a line end or another control character; give it in one line.")
    if not _VISIBLE.fullmatch(value):
        raise BadInput(field, f"{what} holds characters beyond ASCII, which headers cannot carry; encode them first.")


def _check_together(typed: Credentials) -> None:
    names = [name.lower() for name, _ in typed.headers]
    if typed.basic is not None and typed.bearer is not None:
        raise BadInput("bearer", "Give user and password or a bearer token, not both: a request has one Authorization.")
    if "authorization" in names and (typed.basic is not None or typed.bearer is not None):
        raise BadInput("headers", "Give the header Authorization, or user and password, or a bearer token: only one.")
    for name in names:
        if names.count(name) > 1:
            raise BadInput("headers", f"The header {name} is given more than once; join its values with commas.")
    if sum(len(name) + len(value) for name, value in request_headers(typed).items()) > MAX_CHARACTERS:
        raise BadInput(
            "headers", f"Headers and cookies add up to more than {MAX_CHARACTERS:,} characters; servers refuse so much."
        )


# Which hosts are a crawl's own, and so may be sent its credentials.
#
# 1. The sites of its start URLs, as `core.urls.crawl_scope` has them: "www." makes no difference, the port does.
# 2. With `subdomains`, the hosts below those sites.
# 3. The hosts a person added with `hosts`.
# 4. A list of URLs is no statement about whom to trust: a crawl over one has the hosts of 3 and no others.
# 5. Over https always. In clear text only where a person chose that: on the site of a start URL that is http itself; on
# an added host given with a port, or while every start URL is http.

_PORT = re.compile(r":([0-9]+)$")


def own_hosts(
    start_urls: Sequence[str], hosts: Iterable[str] = (), *, subdomains: bool = False, listed: bool = False
) -> tuple[str, ...]:
    """The crawl's own origins, "scheme://host[:port]" or "scheme://*.host[:port]", in order; `listed` for a crawl over
    a list of URLs. The URLs are normalised; `hosts` as in `CrawlOptions`."""
    starts = () if listed else start_urls
    clear = bool(starts) and all(url.startswith("http://") for url in starts)
    own = {origin for url in starts for origin in _of_start(url, subdomains)}
    own.update(origin for host in hosts for origin in _of_added(host, clear))
    return tuple(sorted(own))


def is_own(url: str, own: Collection[str]) -> bool:
    """Whether this normalised URL is on one of these origins."""
    origin = origin_of(url)
    scheme, host = origin[: origin.index(":")], host_of(url)
    if origin in own or f"{scheme}://{site_of(host)}" in own:
        return True
    parents = (host[at + 1 :] for at, character in enumerate(host) if character == ".")
    return any(f"{scheme}://{BELOW}{parent}" in own for parent in parents)


def _of_start(url: str, subdomains: bool) -> Iterable[str]:
    site = site_of(host_of(url))
    for scheme in ("http", "https") if url.startswith("http://") else ("https",):
        yield f"{scheme}://{site}"
        if subdomains:
            yield f"{scheme}://{BELOW}{site}"


def _of_added(typed: str, clear: bool) -> Iterable[str]:
    """The origins of "host", "host:port" or "*.host"."""
    host = host_typed(typed)
    host = host if host.startswith(BELOW) else site_of(host)
    port = _PORT.search(typed.strip())
    yield f"https://{host}"
    if port[1] != "443" if port else clear:
        yield f"http://{host}"
