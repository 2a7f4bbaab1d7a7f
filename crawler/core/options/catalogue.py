"""The catalogue of crawl options, and the check of the values that a user chose."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import msgspec

from crawler import registry
from crawler.core.composed import ComposedStruct
from crawler.core.errors import BadInput
from crawler.core.options.conflicts import Conflict, has, none_of
from crawler.core.options.events import DEFAULT_EVENTS, Event, chosen_events
from crawler.core.options.kinds import Option, OptionGroup, OptionSet, Rules, Several, Switch, by_hand, option
from crawler.core.options.limits import LimitOptions
from crawler.core.options.links import LinkOptions
from crawler.core.options.of_capabilities import CapabilityOptions
from crawler.core.options.politeness import PolitenessOptions
from crawler.core.options.queue import QueueOptions
from crawler.core.options.receivers import PAGE_RECEIVERS, RECEIVERS, ReceiverOptions
from crawler.core.options.scope import ScopeOptions

REPORTS = OptionGroup("Reports", "further checks", "reports", 50)

_SETS = registry.entries("options", OptionSet)


class CrawlOptions(
    LimitOptions,
    ScopeOptions,
    LinkOptions,
    PolitenessOptions,
    QueueOptions,
    CapabilityOptions,
    msgspec.Struct,
    metaclass=ComposedStruct,
    frozen=True,
    kw_only=True,
):
    """What the user chose for one crawl. Stored as JSON on the crawl row.

    Form, command, API and docs/options.md are derived from the entries, with the options in this order.
    """

    parts: ClassVar = (*(options.part for options in _SETS), ReceiverOptions)

    near_duplicates: bool = option(Switch(), REPORTS, "Find near-duplicates", "Find pages with nearly the same text.")
    private_hosts: tuple[str, ...] = ()  # host, host:port or CIDR; "*" = every address that is not public
    notify_events: tuple[str, ...] = by_hand(
        DEFAULT_EVENTS,
        "The events to send: `crawl.started`, `crawl.paused`, `crawl.finished`, `crawl.failed`, "
        "`crawl.cancelled`, and for webhooks `crawl.page`.",
        chosen_events,
    )

    def to_plain(self) -> dict[str, Any]:
        plain: dict[str, Any] = msgspec.to_builtins(self)
        return plain

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> CrawlOptions:
        """Options read back from a crawl row; unknown names are ignored so that old rows stay readable."""
        return msgspec.convert(dict(plain), cls)


DEFAULTS = CrawlOptions()

OPTIONS = {name: entry for name, entry in CrawlOptions.entries.items() if isinstance(entry, Option)}
"""The catalogue: every option but those with their own code."""

RULES = [entry for entry in CrawlOptions.entries.values() if isinstance(entry, Rules)]
SEVERAL = [entry for entry in CrawlOptions.entries.values() if isinstance(entry, Several)]

GROUPED: tuple[Option | Rules | Several, ...] = (*OPTIONS.values(), *RULES, *SEVERAL)
"""The entries that stand in a group on the form and in the help of the command."""

CONFLICTS = (
    *(conflict for options in _SETS for conflict in options.conflicts),
    Conflict(
        "notify_events",
        has("notify_events", Event.PAGE),
        none_of(*PAGE_RECEIVERS),
        "Only webhooks receive page notices; add a webhook, or leave out the event `page`.",
    ),
)


def check_options(options: CrawlOptions) -> CrawlOptions:
    """The same options, or BadInput naming the first field that cannot be used."""
    for field, entry in CrawlOptions.entries.items():
        entry.check(getattr(options, field))
    for conflict in CONFLICTS:
        if conflict.when(options) and conflict.excludes(options):
            raise BadInput(conflict.field, conflict.because)
    return options


CHANGEABLE = (
    *("max_pages", "deadline", "stay_open", "include", "exclude", "priorities"),
    *(name for options in _SETS for name in options.changeable),
    *("delay", "per_minute", "concurrency"),
    *RECEIVERS.values(),
    "notify_events",
)
"""The options that a user may change while a crawl runs."""
