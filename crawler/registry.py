"""The capabilities, a line each: what a crawl may do besides being exact. The kernel asks for what they give to a seam.

A capability is a folder of `crawler.capabilities`. Its line names the seams it uses; for the seam "lanes" its module
`lanes` has a tuple `LANES`. Nothing is searched for, and a line that names a module that is missing is an error.
docs/decisions/structure.md says why the names stand at the ground and the imports come later.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TypeVar

CAPABILITIES: dict[str, tuple[str, ...]] = {
    "browser": ("options", "lanes", "page_steps", "page_rows", "receipt_parts"),
    "hooks": ("page_steps", "page_rows", "page_readers", "subscribers", "receipt_parts"),
    "scrapy": ("options", "lanes", "page_steps", "page_rows", "receipt_parts"),
    "cache": ("options",),
    "extraction": ("options", "page_steps"),
    "content": ("options", "page_steps"),
    "login": ("options", "page_steps"),
    "traps": ("options",),
}
"""Capability -> the seams it uses. The order is that of the entries."""

T = TypeVar("T")


def entries(seam: str, kind: type[T]) -> tuple[T, ...]:
    """What the capabilities give to this seam. TypeError for an entry that is not of this kind."""
    found = _entries(seam)
    for entry in found:
        if not isinstance(entry, kind):
            raise TypeError(f"{entry!r} in the {seam} of a capability is not a {kind.__name__}")
    return found  # type: ignore[return-value]  # checked above


@cache
def _entries(seam: str) -> tuple[object, ...]:
    names = [name for name, seams in CAPABILITIES.items() if seam in seams]
    modules = (import_module(f"crawler.capabilities.{name}.{seam}") for name in names)
    return tuple(entry for module in modules for entry in getattr(module, seam.upper()))
