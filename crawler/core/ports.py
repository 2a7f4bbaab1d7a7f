"""Which ports may be asked: at public addresses those listed, and nowhere those that no browser asks."""

from __future__ import annotations

from collections.abc import Container, Sequence

from crawler.core.errors import BadInput

EVERY_PORT = "*"
USUAL = frozenset({80, 443, 3128, 8000, 8008, 8080, 8081, 8443, 8888})  # 3128 is the usual one of a proxy

# Source: the Fetch Standard, "bad port", https://fetch.spec.whatwg.org/#port-blocking: what listens there is no web
# server, and could be told things by what we send. Port 0 stands there too.
_BAD_ONES = """
    0 1 7 9 11 13 15 17 19 20 21 22 23 25 37 42 43 53 69 77 79 87 95 101 102 103 104 109 110 111 113 115 117 119 123 135
    137 139 143 161 179 389 427 465 512 513 514 515 526 530 531 532 540 548 554 556 563 587 601 636 989 990 993 995 1719
    1720 1723 2049 3659 4045 4190 5060 5061 6000 6566 6665 6666 6667 6668 6669 6679 6697 10080
"""
_BAD = frozenset(map(int, _BAD_ONES.split()))


def is_bad(port: int) -> bool:
    """Whether no browser asks this port."""
    return port in _BAD


def parse_ports(texts: Sequence[str]) -> Container[int]:
    """The ports a person lists, or "*" for all that browsers ask; BadInput("ports") for what is none of those."""
    if EVERY_PORT in texts:
        return range(1, 65536)
    return frozenset(map(_port, texts))


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 5 and 1 <= int(text) <= 65535):
        raise BadInput("ports", f'{text!r} is not a port; give numbers such as 80,443,8080, or "*" for every port.')
    if is_bad(int(text)):
        raise BadInput(
            "ports", f"Port {text} is one that browsers refuse; allow it for one host, as host:{text} among the hosts."
        )
    return int(text)
