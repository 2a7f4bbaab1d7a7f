"""Normalisation of URLs by the WHATWG standard, keys of URLs, and hosts and URLs that users type."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from hashlib import blake2b
from string import ascii_letters, digits
from urllib.parse import urlsplit

import ada_url

from crawler.core.errors import BadInput
from crawler.core.urls.typed import bad_url, shown, with_scheme

# Servers accept request lines of about 8,000 bytes (RFC 9110, 4.1 recommends that). Half of it is more than ordinary
# pages use, and ends a series of ever longer URLs.
MAX_URL_LENGTH = 4096

_MAX_ENCODED_LENGTH = 3 * MAX_URL_LENGTH  # a longer one is too long in any decoding

MAX_CACHED_LINKS = 20_000  # per process; some 5 MB, and as much for their keys
MAX_CACHED_LENGTH = 250  # characters of a link, or of a folder; so the cache has at most 20 MB

_SCHEMES = ("http://", "https://")
_OWN_PORTS = {"http": 80, "ws": 80, "https": 443, "wss": 443}
_BEGINS_A_PATH = frozenset("/._-~%" + ascii_letters + digits)
# A path that joining leaves as it is: no segment begins with a dot, or is empty, and nothing has to be encoded.
_PLAIN_SEGMENT = r"[A-Za-z0-9_~!$&()*+,;=@-][A-Za-z0-9._~!$&()*+,;=@-]*"
_PLAIN_SEGMENTS = rf"{_PLAIN_SEGMENT}(?:/{_PLAIN_SEGMENT})*/?"
_PLAIN_QUERY = r"(?:\?[A-Za-z0-9._~!$&()*+,:;=@/?-]+)?"
_PLAIN_PATH = re.compile(rf"(/|(?:\.\./)*)({_PLAIN_SEGMENTS}{_PLAIN_QUERY})#?")
# A host that stays as it is: a domain in lower case, no label international ("xn--"), the last one not a number.
_PLAIN_HOST = r"(?:(?!xn--)[a-z0-9][a-z0-9-]*\.)+(?!xn--)[a-z][a-z-]*"
_PLAIN_URL = re.compile(rf"(https?://{_PLAIN_HOST})(/(?:{_PLAIN_SEGMENTS})?{_PLAIN_QUERY})?#?")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_PERCENT_ENCODED = re.compile("%[0-9A-Fa-f]{2}")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def resolve(reference: str, base: str | None = None) -> str | None:
    """The href a browser makes of `reference` on a page at `base`, of any scheme; None when it is not a URL.

    Source: the URL Standard, https://url.spec.whatwg.org/.
    """
    try:
        return _parse(reference, base)
    except ValueError:
        pass
    if reference.isascii() or not _LONE_SURROGATE.search(reference):
        return None
    try:  # the standard accepts scalar values only: others become U+FFFD
        return _parse(_LONE_SURROGATE.sub("\ufffd", reference), base)
    except ValueError:
        return None


def normalise(reference: str, base: str | None = None) -> str | None:
    """The normal form in which a page's URL is stored, compared and requested; None for a URL that no page has.

    1. Resolve against `base` by the URL Standard: scheme and host in lower case, IDNA, IPv4 and IPv6 in normal
       form, default port dropped, dot segments removed, tabs, line ends and outer blanks removed.
    2. Only http and https are kept.
    3. Drop the fragment: it is never sent.
    4. Drop user name and password: links must not log the crawler in.
    5. Drop an empty query, a "?" with nothing after it.
    6. Decode percent-encoded unreserved characters and write all other encodings in upper case (RFC 3986, 6.2.2).
    7. Nothing longer than MAX_URL_LENGTH is a page.

    Order and repetition in the query, duplicate slashes, a trailing slash and "index.html" may matter to the server and
    are kept. The query is encoded as UTF-8, also if the page has another encoding.
    `normalise(normalise(x)) == normalise(x)`; it never raises.
    """
    href = resolve(reference, base)
    if href is None or not href.startswith(_SCHEMES):
        return None
    url = href.partition("#")[0]
    path_at = url.index("/", 8)  # the host has at least one character, so this is never the "//" of the scheme
    if "@" in url:
        url, path_at = _without_credentials(url, path_at)
    if url[-1] == "?" and url.index("?") == len(url) - 1:
        url = url[:-1]
    if "%" in url and len(url) <= _MAX_ENCODED_LENGTH:
        url = url[:path_at] + _PERCENT_ENCODED.sub(_tidy_encoding, url[path_at:])
    return url if len(url) <= MAX_URL_LENGTH else None


def linker(base: str) -> Callable[[str], str | None]:
    """`normalise` for the many links of one page at the normalised `base`.

    The target of most links depends only on the folder of the page, and a site's pages share their navigation: such
    links are cached. Links that may depend on more (an empty one, "?page=2", "http:x") are always resolved, and so are
    long ones, to limit memory.
    """
    folder = base.partition("?")[0]
    folder = folder[: folder.rindex("/", 8) + 1]
    if len(folder) > MAX_CACHED_LENGTH:
        return partial(normalise, base=base)
    known = _cache.of(folder)

    def link(reference: str) -> str | None:
        target = known.get(reference)
        if target is not None:
            return target or None
        if (
            reference[:1] in _BEGINS_A_PATH
            and (":" not in reference or reference.startswith(_SCHEMES))
            and len(reference) <= MAX_CACHED_LENGTH
        ):
            target = _in_folder(reference, folder)
            _cache.add(folder, reference, target or "")
            return target
        return normalise(reference, base)

    return link


class _LinkCache:
    """Targets of references by the folder of the page, "" where there is none. One that is full is emptied: to count
    uses takes longer than to resolve the links again."""

    def __init__(self) -> None:
        self._folders: dict[str, dict[str, str]] = {}
        self._size = 0  # references

    def of(self, folder: str) -> Mapping[str, str]:
        """Reference -> target. Later references may be missing."""
        return self._folders.get(folder, _NO_LINKS)

    def add(self, folder: str, reference: str, target: str) -> None:
        if self._size >= MAX_CACHED_LINKS:
            self._folders, self._size = {}, 0
        self._folders.setdefault(folder, {})[reference] = target
        self._size += 1


_NO_LINKS: Mapping[str, str] = {}
_cache = _LinkCache()


def _in_folder(reference: str, folder: str) -> str | None:
    """`normalise` for a link that depends only on the folder. Most are plain; the parser of URLs takes six times as
    long for these."""
    path = _PLAIN_PATH.fullmatch(reference)
    if path is not None:
        return _joined(path[1], path[2], folder)
    url = _PLAIN_URL.fullmatch(reference)
    if url is not None:
        return url[1] + (url[2] or "/")
    return normalise(reference, folder)


def _joined(begin: str, path: str, folder: str) -> str:
    """A plain path, behind "/" or any number of "../", in this folder."""
    root = folder.index("/", 8)
    if begin == "/":
        return folder[: root + 1] + path
    for _ in range(len(begin) // len("../")):
        folder = folder[: max(root, folder.rfind("/", 0, len(folder) - 1)) + 1]
    return folder + path


def href_of(url: str) -> str:
    """The URL if a page may link to it: http and https only, because other schemes can run scripts; else ""."""
    return url if url.startswith(_SCHEMES) else ""


def host_of(url: str) -> str:
    """ "host", or "host:port" where the port is not its scheme's own, of a normalised URL."""
    return url.split("/", 3)[2]


