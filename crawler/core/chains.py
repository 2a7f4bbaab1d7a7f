"""Where redirects lead that lead to redirects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Chain:
    """Redirects one after the other."""

    urls: tuple[str, ...]  # where it begins, each hop, and what the last one leads to
    loops: bool  # the last one leads back to one of the others

    @property
    def hops(self) -> int:
        return len(self.urls) - 1


def chain_from(start: str, leads_to: Mapping[str, str]) -> Chain:
    """What happens to a reader who opens `start`; `leads_to` has the target of each redirect."""
    urls = dict.fromkeys([start])
    here = start
    while here in leads_to:
        here = leads_to[here]
        if here in urls:
            return Chain((*urls, here), loops=True)
        urls[here] = None
    return Chain(tuple(urls), loops=False)


def beginnings(leads_to: Mapping[str, str]) -> list[str]:
    """The redirects that no other one leads to, and of each loop without a way in the first; in the order given."""
    led_to = set(leads_to.values())
    heads = [url for url in leads_to if url not in led_to]
    reached: set[str] = set()
    for head in heads:
        _mark(head, leads_to, reached)
    for url in leads_to:
        if url not in reached:
            heads.append(url)
            _mark(url, leads_to, reached)
    return heads


def _mark(url: str, leads_to: Mapping[str, str], reached: set[str]) -> None:
    """Note all that can be reached from here; what was noted before ends it, so each redirect is looked at once."""
    while url in leads_to and url not in reached:
        reached.add(url)
        url = leads_to[url]
