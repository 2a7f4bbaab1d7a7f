"""Which query parameters a crawl drops, as a person chooses them: the usual ones or not, and more by name."""

from __future__ import annotations

from collections.abc import Sequence

from crawler.core.parameters import USUAL


def chosen(more: Sequence[str], *, keep_usual: bool) -> tuple[str, ...]:
    """The parameters to drop: the usual ones unless they are kept, and those a person named beside them."""
    return tuple(dict.fromkeys([*(() if keep_usual else USUAL), *more]))


def typed_for(dropped: Sequence[str]) -> tuple[tuple[str, ...], bool]:
    """What `chosen` made these of: the names a person gave, and whether the usual ones are kept."""
    if not set(USUAL) <= set(dropped):
        return tuple(dropped), True
    return tuple(name for name in dropped if name not in USUAL), False
