"""What a proxy is to us: an HTTP proxy with a host, a port, and perhaps a user and password that are never shown."""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass, field
from urllib.parse import quote, unquote, urlsplit

import ada_url

from crawler.core.errors import BadInput

EXAMPLE = "such as http://proxy.example.com:3128 or http://user:password@proxy.example.com:3128"

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")


@dataclass(frozen=True, slots=True)
class Proxy:
    """A proxy that is spoken to in plain HTTP: whole URLs for http pages, CONNECT for https ones."""

    host: str  # as a resolver takes it: an IPv6 address is without brackets
    port: int
    user: str = field(default="", repr=False)
    password: str = field(default="", repr=False)

    @classmethod
    def parse(cls, typed: str, name: str = "proxy") -> Proxy:
        """The proxy a person typed, or BadInput(name). No message repeats what was typed: it may hold a password."""
        text = typed.strip()
        if _CONTROL.search(text):
            raise BadInput(name, "The proxy's address holds a line end or another control character.")
        scheme = match[1].lower() if (match := _SCHEME.match(text)) else ""
        if scheme.startswith("socks"):
            raise BadInput(name, f"SOCKS proxies are not supported; give an HTTP proxy, {EXAMPLE}.")
        if scheme == "https":
            raise BadInput(
                name, f"Proxies that are spoken to over TLS are not supported; give one as http://, {EXAMPLE}."
            )
        if scheme not in ("http", ""):
            raise BadInput(name, f"A proxy's address begins with http://, {EXAMPLE}.")
        return cls._read(text if scheme else f"http://{text}", name)

    @classmethod
    def _read(cls, text: str, name: str) -> Proxy:
        try:
            parts = urlsplit(ada_url.normalize_url(text))
            host, port = parts.hostname or "", parts.port or 80
        except ValueError:
            raise BadInput(name, f"This is not a proxy's address; give one {EXAMPLE}.") from None
        if parts.path not in ("", "/") or parts.query or parts.fragment:
            raise BadInput(name, f"A proxy's address has nothing behind its port; give one {EXAMPLE}.")
        proxy = cls(host, port, unquote(parts.username or ""), unquote(parts.password or ""))
        if _CONTROL.search(proxy.user + proxy.password) or ":" in proxy.user:
            raise BadInput(name, "The proxy's user cannot hold a colon, nor user or password a control character.")
        return proxy

    @property
    def text(self) -> str:
        """The one spelling that `parse` reads back, password and all: to be sealed, never to be shown."""
        known = f"{quote(self.user, safe='')}:{quote(self.password, safe='')}@" if self.user or self.password else ""
        return f"http://{known}{self.where}"

    @property
    def authorization(self) -> str:
        """The value of Proxy-Authorization; "" for a proxy that asks for nothing."""
        if not self.user and not self.password:
            return ""
        return f"Basic {base64.b64encode(f'{self.user}:{self.password}'.encode()).decode()}"

    @property
    def where(self) -> str:
        """Host and port, as the guard's list of allowed addresses names them."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    def __str__(self) -> str:
        """For people: without the password."""
        return f"http://…@{self.where}" if self.user or self.password else f"http://{self.where}"
