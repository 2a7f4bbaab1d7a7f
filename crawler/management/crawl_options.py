"""What may be typed behind `crawl`: the arguments in their groups, one line of help each."""

from __future__ import annotations

from argparse import SUPPRESS, ArgumentParser, BooleanOptionalAction, _ActionsContainer, _ArgumentGroup
from functools import partial
from typing import Any, assert_never

from crawler.core.channels.catalogue import KINDS, listed, receiver_of
from crawler.core.errors import BadInput
from crawler.core.options.catalogue import CHANGEABLE, GROUPED, OPTIONS, RULES, SEVERAL, CrawlOptions
from crawler.core.options.events import DEFAULT_EVENTS, chosen_events
from crawler.core.options.kinds import (
    Choice,
    Duration,
    Number,
    Option,
    Seconds,
    Several,
    Size,
    Switch,
    Text,
    Texts,
    WholeNumber,
)
from crawler.core.options.receivers import RECEIVERS
from crawler.core.options.scope import SITE
from crawler.core.urls import query_params
from crawler.exports.formats import ENDINGS
from crawler.management import usage
from crawler.management.inputs import (
    add_changeable_secrets,
    add_secrets,
    changeable_arguments,
    changed_secrets,
    rules_in,
)
from crawler.management.numbers import number, positive, positive_span, seconds, size, span, whole

EXAMPLES = """\
examples:
  bin/crawl https://example.com/
  bin/crawl https://example.com/docs/ --path-prefix /docs/ --max-pages 500 --export pages.csv
  bin/crawl https://example.com/ --sitemaps --externals check --per-minute 30
  bin/crawl https://example.com/ --host '*.example.net' --exclude '\\?print=' --deadline 2h
  bin/crawl --list urls.csv --list-column Address --export pages.csv
  bin/crawl https://example.com/ --detach
  bin/crawl http://127.0.0.1:8801/ --allow-private --json > receipt.json

exit codes:
  0    finished
  1    not finished in time, or held (log-in, credentials, quota, disk): --resume ID
       resumes it; cancelled or deleted, no start URL could be crawled, or Redis or the
       database is down
  2    invalid arguments; nothing was started
  130  interrupted by Ctrl-C (143 by SIGTERM); the crawl is paused: --resume ID resumes it

Workers (`bin/worker`) do the crawl. bin/crawl and bin/up start some;
`manage.py crawl` uses the running ones. Every option in full: docs/options.md.
"""

DESCRIPTION = "Options marked with * can be repeated."


def add_arguments(parser: ArgumentParser) -> None:
    add_settled(parser)
    _add_result(parser)
    _add_running(parser)
    _add_configuration(parser)


def add_settled(parser: ArgumentParser) -> None:
    """The arguments that a crawl keeps from its start on: --resume cannot change them."""
    parser.add_argument("urls", nargs="*", metavar="URL", help="start URLs: http:// or https://")
    _add_list_of_urls(parser)
    _add_catalogue(parser)
    add_secrets(parser)
    _add_notices(parser)


def add_changeable(parser: ArgumentParser) -> None:
    """The arguments that change a crawl that is under way; those that are not typed are left out."""
    options = [OPTIONS[name] for name in CHANGEABLE if name in OPTIONS and OPTIONS[name].argument]
    for option in options:
        if isinstance(option.kind, Switch):
            parser.add_argument(option.flag, action=BooleanOptionalAction, default=SUPPRESS, help=option.line_of_help)
        else:
            _add_option(parser, option)
    add_changeable_secrets(parser)
    names = [option.flag.removeprefix("--") for option in options if not isinstance(option.kind, Switch)]
    parser.add_argument(
        "--without", action="append", default=[], choices=[*names, "notify"], metavar="OPTION", help="no longer: any *"
    )
    _add_notices(parser)
    parser.set_defaults(**dict.fromkeys([option.argument for option in options if option.argument], None))
    parser.set_defaults(notify=None, notify_on=None)


_OF_FLAG = {option.flag: name for name, option in OPTIONS.items()}


def changes(typed: dict[str, Any]) -> dict[str, Any]:
    """The options and credentials to change, with their new values; None = the default."""
    values = {
        name: _value(OPTIONS[name], typed[OPTIONS[name].argument])
        for name in CHANGEABLE
        if name in OPTIONS and OPTIONS[name].argument and typed.get(OPTIONS[name].argument) is not None
    }
    values |= changed_secrets(typed)
    if typed["notify"] is not None:
        values |= _receivers(typed["notify"])
    if typed["notify_on"] is not None:
        values["notify_events"] = chosen_events("notify_on", typed["notify_on"])
    for dropped in typed["without"]:
        names = RECEIVERS.values() if dropped == "notify" else [_OF_FLAG[f"--{dropped}"]]
        if any(values.get(name) for name in names):
            raise BadInput("without", f"--{dropped} is both set and removed; leave out one of the two.")
        values |= dict.fromkeys(names)
    return values


def usual() -> dict[str, Any]:
    """The values of the settled arguments when none of them is typed."""
    parser = ArgumentParser()
    add_settled(parser)
    settled = vars(parser.parse_args([]))
    return {name: value for name, value in settled.items() if name not in changeable_arguments()}


