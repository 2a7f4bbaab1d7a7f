"""Hosts and beginnings of paths, as people type them to say what belongs to their site."""

from __future__ import annotations

import re

from crawler.core.errors import BadInput
from crawler.core.urls.normalise import host_of, normalise

BELOW = "*."  # before a host: those below it, and not the host itself


def check_host(field: str, typed: str) -> None:
    """BadInput when this is not "host", "host:port" or "*.host"."""
    name = typed.strip().removeprefix(BELOW)
    if re.search(r"[\s/?#@*\\]", name) or normalise(f"http://{name}/") is None:
        raise BadInput(
            field,
            f"{typed!r} is not a host; write a name such as shop.example.com, with :port if it has one of its own, "
            "or *.example.com for those below it.",
        )


def check_prefix(field: str, typed: str) -> None:
    """BadInput when no path can begin like this."""
    if not typed.strip().startswith("/") or re.search(r"[?#]", typed):
        raise BadInput(field, f"{typed!r} is not the beginning of a path; write one such as /docs/.")


def host_typed(typed: str) -> str:
    """The one spelling of what has passed `check_host`, as `host_of` gives it; behind "*." when that was typed."""
    star = BELOW if typed.strip().startswith(BELOW) else ""
    url = normalise(f"http://{typed.strip().removeprefix(BELOW)}/")
    return star + (host_of(url).removesuffix(":443") if url else typed.strip())


def prefix_typed(typed: str) -> str:
    """The one spelling of what has passed `check_prefix`, as paths are written in normalised URLs."""
    url = normalise(f"http://host{typed.strip()}")
    return url.removeprefix("http://host") if url else typed.strip()
