"""The credentials of a crawl: parsing, request headers, masking, and the hosts they may be sent to.

No message of this module contains a value, because an invalid value may be the secret itself.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

import msgspec

from crawler import registry
from crawler.core.access.credential_kinds import CONTROL, MAX_CHARACTERS, CredentialKind, Pair, Typed, mask
from crawler.core.composed import ComposedStruct
from crawler.core.errors import BadInput
from crawler.core.urls.addresses import Proxy
from crawler.core.urls.normalise import BELOW, host_of, origin_of, parse_user_host, site_of

MAX_PROXIES = 100

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")  # RFC 9110, 5.6.2
_VISIBLE = re.compile(r"[ -~]*")
_BLANKS = re.compile(r"[ \t\r\n]+")

_OURS = {
    "host": "the crawler sets it from the URL",
    "content-length": "the crawler sets it for each request",
    "transfer-encoding": "the crawler sets it for each request",
    "content-type": "requests have no body",
    "content-encoding": "requests have no body",
    "expect": "requests have no body",
    "trailer": "requests have no body",
    "te": "the crawler controls the connection",
    "connection": "the crawler controls the connection",
    "keep-alive": "the crawler controls the connection",
    "upgrade": "the crawler controls the connection",
    "http2-settings": "the crawler controls the connection",
    "proxy-connection": "the crawler controls the connection",
    "proxy-authorization": "put the proxy's user and password in its address, http://user:password@host:port",
    "accept-encoding": "the crawler sends the encodings it can decode",
    "range": "pages are always requested in full",
    "if-range": "pages are always requested in full",
    "if-match": "use the option “Fetch only changes” instead",
    "if-none-match": "use the option “Fetch only changes” instead",
    "if-modified-since": "use the option “Fetch only changes” instead",
    "if-unmodified-since": "use the option “Fetch only changes” instead",
    "cookie": "enter cookies separately, as name=value",
    "set-cookie": "only servers send it; enter cookies separately, as name=value",
}
"""Headers that a user may not set, and why."""

_ATTRIBUTES = frozenset({"domain", "path", "expires", "max-age", "samesite", "secure", "httponly", "partitioned"})


_GIVEN = registry.entries("credentials", CredentialKind)


class Credentials(msgspec.Struct, metaclass=ComposedStruct, frozen=True, kw_only=True):
    """What is sent with the requests of one crawl. Made by `parse`; its repr contains no secret."""

    parts: ClassVar = tuple(kind.part for kind in _GIVEN if kind.part)

    headers: tuple[Pair, ...] = ()  # name and value, as typed, each name once
    cookies: tuple[Pair, ...] = ()  # sent with every request
    basic: Pair | None = None  # user and password; sent as UTF-8 (RFC 7617, 2.1)
    bearer: str | None = None
    proxy: str | None = None  # "http://user:password@host:port", as `core.urls.addresses` writes it
    more_proxies: tuple[str, ...] = ()  # further ones; each host has one of all

    @property
    def proxies(self) -> tuple[str, ...]:
        return (self.proxy, *self.more_proxies) if self.proxy else ()

    def __bool__(self) -> bool:
        return self != NOTHING

    def __repr__(self) -> str:
        return f"Credentials({'; '.join(masked(self))})"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        return [("masked", masked(self))]


NOTHING = Credentials()


def parse(**typed: str | Iterable[str]) -> Credentials:
    """The credentials a user typed, by the names of `KINDS`; BadInput names the field.

    Headers are typed "Name: value", cookies "name=value" or several with ";" between them, `auth` "user:password",
    several proxies with blanks or line ends between them.
    """
    fields = dict[str, Any]()
    for name, texts in typed.items():
        fields |= KINDS[name].read((texts,) if isinstance(texts, str) else texts)
    known = Credentials(**fields)
    _check_together(known)
    return known


def changed(known: Credentials, typed: Mapping[str, Iterable[str]]) -> Credentials:
    """With what a user typed in place of what it has of these kinds. BadInput as for `parse`."""
    fields = dict[str, Any]()
    for name, texts in typed.items():
        fields |= KINDS[name].read(texts)
    return msgspec.structs.replace(known, **fields)


def is_for_own_hosts(credentials: Credentials) -> bool:
    """Whether some of it may be sent only to the crawl's own hosts."""
    return any(any(kind.masked(credentials)) for kind in KINDS.values() if kind.is_for_own_hosts)


