"""Options: how a crawl treats the hosts it requests. A fetch job reads them all, see `protocol.fetch_policy`."""

from __future__ import annotations

from crawler.core.composed import Part
from crawler.core.options.kinds import Number, OptionGroup, Seconds, Switch, Text, WholeNumber, option
from crawler.core.robots.user_agent import check_user_agent

_FIRST = ("obey_robots", "throttle", "concurrency")
POLITENESS = OptionGroup("Politeness", "robots.txt, delay, connections", "politeness", 70, _FIRST)


class PolitenessOptions(Part):
    """How often a host is requested, and by whom."""

    delay: float = option(
        Seconds("0.5", most=3600.0), POLITENESS, "Delay", "Minimum seconds between requests to a host."
    )
    per_minute: float | None = option(
        Number("30", most=60_000.0), POLITENESS, "Requests a minute", "Maximum requests per minute to a host."
    )
    concurrency: int = option(
        WholeNumber("4", most=64, default=4),
        POLITENESS,
        "Connections per host",
        "Maximum connections to a host. Counted over all workers.",
    )
    throttle: bool = option(
        Switch(True, has_both=True),
        POLITENESS,
        "Slow down when the site does",
        "Slow down when hosts do. Slow hosts get fewer connections, failing hosts also a delay.",
    )
    obey_robots: bool = option(
        Switch(True),
        POLITENESS,
        "Obey robots.txt",
        "Obey robots.txt. Leave this on for sites that are not yours.",
        flag="--ignore-robots",
        command_help="do not obey robots.txt (on sites you own)",
    )
    user_agent: str = option(
        Text("ExampleBot/1.0 (+https://example.com/bot)", check_user_agent, "the installation's"),
        POLITENESS,
        "User agent",
        "Send this User-Agent header. The crawler follows the robots.txt rules for its name, here ExampleBot.",
    )
    ignore_tls_errors: bool = option(
        Switch(),
        POLITENESS,
        "Ignore TLS errors",
        "Accept certificates that are not trusted. Connections are not authenticated: others on the network could read "
        "or change them. Each page records the certificate error.",
    )
