"""What may be typed behind `crawl`: the arguments in their groups, one line of help each."""

from __future__ import annotations

from argparse import ArgumentParser, BooleanOptionalAction, _ArgumentGroup
from typing import Any

from crawler.core.crawl.notices import USUAL, chosen_events, receiver_of
from crawler.core.crawl.options import EXTERNALS, FORMS, RECEIVERS, CrawlOptions
from crawler.core.errors import BadInput
from crawler.core.urls import query_params
from crawler.exports.file import check_writable
from crawler.exports.formats import format_of
from crawler.management.inputs import add_secrets, number, positive, rules_in, seconds, size, some_seconds, span, whole

DEFAULTS = CrawlOptions()

EXAMPLES = """\
examples:
  bin/crawl https://example.com/
  bin/crawl https://example.com/docs/ --path-prefix /docs/ --max-pages 500 --export pages.csv
  bin/crawl https://example.com/ --sitemaps --externals check --per-minute 30
  bin/crawl https://example.com/ --host '*.example.net' --exclude '\\?print=' --deadline 2h
  bin/crawl --list urls.csv --list-column Address --export pages.csv
  bin/crawl http://127.0.0.1:8801/ --allow-private --json > receipt.json

exit codes:
  0    finished
  1    not finished in time (the crawl is paused: --resume ID goes on), cancelled or deleted by
       somebody, no start URL could be crawled, or Redis or the database is down
  2    something that was typed cannot be used; nothing was started
  130  interrupted by Ctrl-C (143 by SIGTERM); the crawl is paused: --resume ID goes on

The crawl itself is done by workers (`bin/worker`). bin/crawl and bin/up start some;
`manage.py crawl` uses those that run. Every option in full: README.md.
"""

DESCRIPTION = "Options marked with * may be given several times."


def add_arguments(parser: ArgumentParser) -> None:
    add_settled(parser)
    _add_result(parser)
    _add_running(parser)


def add_settled(parser: ArgumentParser) -> None:
    """The arguments that a crawl keeps from its start on: --resume cannot change them."""
    parser.add_argument("urls", nargs="*", metavar="URL", help="where to start: http:// or https://")
    _add_list_of_urls(parser)
    _add_limits(parser)
    _add_site(parser)
    _add_links(parser)
    _add_manners(parser)
    _add_reports(parser)
    _add_memory(parser)
    _add_content(parser)
    add_secrets(parser)
    _add_notices(parser)


def usual() -> dict[str, Any]:
    """The values of the settled arguments when none of them is typed."""
    parser = ArgumentParser()
    add_settled(parser)
    return vars(parser.parse_args([]))


