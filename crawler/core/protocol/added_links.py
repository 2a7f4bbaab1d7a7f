"""Links that are not in a page's HTML, but that a script or users' own code has found."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from crawler.core.html import link_codec
from crawler.core.html.link_codec import Occurrences
from crawler.core.protocol.messages import PageResult
from crawler.core.urls.normalise import normalise


def with_links(result: PageResult, url: str, links: Sequence[str]) -> PageResult:
    """The result with further links, which have no text. What is no web address is left out."""
    known, found = set(result.links), (normalise(link, url) for link in links)
    new = [link for link in dict.fromkeys(found) if link and link not in known]
    if not new:
        return result
    targets = (*result.links, *new)
    places = {target: place for place, target in enumerate(targets)}
    before = link_codec.unpacked(result.linkage, url)
    occurrences = Occurrences(
        [*(places[link.url] for link in before), *(places[link] for link in new)],
        [*(link.text for link in before), *("" for _ in new)],
        {at: link.rel for at, link in enumerate(before) if link.rel},
    )
    return msgspec.structs.replace(
        result,
        links=targets,
        link_keys=link_codec.keys(targets),
        linkage=link_codec.packed(targets, occurrences, url),
    )
