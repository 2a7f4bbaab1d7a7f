"""Requests to the proxy: where they lead, and the heads that are sent on; of responses, the head that is sent back."""

from __future__ import annotations

import base64
import re
from collections.abc import Collection, Sequence

import msgspec

from crawler.core.urls.addresses import Proxy
from crawler.core.urls.normalise import host_and_port, resolve

_HTTP_WORD = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"  # RFC 9110, 5.6.2
_REQUEST_LINE = re.compile(rf"({_HTTP_WORD}) ([\x21-\x7e]+) HTTP/1\.[01]")
_STATUS_LINE = re.compile(r"HTTP/1\.[01] ([1-5][0-9]{2})(?: [^\r\0]*)?")
_FIELD = re.compile(rf"({_HTTP_WORD}):([^\r\0]*)")
_AUTHORITY = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^][:/?#@\\%]+)(?::([0-9]{1,5}))?")  # no user, no zone, nothing encoded
_HTTP_URL = re.compile(r"http://([^/?#]*)([^#]*)", re.IGNORECASE)

# Of one connection (RFC 9110, 7.6.1), or between a client and its proxy. Transfer-Encoding is not among them: bodies
# pass as they are.
_HOP_BY_HOP = frozenset(
    {
        "connection", "keep-alive", "proxy-authenticate", "proxy-authentication-info", "proxy-authorization",
        "proxy-connection", "te", "upgrade",
    }
)  # fmt: skip
_FRAMING = frozenset({"content-length", "transfer-encoding"})  # whatever Connection says of them


class BadRequest(ValueError):
    """What a client sent is no request that the proxy takes; the text is one line."""


class BadResponse(ValueError):
    """What a server sent is no response that can be sent back; the text is one line."""


class Target(msgspec.Struct, frozen=True):
    """Where a request leads."""

    host: str  # as the guard takes it: in normal form, an IPv6 address without brackets
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


class Request(msgspec.Struct, frozen=True):
    """The head of a request to the proxy. Nothing in it has been checked but by the methods that raise."""

    line: str
    fields: tuple[str, ...]  # "Name: value"

    @classmethod
    def parse(cls, head: bytes) -> Request:
        first, *fields = _lines(head)
        return cls(first, tuple(fields))

    @property
    def credentials(self) -> tuple[str, str]:
        """User and password of the only Proxy-Authorization (RFC 7617); empty if there are none that can be read."""
        given = self._values("proxy-authorization")
        scheme, _, encoded = given[0].partition(" ") if len(given) == 1 else ("", "", "")
        try:
            user, _, password = base64.b64decode(encoded.strip(), validate=True).decode("ascii").partition(":")
        except ValueError:  # no Base64, or not ASCII
            return "", ""
        return (user, password) if scheme.lower() == "basic" else ("", "")

    @property
    def is_tunnel(self) -> bool:
        return self.line.startswith("CONNECT ")

    def target(self) -> Target:
        """Raises BadRequest for anything but `CONNECT host:port` and `METHOD http://host[:port]/...`."""
        _, target = self._method_and_target()
        if self.is_tunnel:
            return _target_of(target, None)
        url = _HTTP_URL.fullmatch(target)
        if url is None:
            raise BadRequest("only CONNECT and http:// URLs are served here")
        return _target_of(url[1], 80)

    def body_size(self) -> int:
        """Bytes of the body behind the head. Raises BadRequest where it is not told."""
        sizes = set(self._values("content-length"))
        if self._values("transfer-encoding") or len(sizes) > 1:
            raise BadRequest("the length of the body must be given by one Content-Length")
        size = sizes.pop() if sizes else "0"
        if re.fullmatch(r"[0-9]{1,18}", size) is None:
            raise BadRequest("the Content-Length is not a number")
        return int(size)

    def forwarded(self, to: Proxy | None) -> bytes:
        """The head for the server, or for a proxy that asks it (RFC 9112, 3.2.2); the connection shall be closed after
        the response. Raises BadRequest."""
        method, target = self._method_and_target()
        url = _HTTP_URL.fullmatch(target)
        if url is None:
            raise BadRequest("only http:// URLs are forwarded")
        if not all(map(_FIELD.fullmatch, self.fields)):
            raise BadRequest("a header cannot be read")
        path = url[2] if url[2].startswith("/") else f"/{url[2]}"
        lines = [f"{method} {target if to else path} HTTP/1.1", f"Host: {url[1]}"]
        if to and to.authorization:
            lines.append(f"Proxy-Authorization: {to.authorization}")
        return _head([*lines, *_end_to_end(self.fields, {"host"})])

    def _method_and_target(self) -> tuple[str, str]:
        match = _REQUEST_LINE.fullmatch(self.line)
        if match is None:
            raise BadRequest("this is not an HTTP/1.1 request")
        return match[1], match[2]

    def _values(self, name: str) -> list[str]:
        named = (field.partition(":") for field in self.fields)
        return [value.strip() for found, _, value in named if found.lower() == name]


def returned(head: bytes) -> tuple[int, bytes]:
    """Status and head of a response, for a client that shall close the connection behind it. Raises BadResponse."""
    first, *fields = _lines(head)
    match = _STATUS_LINE.fullmatch(first)
    if match is None:
        raise BadResponse("the response of the server is not HTTP/1.1")
    return int(match[1]), _head([first, *_end_to_end(fields)])


def _target_of(authority: str, default: int | None) -> Target:
    match = _AUTHORITY.fullmatch(authority)
    port = int(match[2]) if match and match[2] else default
    url = resolve(f"http://{match[1]}/") if match else None  # the host in the form that its URL has
    if url is None or port is None or port > 65535:
        raise BadRequest("the target is not a host and port")
    return Target(host_and_port(url)[0], port)


def _lines(head: bytes) -> list[str]:
    return head.decode("latin-1").rstrip("\r\n").replace("\r\n", "\n").split("\n")


def _head(lines: Sequence[str]) -> bytes:
    return "".join(f"{line}\r\n" for line in (*lines, "Connection: close", "")).encode("latin-1")


def _end_to_end(fields: Sequence[str], without: Collection[str] = ()) -> list[str]:
    """The fields, without hop-by-hop fields, fields that Connection names, and fields that cannot be read."""
    read = [(match, match[1].lower()) for match in map(_FIELD.fullmatch, fields) if match is not None]
    options = {option.strip().lower() for match, name in read if name == "connection" for option in match[2].split(",")}
    dropped = _HOP_BY_HOP.union(options - _FRAMING, without)
    return [match[0] for match, name in read if name not in dropped]