def _add_list_of_urls(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("a list instead of start URLs")
    group.add_argument("--list", metavar="FILE", help="request each URL in FILE, and follow no links")
    group.add_argument("--list-column", default="", metavar="C", help="the column of URLs, by name or number")
    group.add_argument("--priority-column", default="", metavar="C", help="the column of priorities: 10 first, 0 last")
    group.add_argument("--invalid", metavar="FILE", help="write its invalid lines to FILE")


def _add_catalogue(parser: ArgumentParser) -> None:
    options = [option for option in OPTIONS.values() if option.argument]
    for heading in filter(None, dict.fromkeys(entry.group.command for entry in GROUPED)):
        group = parser.add_argument_group(heading)
        for option in options:
            if option.group.command == heading:
                _add_option(group, option)
        if heading == SITE.command:
            _add_site(group)
        for rules in RULES:
            if heading == rules.group.command:
                group.add_argument(f"--{rules.name}", metavar="FILE", help=_RULES_HELP)
        for several in SEVERAL:
            if heading == several.group.command:
                _add_several(group, several)


def _add_option(group: _ActionsContainer, option: Option) -> None:
    kind = option.kind
    add = partial(group.add_argument, option.flag, help=option.line_of_help)
    match kind:
        case Texts():
            add(action="append", default=[], metavar=kind.metavar)
        case Switch(has_both=True):  # Python 3.12 would put a default given at once behind the help by itself
            add(action=BooleanOptionalAction).default = option.default
        case Switch():
            add(action="store_true")
        case Choice():
            add(choices=tuple(kind.labels), default=option.default, metavar=kind.metavar)
        case Text():
            add(default=option.default, metavar=kind.metavar)
        case WholeNumber() | Number() | Seconds() | Duration():
            add(type=_READERS[type(kind)], default=option.default, metavar=kind.metavar)
        case _:
            assert_never(kind)


_READERS = {WholeNumber: whole, Size: size, Number: number, Seconds: seconds, Duration: span}


def _add_site(group: _ArgumentGroup) -> None:
    _add_list(group, "--drop-parameter", "NAME", "remove this from URLs, such as sid or ref_*")
    group.add_argument("--keep-parameters", action="store_true", help="keep utm_source, PHPSESSID and the like")
    group.add_argument("--allow-private", action="store_true", help="allow addresses such as 127.0.0.1")


_RULES_HELP = "extract by the rules in FILE, YAML or JSON"


def _add_several(group: _ArgumentGroup, option: Several) -> None:
    choices, text = tuple(option.boxes), f"{option.command_help} *"
    group.add_argument(
        f"--{option.name}", action="append", choices=choices, default=[], metavar=option.metavar, help=text
    )


def _add_notices(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("notices")
    _add_list(group, "--notify", "ADDRESS", f"notify this {listed([kind.noun for kind in KINDS])}")
    _add_list(group, "--notify-on", "EVENT", "events: started, paused, page, finished, ...")


def _add_result(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("output")
    group.add_argument("--export", metavar="FILE", help="write the pages to FILE: .csv, .xlsx, .jsonl ...")
    group.add_argument("--json", action="store_true", help="print the receipt as one JSON object")


def _add_running(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("running")
    group.add_argument("--timeout", type=positive_span, metavar="TIME", help="wait for TIME, then pause the crawl")
    group.add_argument("--resume", metavar="ID", help="resume a paused crawl (or @last), and wait for it")
    group.add_argument("--detach", action="store_true", help="leave it to running workers, and print the ID")
    group.add_argument("--workers", type=positive, metavar="N", help="workers for bin/crawl to start")


def _add_configuration(parser: ArgumentParser) -> None:
    """Read by `management.configuration`, before anything is parsed."""
    group = parser.add_argument_group("site-crawler.toml, which sets options by these names")
    group.add_argument("--config", metavar="FILE", help="read FILE instead of any site-crawler.toml")
    group.add_argument("--profile", metavar="NAME", help="use its options under [profile.NAME], too")
    group.add_argument("--no-config", action="store_true", help="read none")
    group.add_argument("--show-config", action="store_true", help="print the source of each value, and exit")


def _add_list(group: _ArgumentGroup, name: str, metavar: str, text: str) -> None:
    """An option that may be given several times."""
    group.add_argument(name, action="append", default=[], metavar=metavar, help=f"{text} *")


# The typed arguments: whether they fit together, and the options of the crawl.


def check_usage(typed: dict[str, Any]) -> None:
    """BadInput for errors that are visible before anything is started."""
    usage.check(typed, usual(), ENDINGS)


def chosen(typed: dict[str, Any]) -> CrawlOptions:
    """The options, not validated yet."""
    return CrawlOptions(
        **{name: _value(entry, typed[entry.argument]) for name, entry in OPTIONS.items() if entry.argument},
        drop_parameters=query_params.chosen(typed["drop_parameter"], keep_tracking=typed["keep_parameters"]),
        **_rules(typed),
        notify_events=chosen_events("notify_on", typed["notify_on"]) or DEFAULT_EVENTS,
        **_several(typed),
        **_receivers(typed["notify"]),
    )


def _value(option: Option, value: Any) -> Any:
    if isinstance(option.kind, Texts):
        return tuple(value)
    return not value if option.is_negative else value


def _rules(typed: dict[str, Any]) -> dict[str, Any]:
    return {option.name: rules_in(typed[option.name]) for option in RULES}


def _several(typed: dict[str, Any]) -> dict[str, Any]:
    return {option.name: tuple(dict.fromkeys(typed[option.name])) for option in SEVERAL}


def _receivers(typed: list[str]) -> dict[str, Any]:
    """The options with the addresses, which are checked with the other options."""
    receivers = [receiver_of("notify", address) for address in typed]
    return {
        kind.option: tuple(receiver.address for receiver in receivers if receiver.transport == kind.name)
        for kind in KINDS
    }
