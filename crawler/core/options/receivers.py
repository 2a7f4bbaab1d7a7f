"""Options: the receivers of a crawl's notices, one for each kind of channel."""

from __future__ import annotations

from crawler.core.channels.catalogue import KINDS, check_address
from crawler.core.channels.kind import ChannelKind
from crawler.core.composed import part_of
from crawler.core.options.kinds import Option, OptionGroup, Texts, each

RECEIVERS = {kind.name: kind.option for kind in KINDS}
"""The option that holds the addresses of each kind of channel."""

MAY_BE_SECRET = tuple(kind.option for kind in KINDS if kind.is_web)
"""Those whose addresses are stored encrypted."""

PAGE_RECEIVERS = tuple(kind.option for kind in KINDS if kind.takes_pages)
"""Those whose receivers can get page notices."""

NOTICES = OptionGroup("Notices", "receivers and events", place=170, first=(*RECEIVERS.values(), "notify_events"))


def _receivers(kind: ChannelKind) -> Option:
    """The option with the addresses of a kind of channel."""
    lines = Texts(kind.placeholder or kind.example, each(lambda field, typed: check_address(field, kind.name, typed)))
    return Option(lines, NOTICES, kind.field_label, kind.help)


ReceiverOptions = part_of({kind.option: (tuple[str, ...], _receivers(kind)) for kind in KINDS}, follows="private_hosts")
"""The addresses of each kind of channel."""
