"""Query parameters without effect on the page: tracking parameters and session ids."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from crawler.core.errors import BadInput
from crawler.core.urls.normalise import normalise

ID = "={id}"
"""After a name: only if the value looks like a generated id."""

TRACKING_PARAMETERS = (
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
    "sid={id}",  # phpBB; "sid" with a short value is the number of an item
    "s={id}",  # vBulletin; "s" with a word is a search
    "sess*={id}",
)
"""Names in any case. "*" at the end matches any characters, "={id}" a value that looks like a session id."""

_HEX_ID = re.compile(r"(?=[0-9a-f]*[0-9])(?=[0-9a-f]*[a-f])[0-9a-f]{16,}", re.IGNORECASE)
_MIXED_ID = re.compile(r"[0-9A-Za-z]{20,}")
_SWITCHES = re.compile(r"[0-9](?=[A-Za-z])|[A-Za-z](?=[0-9])")


class Parameters(msgspec.Struct, frozen=True):
    """Parameters to drop, by a list of names as in TRACKING_PARAMETERS."""

    names: frozenset[str]
    beginnings: tuple[str, ...]
    names_of_ids: frozenset[str]
    beginnings_of_ids: tuple[str, ...]

    @classmethod
    def of(cls, entries: Sequence[str]) -> Parameters:
        """From a list as users write it. The entries have passed `check_parameter`."""
        always = [entry.lower() for entry in entries if not entry.endswith(ID)]
        of_ids = [entry.removesuffix(ID).lower() for entry in entries if entry.endswith(ID)]
        return cls(_whole(always), _begun(always), _whole(of_ids), _begun(of_ids))

    def without(self, url: str) -> str:
        """The normalised URL without these parameters, in its query or after ";" in its path. The rest is unchanged."""
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
        name, *after = segment.split(";")
        return ";".join([name, *(piece for piece in after if not self._drops(piece))])

    def _drops(self, piece: str) -> bool:
        name, _, value = piece.partition("=")
        name = name.lower()
        if name in self.names or name.startswith(self.beginnings):
            return True
        return (name in self.names_of_ids or name.startswith(self.beginnings_of_ids)) and looks_like_id(value)


def check_parameter(field: str, entry: str) -> None:
    """BadInput when the entry of such a list is invalid."""
    name = entry.removesuffix(ID)
    if not name or re.search(r"[\s&=?#;/]", name) or "*" in name[:-1]:
        raise BadInput(field, f"{entry!r} is not a parameter name; write names such as gclid, utm_* or sid{ID}.")


def looks_like_id(value: str) -> bool:
    """Whether this value looks like a generated session id: 16 or more hexadecimal digits, or 20 or more mixed letters
    and digits."""
    if _HEX_ID.fullmatch(value):
        return True
    return _MIXED_ID.fullmatch(value) is not None and len(_SWITCHES.findall(value)) >= 4


def _whole(entries: Sequence[str]) -> frozenset[str]:
    return frozenset(entry for entry in entries if not entry.endswith("*"))


def _begun(entries: Sequence[str]) -> tuple[str, ...]:
    return tuple(entry[:-1] for entry in entries if entry.endswith("*"))


# The query parameters a crawl drops, as the user chooses them.


def chosen(more: Sequence[str], *, keep_tracking: bool) -> tuple[str, ...]:
    """The parameters to drop: the tracking parameters unless they are kept, and those that the user named."""
    return tuple(dict.fromkeys([*(() if keep_tracking else TRACKING_PARAMETERS), *more]))


def typed_for(dropped: Sequence[str]) -> tuple[tuple[str, ...], bool]:
    """The arguments of `chosen` for these: the names, and whether the tracking parameters are kept."""
    if not set(TRACKING_PARAMETERS) <= set(dropped):
        return tuple(dropped), True
    return tuple(name for name in dropped if name not in TRACKING_PARAMETERS), False