def origin_of(url: str) -> str:
    """ "scheme://host[:port]", without a slash at the end, of a normalised URL."""
    return url[: url.index("/", 8)]


def origins_of(host: str) -> list[str]:
    """The origins that pages of a host, as `host_of` names it, may have."""
    return [f"{scheme}{host}" for scheme in _SCHEMES]


def host_and_port(url: str) -> tuple[str, int]:
    """The host of a URL as a resolver takes it ("::1" without brackets), and the port, which may be 0. ValueError if it
    is invalid."""
    parts = urlsplit(url)
    default = 443 if parts.scheme == "https" else 80
    return parts.hostname or "", default if parts.port is None else parts.port


def host_in_browser(url: str) -> tuple[str, int | None]:
    """What `host_of` tells apart, of any URL that a page in a browser requests, also of a WebSocket's: the host, and
    the port where it is not its scheme's own. ValueError if it is invalid."""
    parts = urlsplit(url)
    return parts.hostname or "", None if parts.port == _OWN_PORTS.get(parts.scheme) else parts.port


def site_of(host: str) -> str:
    """The host without a leading "www.", which names the same site; "www.com" and "www.localhost" stay whole."""
    rest = host.removeprefix("www.")
    return rest if "." in rest else host


def key_of(url: str) -> bytes:
    """The page's unique key within its crawl: 16 bytes of BLAKE2b over the normalised URL."""
    return blake2b(url.encode(), digest_size=16).digest()


