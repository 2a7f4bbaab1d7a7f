"""What a fetch job has to know of its crawl: the options whose entries say so, and what the installation adds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, get_type_hints

import msgspec

from crawler.core.composed import ComposedStruct, part_of
from crawler.core.options.catalogue import CrawlOptions
from crawler.core.options.kinds import OptionEntry, WireForm
from crawler.core.options.of_capabilities import CapabilityOptions
from crawler.core.options.politeness import PolitenessOptions

_HINTS = get_type_hints(CrawlOptions)


def _sent(entry: OptionEntry) -> WireForm | None:
    """How a fetch job gets the option; None = it does not."""
    if isinstance(entry.in_fetch, WireForm):
        return entry.in_fetch
    is_sent = entry.in_fetch or hasattr(PolitenessOptions, entry.name)
    return WireForm(entry.name, _HINTS[entry.name], lambda value: value) if is_sent else None


_SENT = [(entry, sent) for entry in CrawlOptions.entries.values() if (sent := _sent(entry))]


class FetchPolicy(
    PolitenessOptions, CapabilityOptions, msgspec.Struct, metaclass=ComposedStruct, frozen=True, kw_only=True
):
    """Part of the batch, so that the job needs no database. Names, types and defaults are those that workers of earlier
    versions know, see `messages`."""

    parts: ClassVar = (
        part_of(
            {
                sent.name: (sent.hint, sent.value(entry.default))
                for entry, sent in _SENT
                if not hasattr(PolitenessOptions, sent.name)
            }
        ),
    )

    if TYPE_CHECKING:  # their entries say that they are sent
        sitemaps: bool = False
        page_timeout: float | None = None

    sketches: bool = False  # compute one for each page's text, see `core.html.simhash`
    private_hosts: tuple[str, ...]  # host, host:port or CIDR that may be requested although not public; "*" = all
    max_body_bytes: int
    own_hosts: tuple[str, ...] = ()  # hosts credentials may be sent to, see `core.urls.crawl_scope`
    sealed: str = ""  # the crawl's credentials and proxy, encrypted; "" = none

    @property
    def version(self) -> int:
        """Of messages, at least: a worker of an earlier version would ignore an option, so it hands the batch back."""
        chosen = (entry for entry, sent in _SENT if getattr(self, sent.name) != sent.value(entry.default))
        return max((entry.version for entry in chosen), default=1)


def sent_values(options: CrawlOptions) -> dict[str, Any]:
    """The fields of the policy that are options of the crawl."""
    values = {sent.name: sent.value(getattr(options, entry.name)) for entry, sent in _SENT}
    return values | {"sketches": options.near_duplicates}
