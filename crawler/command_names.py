"""How the commands are typed: `bin/crawl` and `python manage.py status` in a clone, `site-crawler crawl` and
`site-crawler status` where pip has installed them. Texts have them as in a clone, and pass through `as_typed` where
they are shown."""

from __future__ import annotations

import re
from pathlib import Path

from crawler.home import is_clone

PROGRAM = "site-crawler"
OF_DJANGO = {
    "migrate": "Create or update the tables",
    "createsuperuser": "Create an account that may do everything",
    "changepassword": "Change the password of an account",
    "check": "Look for settings that cannot work",
}
OF_OPERATORS = {
    *OF_DJANGO,
    *("audit", "autoscale", "clock", "host", "invite", "new-hook", "reconcile", "release-trap", "reseal", "scale"),
    "webhook-secret",
}
"""What `site-crawler` has below `admin`."""

_ROOT = Path(__file__).resolve().parents[1]
_NAMED = re.compile(
    r"(?<![\w/.-])"  # not within a URL or a path
    r"(?:bin/(?P<launched>crawl|up|worker)(?![/-])\b|(?:python )?manage\.py (?P<managed>[a-z-]+))"
)


def as_typed(text: str, root: Path = _ROOT) -> str:
    """A text with the commands that it names as they are typed here. `root`: the folder that holds the package."""
    return text if is_clone(root) else as_installed(text)


def as_installed(text: str) -> str:
    """A text with the commands that it names as they are typed where pip has installed them."""
    return _NAMED.sub(_installed, text)


def _installed(named: re.Match[str]) -> str:
    command = named["launched"] or named["managed"]
    return f"{PROGRAM} {'admin ' if command in OF_OPERATORS else ''}{command}"