def _add_list_of_urls(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("a list in place of start URLs")
    group.add_argument("--list", metavar="FILE", help="ask for each URL in FILE, and follow no links")
    group.add_argument("--list-column", default="", metavar="C", help="its column of URLs, by name or number")
    group.add_argument("--priority-column", default="", metavar="C", help="its column of priorities: 10 first, 0 last")
    group.add_argument("--invalid", metavar="FILE", help="write its lines that cannot be used to FILE")


def _add_limits(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("how far it goes")
    group.add_argument("--max-pages", type=whole, metavar="N", help="ask for N pages at most")
    group.add_argument("--max-depth", type=whole, metavar="N", help="follow N links in a row at most")
    group.add_argument("--max-bytes", type=size, metavar="SIZE", help="read about SIZE at most, such as 10MB or 2GB")
    group.add_argument("--deadline", type=span, metavar="TIME", help="end after TIME, such as 2h, 30m or 90s")
    group.add_argument("--page-ttl", type=span, metavar="TIME", help="give each page TIME from when it was found")


def _add_site(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("what belongs to the site")
    group.add_argument("--subdomains", action="store_true", help="the hosts below the start URLs' hosts, too")
    _add_list(group, "--host", "HOST", "this host, too: cdn.test, a.test:81, *.b.test")
    _add_list(group, "--path-prefix", "PATH", "only paths that begin so, such as /docs/")
    _add_list(group, "--include", "RE", "only URLs with this regular expression")
    _add_list(group, "--exclude", "RE", "no URLs with this regular expression")
    _add_list(group, "--drop-parameter", "NAME", "cut this from URLs too, such as sid or ref_*")
    group.add_argument("--keep-parameters", action="store_true", help="do not cut utm_source, PHPSESSID and such")
    group.add_argument("--allow-private", action="store_true", help="addresses like 127.0.0.1 or 192.168.0.1, too")


def _add_links(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("links and sitemaps")
    group.add_argument("--no-recursive", action="store_true", help="ask for the URLs given, and follow no links")
    group.add_argument(
        "--externals",
        choices=EXTERNALS,
        default=DEFAULTS.externals,
        metavar="WHAT",
        help="links to other sites: ignore, record, check",
    )
    _add_switch(group, "traps", DEFAULTS.traps, "set endless series aside (default: yes)")
    group.add_argument("--obey-nofollow", action="store_true", help="leave out links marked nofollow, ugc, sponsored")
    group.add_argument("--obey-noindex", action="store_true", help="leave noindex pages out of exports")
    _add_switch(group, "sitemaps", DEFAULTS.sitemaps, "read the site's sitemaps, too (default: no)")
    _add_list(group, "--sitemap", "URL", "read this sitemap, too")


def _add_manners(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("manners")
    group.add_argument(
        "--delay",
        type=seconds,
        default=DEFAULTS.delay,
        metavar="S",
        help="seconds between two requests to a host",
    )
    group.add_argument("--per-minute", type=number, metavar="N", help="requests a minute to one host, at most")
    group.add_argument(
        "--concurrency",
        type=whole,
        default=DEFAULTS.concurrency,
        metavar="N",
        help="connections to a host at a time (default: %(default)s)",
    )
    _add_switch(group, "throttle", DEFAULTS.throttle, "ask less of a slow host (default: yes)")
    group.add_argument("--ignore-robots", action="store_true", help="do not obey robots.txt (on sites you own)")


def _add_reports(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("reports")
    group.add_argument("--near-duplicates", action="store_true", help="find pages that say nearly the same")


def _add_memory(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("asking for less")
    group.add_argument("--revisit", action="store_true", help="get only what changed since the last crawl")
    group.add_argument("--cache", type=span, metavar="TIME", help="reuse answers younger than TIME, such as 10m")


def _add_content(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("what is read from pages, and kept of them")
    group.add_argument("--fields", metavar="FILE", help="read fields by the rules in FILE, YAML or JSON")
    group.add_argument(
        "--keep",
        action="append",
        choices=FORMS,
        default=[],
        metavar="FORM",
        help="keep content: html, text, markdown, warc *",
    )


def _add_notices(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("notices")
    _add_list(group, "--notify", "ADDRESS", "tell this e-mail, webhook, Slack or Discord")
    _add_list(group, "--notify-on", "EVENT", "of this: started, paused, page, finished, ...")


def _add_result(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("what you get")
    group.add_argument("--export", metavar="FILE", help="write the pages to FILE: .csv, .xlsx, .jsonl ...")
    group.add_argument("--json", action="store_true", help="print the receipt as one JSON object")


def _add_running(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("running")
    group.add_argument("--timeout", type=some_seconds, metavar="TIME", help="wait for TIME, then pause the crawl")
    group.add_argument("--resume", metavar="ID", help="go on with a paused crawl, and wait for it")
    group.add_argument("--workers", type=positive, metavar="N", help="workers for bin/crawl to start")


def _add_list(group: _ArgumentGroup, name: str, metavar: str, text: str) -> None:
    """An option that may be given several times."""
    group.add_argument(name, action="append", default=[], metavar=metavar, help=f"{text} *")


def _add_switch(group: _ArgumentGroup, name: str, default: bool, text: str) -> None:
    """`--name` and `--no-name`. Given at once, Python 3.12 would put the default behind the help by itself."""
    group.add_argument(f"--{name}", action=BooleanOptionalAction, help=text).default = default


# What somebody who typed `crawl` chose: whether it goes together, and the options of the crawl it makes.


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
        drop_parameters=query_params.chosen(typed["drop_parameter"], keep_usual=typed["keep_parameters"]),
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