def key_of_link(url: str) -> bytes:
    """The same, of a link."""
    return cached_key(url) if len(url) <= MAX_CACHED_LENGTH else key_of(url)


cached_key = lru_cache(maxsize=MAX_CACHED_LINKS)(key_of)
"""The same, of a link with at most MAX_CACHED_LENGTH characters: a site's pages share their navigation."""


def parse_user_url(text: str) -> str:
    """The normalised URL of a start URL that a user typed, or BadInput("start_urls") saying what to type instead.

    A missing scheme means https, or http where TLS is unlikely: localhost, a numeric address, or a port other than 443
    and 8443.
    """
    url = normalise(with_scheme(text))
    if url is None:
        raise bad_url(_why_unusable(text.strip()))
    return url


def _parse(reference: str, base: str | None) -> str:
    if base is None:
        return ada_url.normalize_url(reference)
    return ada_url.join_url(base, reference)


def _without_credentials(url: str, path_at: int) -> tuple[str, int]:
    """The URL without the part before "@" in its authority, and the new position of its path."""
    scheme_end = url.index("//") + 2
    at = url.rfind("@", scheme_end, path_at)
    if at == -1:  # the "@" belongs to the path or the query
        return url, path_at
    return url[:scheme_end] + url[at + 1 :], path_at - (at + 1 - scheme_end)


def _tidy_encoding(match: re.Match[str]) -> str:
    character = chr(int(match[0][1:], 16))
    if character in _UNRESERVED and not _follows_stray_percent(match.string, match.start()):
        return character
    return match[0].upper()


def _follows_stray_percent(text: str, at: int) -> bool:
    """Whether a decoded character at `at` could complete an encoding begun by a literal "%".

    "%2%65" must not become "%2e", which would be decoded as "." the next time.
    """
    return text[at - 1] == "%" or text[at - 2 : at - 1] == "%"


def _why_unusable(typed: str) -> str:
    if len(typed) > MAX_URL_LENGTH:
        return f"{shown(typed)} is longer than {MAX_URL_LENGTH} characters, the limit for URLs."
    return f"{shown(typed)} is not a web address; check the host name and the port."


# Hosts and path prefixes, as users type them.

BELOW = "*."  # before a host: the hosts below it, without the host itself


def check_host(field: str, typed: str) -> None:
    """BadInput when this is not "host", "host:port" or "*.host"."""
    name = typed.strip().removeprefix(BELOW)
    if re.search(r"[\s/?#@*\\]", name) or normalise(f"http://{name}/") is None:
        raise BadInput(
            field,
            f"{typed!r} is not a host; write a name such as shop.example.com, with :port if needed, or *.example.com "
            "for its subdomains.",
        )


def check_prefix(field: str, typed: str) -> None:
    """BadInput when no path can begin like this."""
    if not typed.strip().startswith("/") or re.search(r"[?#]", typed):
        raise BadInput(field, f"{typed!r} is not a path prefix; write one such as /docs/.")


def parse_user_host(typed: str) -> str:
    """The normal form of input that passed `check_host`, as `host_of` returns it; with "*." before it if typed."""
    star = BELOW if typed.strip().startswith(BELOW) else ""
    url = normalise(f"http://{typed.strip().removeprefix(BELOW)}/")
    return star + (host_of(url).removesuffix(":443") if url else typed.strip())


def parse_user_prefix(typed: str) -> str:
    """The normal form of input that passed `check_prefix`, as in normalised URLs."""
    url = normalise(f"http://host{typed.strip()}")
    return url.removeprefix("http://host") if url else typed.strip()
