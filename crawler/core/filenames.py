"""The name of a file that holds a page: one that says which page, and that is safe wherever it is unpacked."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

LONGEST_PART = 60  # characters
MOST_PARTS = 8
_UNSAFE = re.compile(r"[^A-Za-z0-9._~-]+")


def file_name(url: str, page_id: int, ending: str) -> str:
    """Such as "example.com/docs/intro-17.md": the page's host and path as far as every file system takes them, and its
    id, so that no two pages have the same. No part of it begins with a point, so it leads nowhere else."""
    parts = urlsplit(url)
    path = [_safe(part) for part in parts.path.split("/")]
    *folders, last = [_safe(parts.netloc) or "page", *(part for part in path[:-1] if part), path[-1] or "index"]
    stem = last.rsplit(".", 1)[0] if last.lower().endswith((".html", ".htm")) else last
    return "/".join([*folders[:MOST_PARTS], f"{stem}-{page_id}.{ending}"])


def _safe(part: str) -> str:
    return _UNSAFE.sub("_", part).strip("._")[:LONGEST_PART]
