"""What somebody who typed `crawl` chose: whether it goes together, and the options of the crawl it makes."""

from __future__ import annotations

from typing import Any

from crawler.core import dropping
from crawler.core.errors import BadInput
from crawler.core.events import USUAL, chosen_events
from crawler.core.options import RECEIVERS, CrawlOptions
from crawler.core.receivers import receiver_of
from crawler.exports.file import check_writable
from crawler.exports.formats import format_of
from crawler.management.arguments import usual
from crawler.management.rules_file import rules_in


def check_usage(typed: dict[str, Any]) -> None:
    """BadInput for what can be seen to be wrong before anything is started."""
    if typed["resume"]:
        _check_nothing_settled(typed)
    elif not (typed["urls"] or typed["list"]):
        raise BadInput("start_urls", "Give at least one start URL, such as: bin/crawl https://example.com/")
    _check_list(typed)
    target = typed["export"]
    if target is None:
        return
    if target == "-" and typed["json"]:
        raise BadInput("export", "--json and --export - both want stdout; give --export a file name.")
    format_of(target)
    if target != "-":
        check_writable(target)


def chosen(typed: dict[str, Any]) -> CrawlOptions:
    """The options, not judged yet."""
    return CrawlOptions(
        max_pages=typed["max_pages"],
        max_depth=typed["max_depth"],
        max_bytes=typed["max_bytes"],
        include=tuple(typed["include"]),
        exclude=tuple(typed["exclude"]),
        subdomains=typed["subdomains"],
        hosts=tuple(typed["host"]),
        path_prefixes=tuple(typed["path_prefix"]),
        recursive=not typed["no_recursive"],
        externals=typed["externals"],
        traps=typed["traps"],
        drop_parameters=dropping.chosen(typed["drop_parameter"], keep_usual=typed["keep_parameters"]),
        sitemaps=typed["sitemaps"],
        sitemap_urls=tuple(typed["sitemap"]),
        delay=typed["delay"],
        per_minute=typed["per_minute"],
        concurrency=typed["concurrency"],
        throttle=typed["throttle"],
        obey_robots=not typed["ignore_robots"],
        obey_nofollow=typed["obey_nofollow"],
        obey_noindex=typed["obey_noindex"],
        near_duplicates=typed["near_duplicates"],
        revisit=typed["revisit"],
        response_ttl=typed["cache"],
        fields=rules_in(typed["fields"]),
        keep=tuple(dict.fromkeys(typed["keep"])),
        deadline=typed["deadline"],
        page_ttl=typed["page_ttl"],
        notify_events=chosen_events("notify_on", typed["notify_on"]) or USUAL,
        **_receivers(typed["notify"]),
    )


def _check_list(typed: dict[str, Any]) -> None:
    if typed["list"] and typed["urls"]:
        raise BadInput("list", "Give URLs or a list, not both.")
    for name in ("list_column", "priority_column", "invalid"):
        if typed[name] and not typed["list"]:
            raise BadInput(name, f"--{name.replace('_', '-')} says something about a list; give --list FILE with it.")
    if typed["invalid"]:
        check_writable(typed["invalid"])


def _check_nothing_settled(typed: dict[str, Any]) -> None:
    names = [_typed_as(name, typed[name]) for name, value in usual().items() if typed[name] != value]
    if names:
        raise BadInput("resume", f"A crawl that goes on keeps what it was started with; leave out {', '.join(names)}.")


def _typed_as(name: str, value: object) -> str:
    """How an argument was typed, for a person."""
    if name == "urls":
        return "the URL"
    return f"--{'no-' if value is False else ''}{name.replace('_', '-')}"


def _receivers(typed: list[str]) -> dict[str, Any]:
    """The options that hold the addresses. Whether each can be used is judged with the other options."""
    receivers = [receiver_of("notify", address) for address in typed]
    return {
        field: tuple(receiver.address for receiver in receivers if receiver.means is means)
        for means, field in RECEIVERS.items()
    }
