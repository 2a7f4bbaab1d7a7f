"""How Markdown is written: markdownify's way, with headings by hash marks, and no list that takes longer the longer it
is."""

from __future__ import annotations

from typing import Any

from markdownify import ATX, MarkdownConverter


class Writer(MarkdownConverter):
    """For one page."""

    class Options:
        heading_style = ATX
        bullets = "-"
        escape_misc = False

    def __init__(self) -> None:
        super().__init__()
        self._counted: dict[int, int] = {}

    def convert_li(self, el: Any, text: str, parent_tags: Any) -> str:
        """markdownify counts the items before each item anew; here they are counted as they come."""
        parent = el.parent
        if parent is None or parent.name != "ol":
            return str(super().convert_li(el, text, parent_tags))  # type: ignore[misc]  # its types leave it out
        number = self._counted[id(parent)] = self._counted.get(id(parent), _start(parent) - 1) + 1
        bullet = f"{number}. "
        first, *others = (text or "").strip().split("\n")
        indented = (f"{' ' * len(bullet)}{line}" if line else "" for line in others)
        return "\n".join([bullet + first, *indented]) + "\n"


def _start(ordered: Any) -> int:
    said = str(ordered.get("start") or "")
    return int(said) if said.isdecimal() and len(said) < 10 else 1
