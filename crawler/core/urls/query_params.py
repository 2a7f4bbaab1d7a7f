"""Query parameters that say nothing about the page: campaign marks and session ids."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from crawler.core.errors import BadInput
from crawler.core.urls.normalise import normalise

ID = "={id}"
"""Behind a name: only where the value looks like an id made by a machine."""

USUAL = (
    "utm_*",
    "gclid",
    "dclid",
    "gbraid",
    "wbraid",
    "fbclid",
    "msclkid",
    "yclid",
    "igshid",
    "mc_cid",
    "mc_eid",
    "_ga",
    "_gl",
    "PHPSESSID",
    "JSESSIONID",
    "ASPSESSIONID*",
    "CFID",
    "CFTOKEN",
    "osCsid",
    "zenid",
    "sid={id}",  # phpBB; "sid" with a short value is a shop's or a news item's number
    "s={id}",  # vBulletin; "s" with a word is a search
    "sess*={id}",
)
"""Names in any case. "*" at the end stands for any characters, "={id}" for a value that looks like a session id."""

_SESSION_NAMES = frozenset({"phpsessid", "jsessionid", "cfid", "cftoken", "oscsid", "zenid"})
_HEX_ID = re.compile(r"(?=[0-9a-f]*[0-9])(?=[0-9a-f]*[a-f])[0-9a-f]{16,}", re.IGNORECASE)
_MIXED_ID = re.compile(r"[0-9A-Za-z]{20,}")
_SWITCHES = re.compile(r"[0-9](?=[A-Za-z])|[A-Za-z](?=[0-9])")


@dataclass(frozen=True, slots=True)
class Parameters:
    """Parameters to be dropped, by a list of names as in USUAL."""

    names: frozenset[str]
    beginnings: tuple[str, ...]
    names_of_ids: frozenset[str]
    beginnings_of_ids: tuple[str, ...]

    @classmethod
    def of(cls, entries: Sequence[str]) -> Parameters:
        """The list as people write it. The entries have passed `check_parameter`."""
        always = [entry.lower() for entry in entries if not entry.endswith(ID)]
        of_ids = [entry.removesuffix(ID).lower() for entry in entries if entry.endswith(ID)]
        return cls(_whole(always), _begun(always), _whole(of_ids), _begun(of_ids))

    def without(self, url: str) -> str:
        """The normalised URL without these parameters, be they in its query or behind ";" in its path. What is left
        stays as it was, in its order."""
        if "?" in url:
            address, _, query = url.partition("?")
            kept = [piece for piece in query.split("&") if not self._drops(piece)]
            if len(kept) != query.count("&") + 1:
                url = f"{address}?{'&'.join(kept)}" if any(kept) else address
        if ";" in url:
            url = self._without_in_path(url)
        return url

    def _without_in_path(self, url: str) -> str:
        address, mark, query = url.partition("?")
        segments = [self._tidied(segment) for segment in address.split("/")]
        tidied = "/".join(segments) + mark + query
        return url if tidied == url else normalise(tidied) or url  # "/..;sid=1" has become "/.."

    def _tidied(self, segment: str) -> str:
        name, *behind = segment.split(";")
        return ";".join([name, *(piece for piece in behind if not self._drops(piece))])

    def _drops(self, piece: str) -> bool:
        name, _, value = piece.partition("=")
        name = name.lower()
        if name in self.names or name.startswith(self.beginnings):
            return True
        return (name in self.names_of_ids or name.startswith(self.beginnings_of_ids)) and looks_like_id(value)


def check_parameter(field: str, entry: str) -> None:
    """BadInput when the entry of such a list cannot be used."""
    name = entry.removesuffix(ID)
    if not name or re.search(r"[\s&=?#;/]", name) or "*" in name[:-1]:
        raise BadInput(field, f"{entry!r} is not the name of a parameter; write names such as gclid, utm_* or sid{ID}.")


def looks_like_id(value: str) -> bool:
    """Whether a machine made this value, to tell one visitor from another: 16 or more hexadecimal digits, or 20 or more
    letters and digits in a jumble."""
    if _HEX_ID.fullmatch(value):
        return True
    return _MIXED_ID.fullmatch(value) is not None and len(_SWITCHES.findall(value)) >= 4


def is_session(name: str, value: str) -> bool:
    """Whether this parameter carries a visitor's session."""
    name = name.lower()
    if name in _SESSION_NAMES or name.startswith("aspsessionid"):
        return True
    named_so = name in ("s", "sid") or name.startswith("sess") or name.endswith(("sessid", "sessionid", "session_id"))
    return named_so and looks_like_id(value)


def _whole(entries: Sequence[str]) -> frozenset[str]:
    return frozenset(entry for entry in entries if not entry.endswith("*"))


def _begun(entries: Sequence[str]) -> tuple[str, ...]:
    return tuple(entry[:-1] for entry in entries if entry.endswith("*"))


# Which query parameters a crawl drops, as a person chooses them: the usual ones or not, and more by name.


def chosen(more: Sequence[str], *, keep_usual: bool) -> tuple[str, ...]:
    """The parameters to drop: the usual ones unless they are kept, and those a person named beside them."""
    return tuple(dict.fromkeys([*(() if keep_usual else USUAL), *more]))


def typed_for(dropped: Sequence[str]) -> tuple[tuple[str, ...], bool]:
    """What `chosen` made these of: the names a person gave, and whether the usual ones are kept."""
    if not set(USUAL) <= set(dropped):
        return tuple(dropped), True
    return tuple(name for name in dropped if name not in USUAL), False