def request_headers(credentials: Credentials) -> dict[str, str]:
    """The headers for the crawl's own hosts only, without the proxy's password."""
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
    """A line for each value, from which the user recognises it."""
    return tuple(line for kind in KINDS.values() for line in kind.masked(credentials))


def to_json(credentials: Credentials) -> bytes:
    """Only for `crawler.encryption`."""
    return msgspec.json.encode(credentials)


def from_json(data: bytes) -> Credentials:
    return msgspec.json.decode(data, type=Credentials)


def _read_proxies(texts: Iterable[str]) -> dict[str, Any]:
    parts = [part for text in texts for part in _BLANKS.split(text.strip()) if part]
    typed = tuple(dict.fromkeys(Proxy.parse(part).text for part in parts))
    if len(typed) > MAX_PROXIES:
        raise BadInput("proxy", f"Enter at most {MAX_PROXIES} proxies, not {len(typed)}.")
    return {"proxy": typed[0] if typed else None, "more_proxies": typed[1:]}


def _read_headers(texts: Iterable[str]) -> dict[str, Any]:
    return {"headers": tuple(_header(text) for text in texts if text.strip())}


def _header(text: str) -> Pair:
    name, colon, value = text.partition(":")
    name, value = name.strip(), value.strip(" ")
    if not colon or not _TOKEN.fullmatch(name):
        raise BadInput("headers", "Enter each header as 'Name: value', such as 'X-Api-Key: abc'.")
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
                "cookies", f"{name} is an attribute of Set-Cookie, not a cookie; enter only name=value of each cookie."
            )
        if not equals or not _TOKEN.fullmatch(name):
            raise BadInput("cookies", "Enter a cookie as name=value, several as 'a=1; b=2'.")
        _check_visible("cookies", f"The value of the cookie {name}", value)
        yield name, value


def _read_basic(texts: Iterable[str]) -> dict[str, Any]:
    text = "".join(texts)
    if not text:
        return {}
    user, colon, password = text.partition(":")
    if not colon or not user:
        raise BadInput("auth", "Enter user and password as user:password; the colon or the user is missing.")
    if CONTROL.search(text):
        raise BadInput("auth", "User and password cannot contain line breaks or control characters.")
    try:
        text.encode()
    except UnicodeEncodeError:  # half of a surrogate pair, from a terminal without UTF-8
        raise BadInput("auth", "User and password are not valid text; enter them in UTF-8.") from None
    return {"basic": (user, password)}


def _read_bearer(texts: Iterable[str]) -> dict[str, Any]:
    token = "".join(texts).strip()
    _check_visible("bearer", "The bearer token", token)
    if " " in token:
        raise BadInput("bearer", "A bearer token contains no spaces; enter only the token, without the word Bearer.")
    return {"bearer": token or None}


def _check_visible(field: str, what: str, value: str) -> None:
    if CONTROL.search(value):
        raise BadInput(field, f"{what} contains a line break or another control character; enter it on one line.")
    if not _VISIBLE.fullmatch(value):
        raise BadInput(field, f"{what} contains non-ASCII characters, which headers cannot carry; encode them first.")


def _check_together(typed: Credentials) -> None:
    names = [name.lower() for name, _ in typed.headers]
    if typed.basic is not None and typed.bearer is not None:
        raise BadInput(
            "bearer", "Enter user and password or a bearer token, not both: a request has one Authorization header."
        )
    if "authorization" in names and (typed.basic is not None or typed.bearer is not None):
        raise BadInput("headers", "Enter only one of the header Authorization, user and password, or a bearer token.")
    for name in names:
        if names.count(name) > 1:
            raise BadInput("headers", f"The header {name} occurs more than once; join its values with commas.")
    if sum(len(name) + len(value) for name, value in request_headers(typed).items()) > MAX_CHARACTERS:
        raise BadInput("headers", f"Headers and cookies exceed {MAX_CHARACTERS:,} characters in total; shorten them.")


def _masked_basic(credentials: Credentials) -> Iterator[str]:
    if credentials.basic is not None:
        user, password = credentials.basic
        known = user if password and len(user) <= 64 else mask(user)  # some services take a token as the user
        yield f"Authorization: Basic {known}:{mask(password)}"


_OWN = (
    CredentialKind(
        name="headers",
        flag="--header",
        metavar="TEXT",
        command_help="a header: 'Name: value' *",
        label="Headers",
        help="One per line. Sent only to the crawl's own hosts, like all credentials except the proxy's.",
        description="Sent to the crawl's own hosts: `X-Key: abc`. Kept encrypted.",
        placeholder="X-Api-Key: abc",
        read=_read_headers,
        masked=lambda known: (f"{name}: {mask(value)}" for name, value in known.headers),
    ),
    CredentialKind(
        name="cookies",
        flag="--cookie",
        metavar="TEXT",
        command_help="name=value *",
        label="Cookies",
        help="One per line, or as a browser sends them: a=1; b=2.",
        description="Cookies, sent to the same hosts: `a=1; b=2`.",
        placeholder="session=abc",
        read=lambda texts: {"cookies": tuple(pair for text in texts for pair in _cookies(text))},
        masked=lambda known: (f"Cookie: {name}={mask(value)}" for name, value in known.cookies),
    ),
    CredentialKind(
        name="auth",
        flag="--auth",
        metavar="USER:PW",
        command_help="user and password (basic authentication)",
        label="User and password",
        help="Separated by a colon: user:password.",
        description="User and password: `user:password`.",
        typed=Typed.HIDDEN,
        read=_read_basic,
        masked=_masked_basic,
    ),
    CredentialKind(
        name="bearer",
        flag="--bearer",
        metavar="TOKEN",
        command_help="a bearer token",
        label="Bearer token",
        help="Only the token, without the word Bearer.",
        description="A bearer token for the site.",
        typed=Typed.HIDDEN,
        read=_read_bearer,
        masked=lambda known: (f"Authorization: Bearer {mask(token)}" for token in (known.bearer,) if token),
    ),
    CredentialKind(
        name="proxy",
        flag="--proxy",
        metavar="URL",
        command_help="use the proxy http://user:password@host:port *",
        label="Proxy",
        help="Use this proxy: http://user:password@host:port, socks5:// or socks5h://; separate several by spaces.",
        description="Use this proxy: `http://user:password@host:3128`, also `socks5://` or `socks5h://`. Separate "
        "several by spaces; each host is assigned one.",
        placeholder="http://proxy.example.com:3128",
        typed=Typed.ADDRESSES,
        read=_read_proxies,
        masked=lambda known: (f"Proxy: {Proxy.parse(proxy)}" for proxy in known.proxies),
        is_for_own_hosts=False,
    ),
)

KINDS = {kind.name: kind for kind in (*_OWN, *_GIVEN)}
"""The kinds of credentials, by name. Form, command, API, masking and what may be changed are derived from them."""

CHANGEABLE = {name: kind.change for name, kind in KINDS.items() if kind.change}
"""Those that the owner of a crawl may change while it runs."""


# The own hosts of a crawl, which may get its credentials.

_PORT = re.compile(r":([0-9]+)$")


def own_hosts(
    start_urls: Sequence[str], hosts: Iterable[str] = (), *, subdomains: bool = False, listed: bool = False
) -> tuple[str, ...]:
    """The crawl's own origins, "scheme://host[:port]" or "scheme://*.host[:port]", in order; `listed` for a crawl of a
    URL list. The URLs are normalised; `hosts` as in `CrawlOptions`.

    1. The sites of its start URLs, as in `core.urls.crawl_scope`: "www." makes no difference, the port does.
    2. With `subdomains`, the hosts below those sites.
    3. The hosts that the user added with `hosts`.
    4. A crawl of a URL list has only the hosts of 3, because a list does not say which hosts to trust.
    5. Always over https. In clear text only where the user chose it: on the site of a start URL with http; on an added
       host with a port, or if every start URL is http.
    """
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
    host = parse_user_host(typed)
    host = host if host.startswith(BELOW) else site_of(host)
    port = _PORT.search(typed.strip())
    yield f"https://{host}"
    if port[1] != "443" if port else clear:
        yield f"http://{host}"
