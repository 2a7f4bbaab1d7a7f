"""What may be typed behind `bin/bench`."""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from crawler.capabilities.browser.rules import MAX_BROWSER_PAGES
from crawler.core.options.catalogue import CrawlOptions
from crawler.core.politeness.scaling import LOWER_AFTER_S
from crawler.core.protocol.collectors import MAX_COLLECTORS
from crawler.settings.environment import ROOT
from tools.bench import acknowledge, render
from tools.bench.figures import OURS
from tools.bench.idle import MOST_PERCENT, STATES
from tools.bench.latency import CONNECTIONS, PAGES, SECONDS
from tools.bench.simulated_hosts import SCENES
from tools.bench.sites import MANUALS
from tools.bench.throttle import CONNECTIONS as CONNECTIONS_AT_MOST
from tools.bench.throttle import SECONDS as SIMULATED_S
from tools.bench.tools import ALL, POSTGRESQL, STOCK

ROUNDS, GENERATED, WORKERS = 5, 2_000, 2
QUICK_ROUNDS, QUICK_GENERATED, QUICK_URLS = 1, 500, 20_000
URLS, URLS_A_HOST, LEAST_HOSTS = 1_000_000, 100, 1_000

_TEXT = """\
Crawl three real manuals and a generated site by this project, Scrapy, Crawlee, spider-rs, `wget -r` and `wget2 -r` in
turn, and tell how they compare. All is served, kept and ended on this machine; nothing listens but on loopback."""
_MILLION = (
    "Fetch a list of a million URLs on ten thousand hosts, politely, and hold the receipt against what must come out."
)
_FLAT = "Crawl the generated site at several sizes, and tell whether a page costs the same in a large crawl."
_REPORTS = """\
Make two finished crawls of 100,000 pages up in a database of their own, and time every page, report, comparison and
export of them. The exit code is 1 when one takes longer than it may."""
_LOAD = """\
Let many people watch many running crawls while RQ's queues are full, with the programs of the Procfile, and time each
kind of page meanwhile. Everything is its own and is ended. The exit code is 1 when a page is too slow."""
_IDLE = f"""\
Start workers that have nothing to do, and tell what each costs: CPU time, Redis commands, SQL transactions.
Everything is its own and is ended. The exit code is 1 when one takes more than {MOST_PERCENT} % of a core."""
_LATENCY = """\
Crawl a generated site that takes its time for each answer, at several sizes over several numbers of connections, and
tell how near to the best possible time each crawl comes. The exit code is 1 when a page was not got."""
_ACKNOWLEDGE = """\
Crawl a slow site with late and with early acknowledgement, kill workers in the middle, and tell what the site got, what
was lost, and how long it took. The exit code is 1 when a page is neither fetched nor lost."""
_COLLECT = """\
Crawl the generated site without workers, and tell what storing a page costs the crawl manager: statements, CPU time of
the database's server and of the manager, and time."""
_BYTES = """\
Crawl the generated site without workers, and tell what a page takes of the database's disk: each table and index, as
the crawl leaves them and packed."""
_DELETE = """\
Delete a large crawl from a database with others, and tell how long it takes, how long ticks of another crawl take
meanwhile, and how large the tables are before and after."""
_RENDER = """\
Crawl a single-page application in a browser by this project, Crawlee's PlaywrightCrawler and scrapy-playwright in turn,
with the same Chromium and as many pages at a time, and tell how they compare. The exit code is 1 when a page was not
found by ours."""
_SCALE = """\
Simulate a day of crawls, and tell how many workers an autoscaler keeps over it: by the functions that an installation
uses, and without requesting anything."""
_THROTTLE = """\
Crawl simulated hosts that slow down, refuse and fail, and tell how near to the best fixed number of connections the
throttle comes, beside Scrapy's AutoThrottle on the same hosts. Nothing is requested; it takes a quarter of a minute."""
_EXAMPLES = """\
examples:
  bin/bench                            five rounds, of which the first has the OpenJDK documentation, too
  bin/bench --quick                    one round in a minute, without the long manuals, PostgreSQL and stock worker
  bin/bench --tools ours wget          only these two
  bin/bench --against main --manuals postgresql --rounds 10    what a change does to speed and CPU time
  bin/bench --profile --manuals python --rounds 3    the CPU time of a page, by stage
  bin/bench million --urls 20000       a list of URLs on many hosts (--quick: the same)
  bin/bench flat --pages 10000 --pages 1000000
  bin/bench reports --postgres         pages and reports of a large crawl (without --postgres: SQLite)
  bin/bench load                       a hundred people, two hundred crawls, 20,000 jobs: a minute and a half
  bin/bench idle --stock --workers 5   five of RQ's own workers while there is nothing to do
  bin/bench collect --postgres         the tick's cost of a page (without --postgres: SQLite)
  bin/bench bytes --postgres           the disk's bytes of a page (without --postgres: SQLite)
  bin/bench delete --postgres          the deletion of 40,000 of 100,000 pages (without --postgres: SQLite)
  bin/bench render --places 12         pages in a browser, beside Crawlee and scrapy-playwright
  bin/bench scale --chart FILE         how many workers run over a simulated day of crawls
  bin/bench acknowledge                what --ack early saves when workers are killed
  bin/bench throttle --chart           the throttle on simulated hosts
  bin/bench latency                    a site that answers after 100 ms: six minutes (--quick: one)"""


def parse(arguments: Sequence[str]) -> Namespace:
    """With `what`: the name of a measurement. Ends the process when they make no sense, and after --help."""
    what = arguments[0] if arguments and arguments[0] in _COMMANDS else "compare"
    words = arguments if what == "compare" else arguments[1:]
    parser = _COMMANDS.get(what, _compare)()
    chosen = parser.parse_args(words)
    chosen.what = what
    if what == "compare" and chosen.against:
        chosen.what = "against"
        chosen.tools = chosen.tools or [OURS]
        if len(chosen.tools) > 1 or not chosen.tools[0].startswith(OURS):
            parser.error("--against compares two versions of one tool: ours, ours-postgresql or ours-stock")
        if chosen.postgres or chosen.chart or chosen.strict:
            parser.error("--against takes neither --postgres URL nor --chart nor --strict")
    elif what == "compare" and chosen.profile:
        chosen.what = "profile"
    return _settled(chosen)


def _settled(chosen: Namespace) -> Namespace:
    """What `--quick` makes of that which was not said."""
    if chosen.what in ("compare", "against", "profile"):
        chosen.rounds = chosen.rounds or (QUICK_ROUNDS if chosen.quick else ROUNDS)
        if chosen.generated is None:
            chosen.generated = QUICK_GENERATED if chosen.quick else GENERATED
        names = [tool.name for tool in ALL if not (chosen.quick and tool.name in (POSTGRESQL, STOCK))]
        chosen.tools = chosen.tools or names
        chosen.once = [manual.name for manual in MANUALS if manual.is_large] if chosen.manuals is None else []
        if chosen.manuals is None:
            chosen.manuals = [manual.name for manual in MANUALS if not (chosen.quick and manual.is_long)]
    elif chosen.what == "latency":
        chosen.pages = chosen.pages or [*(PAGES[:1] if chosen.quick else PAGES)]
        chosen.connections = chosen.connections or [*CONNECTIONS]
    elif chosen.what == "idle":
        chosen.states = chosen.states or list(STATES)
    elif chosen.what == "million":
        chosen.urls = chosen.urls or (QUICK_URLS if chosen.quick else URLS)
        chosen.hosts = chosen.hosts or max(LEAST_HOSTS, chosen.urls // URLS_A_HOST)
    return chosen


def _compare() -> ArgumentParser:
    parser = _parser("bin/bench", _TEXT)
    names = [tool.name for tool in ALL]
    concurrency = CrawlOptions().concurrency
    parser.add_argument(
        "--quick", action="store_true", help="one round, a smaller generated site, without what takes its time"
    )
    parser.add_argument("--rounds", type=_positive, metavar="N", help=f"default: {ROUNDS}")
    parser.add_argument("--generated", type=int, metavar="PAGES", help=f"of the generated site (default: {GENERATED})")
    parser.add_argument("--concurrency", type=_positive, default=concurrency, metavar="N", help=_default("for all"))
    parser.add_argument("--tools", nargs="+", choices=names, metavar="TOOL", help=", ".join(names))
    parser.add_argument("--sites", type=Path, metavar="DIR", help="where the manuals' packages are unpacked already")
    manuals = [manual.name for manual in MANUALS]
    parser.add_argument(
        "--manuals", nargs="*", choices=manuals, metavar="NAME", help=f"{', '.join(manuals)}, or none *"
    )
    parser.add_argument("--no-peers", dest="peers", action="store_false", help="do not install Scrapy and Crawlee")
    parser.add_argument("--postgres", metavar="URL", help="an empty database for the row with PostgreSQL")
    parser.add_argument(
        "--against",
        metavar="REF",
        help="not the peers, but this version and that of a commit, branch or tag in turn; --tools: one of ours",
    )
    parser.add_argument(
        "--profile", action="store_true", help="not the peers, but the CPU time of a page of ours by stage"
    )
    _add_common(parser, timeout=1200, chart=ROOT / "docs/images/bench.svg")
    return parser


def _million() -> ArgumentParser:
    parser = _parser("bin/bench million", _MILLION)
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_URLS:,} URLs")
    parser.add_argument("--urls", type=_positive, metavar="N", help=f"default: {URLS:,}")
    parser.add_argument("--hosts", type=_positive, metavar="N", help=f"default: one for {URLS_A_HOST} URLs")
    parser.add_argument("--seed", type=int, default=7, help=_default("what the hosts are made from"))
    parser.add_argument(
        "--answer-after", type=float, metavar="S", help="every host answers after so many seconds, and none is dead"
    )
    parser.add_argument("--postgres", action="store_true", help="a PostgreSQL server of its own, in place of SQLite")
    _add_watching(parser)
    _add_common(parser, timeout=6 * 3600, chart=None)
    return parser


def _flat() -> ArgumentParser:
    parser = _parser("bin/bench flat", _FLAT)
    parser.add_argument("--pages", type=_positive, action="append", metavar="N", help="default: 10000 and 1000000 *")
    _add_watching(parser)
    _add_common(parser, timeout=6 * 3600, chart=None)
    return parser


def _reports() -> ArgumentParser:
    parser = _parser("bin/bench reports", _REPORTS)
    parser.add_argument("--pages", type=_positive, default=100_000, metavar="N", help=_default("of each crawl"))
    parser.add_argument("--links", type=_positive, default=15, metavar="N", help=_default("of each page"))
    parser.add_argument("--times", type=_positive, default=5, metavar="N", help=_default("each after the first"))
    parser.add_argument("--seed", type=int, default=6, help=_default("what the site is made from"))
    _add_postgres(parser)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write what was measured")
    return parser


def _load() -> ArgumentParser:
    parser = _parser("bin/bench load", _LOAD)
    parser.add_argument("--watchers", type=_positive, default=100, metavar="N", help=_default("open pages"))
    parser.add_argument("--streams", type=int, default=10, metavar="N", help=_default("event streams of the API"))
    parser.add_argument("--crawls", type=_positive, default=200, metavar="N", help=_default("that run"))
    parser.add_argument("--jobs", type=_positive, default=20_000, metavar="N", help=_default("in RQ's queues"))
    parser.add_argument("--pages", type=_positive, default=5_000, metavar="N", help=_default("of a finished crawl"))
    parser.add_argument("--workers", type=_positive, default=1, metavar="N", help=_default("that crawl meanwhile"))
    parser.add_argument("--web", type=_positive, default=1, metavar="N", help=_default("web processes"))
    parser.add_argument("--seconds", type=_positive, default=45, metavar="S", help=_default("of watching"))
    _add_postgres(parser)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write what was measured")
    return parser


def _idle() -> ArgumentParser:
    parser = _parser("bin/bench idle", _IDLE)
    states = "; ".join(f"{name}: {what}" for name, what in STATES.items())
    parser.add_argument("states", nargs="*", choices=[*STATES, []], default=[], metavar="STATE", help=states)
    parser.add_argument("--workers", type=_positive, default=2, metavar="N", help=_default("that are started"))
    parser.add_argument("--stock", action="store_true", help="RQ's own worker, which forks for each job")
    parser.add_argument("--seconds", type=_positive, default=60, metavar="S", help=_default("of each state"))
    parser.add_argument("--postgres", action="store_true", help="a PostgreSQL server of its own, to count SQL, too")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write what was measured")
    return parser


def _latency() -> ArgumentParser:
    parser = _parser("bin/bench latency", _LATENCY)
    usual = ", ".join(f"{pages:,}" for pages in PAGES)
    parser.add_argument("--quick", action="store_true", help=f"{PAGES[0]} pages only")
    parser.add_argument("--pages", type=_positive, action="append", metavar="N", help=f"default: {usual} *")
    usual = ", ".join(map(str, CONNECTIONS))
    parser.add_argument("--connections", type=_positive, action="append", metavar="N", help=f"default: {usual} *")
    parser.add_argument("--latency", type=float, default=SECONDS, metavar="S", help=_default("seconds of an answer"))
    parser.add_argument("--rounds", type=_positive, default=1, metavar="N", help=_default("of each"))
    parser.add_argument("--workers", type=_positive, default=WORKERS, metavar="N", help=_default("of ours"))
    parser.add_argument("--timeout", type=float, default=600, metavar="S", help=_default("seconds a crawl may take"))
    parser.add_argument("--json", type=Path, metavar="FILE", help="write what was measured, crawl by crawl")
    parser.add_argument("--python", metavar="FILE", help="the Python that it runs under")
    _add_option(parser)
    return parser


def _acknowledge() -> ArgumentParser:
    parser = _parser("bin/bench acknowledge", _ACKNOWLEDGE)
    killed = ", ".join(map(str, acknowledge.KILLED))
    parser.add_argument("--pages", type=_positive, default=acknowledge.PAGES, metavar="N", help=_default("of the site"))
    parser.add_argument(
        "--latency", type=float, default=acknowledge.LATENCY_S, metavar="S", help=_default("seconds of an answer")
    )
    parser.add_argument("--workers", type=_positive, default=acknowledge.WORKERS, metavar="N", help=_default("of ours"))
    parser.add_argument(
        "--killed", type=int, nargs="+", default=acknowledge.KILLED, metavar="N", help=f"workers (default: {killed})"
    )
    parser.add_argument("--rounds", type=_positive, default=acknowledge.ROUNDS, metavar="N", help=_default("of each"))
    parser.add_argument("--timeout", type=float, default=600, metavar="S", help=_default("seconds a crawl may take"))
    parser.add_argument("--json", type=Path, metavar="FILE", help="write what was measured, crawl by crawl")
    return parser


def _collect() -> ArgumentParser:
    parser = _parser("bin/bench collect", _COLLECT)
    parser.add_argument("--pages", type=_positive, default=5_000, metavar="N", help=_default("of the site"))
    parser.add_argument("--batch", type=_positive, default=256, metavar="N", help=_default("results a transaction"))
    parser.add_argument(
        "--collectors", type=int, choices=range(1, MAX_COLLECTORS + 1), default=1, help="processes at it (default: 1)"
    )
    _add_postgres(parser)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write what was measured")
    return parser


def _bytes() -> ArgumentParser:
    parser = _parser("bin/bench bytes", _BYTES)
    parser.add_argument("--pages", type=_positive, default=50_000, metavar="N", help=_default("of the site"))
    parser.add_argument("--batch", type=_positive, default=256, metavar="N", help=_default("results a transaction"))
    _add_postgres(parser)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write what was measured")
    return parser


def _delete() -> ArgumentParser:
    parser = _parser("bin/bench delete", _DELETE)
    parser.add_argument("--pages", type=_positive, default=100_000, metavar="N", help=_default("of all crawls"))
    parser.add_argument("--delete", type=_positive, default=40_000, metavar="M", help=_default("pages of these"))
    parser.add_argument("--links", type=_positive, default=30, metavar="N", help=_default("of each page"))
    _add_postgres(parser)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write what was measured, step by step")
    return parser


def _render() -> ArgumentParser:
    parser = _parser("bin/bench render", _RENDER)
    tools = list(render.TITLES)
    parser.add_argument("--pages", type=_positive, default=render.PAGES, metavar="N", help=_default("of the site"))
    parser.add_argument(
        "--places", type=_positive, default=render.PLACES, metavar="N", help=_default("pages at a time")
    )
    parser.add_argument("--workers", type=_positive, default=render.WORKERS, metavar="N", help=_default("of ours"))
    contexts = ("site", "page")
    parser.add_argument("--context", choices=contexts, default="site", help=_default("of ours; peers have one for all"))
    clocks = ("virtual", "wall")
    parser.add_argument(
        "--clock", choices=clocks, default="virtual", help=_default("of ours, for half a second of quiet")
    )
    kept = _default("pages after which ours replaces a browser; peers keep theirs")
    parser.add_argument("--chromium-pages", type=_positive, default=MAX_BROWSER_PAGES, metavar="N", help=kept)
    parser.add_argument("--rounds", type=_positive, default=render.ROUNDS, metavar="N", help=_default("of all tools"))
    parser.add_argument("--chromium", default="", metavar="FILE", help="the browser of all of them (default: as found)")
    parser.add_argument("--tools", nargs="+", choices=tools, default=tools, metavar="TOOL", help=", ".join(tools))
    parser.add_argument("--timeout", type=float, default=1200, metavar="S", help=_default("seconds a crawl may take"))
    parser.add_argument("--json", type=Path, metavar="FILE", help="write what was measured, crawl by crawl")
    parser.add_argument("--python", metavar="FILE", help="the Python that all of them run under, with all they need")
    return parser


def _scale() -> ArgumentParser:
    parser = _parser("bin/bench scale", _SCALE)
    parser.add_argument("--seed", type=int, default=4, help=_default("what the crawls are made from"))
    parser.add_argument("--most", type=_positive, default=8, metavar="N", help=_default("workers at most"))
    parser.add_argument(
        "--idle", type=_positive, default=LOWER_AFTER_S, metavar="S", help=_default("CRAWLER_WORKER_IDLE_SECONDS")
    )
    parser.add_argument(
        "--measured", type=float, metavar="MINUTES", help="not simulated: real crawls and workers, a day in so long"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the day, step by step")
    usual = ROOT / "docs/images/autoscale.svg"
    parser.add_argument("--chart", type=Path, nargs="?", const=usual, metavar="FILE", help="draw it, as SVG")
    return parser


def _throttle() -> ArgumentParser:
    parser = _parser("bin/bench throttle", _THROTTLE)
    parser.add_argument("hosts", nargs="*", choices=[[], *SCENES], metavar="HOST", help="only these")
    parser.add_argument("--connections", type=_positive, default=CONNECTIONS_AT_MOST, help=_default("at most"))
    parser.add_argument("--seconds", type=float, default=SIMULATED_S, metavar="S", help=_default("of each crawl"))
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures")
    usual = ROOT / "docs/images/throttle.svg"
    parser.add_argument("--chart", type=Path, nargs="?", const=usual, metavar="FILE", help="draw it, as SVG")
    return parser


_COMMANDS = {
    "million": _million,
    "flat": _flat,
    "reports": _reports,
    "load": _load,
    "idle": _idle,
    "latency": _latency,
    "acknowledge": _acknowledge,
    "collect": _collect,
    "bytes": _bytes,
    "delete": _delete,
    "render": _render,
    "scale": _scale,
    "throttle": _throttle,
}


def _parser(name: str, text: str) -> ArgumentParser:
    return ArgumentParser(name, description=text, epilog=_EXAMPLES, formatter_class=RawDescriptionHelpFormatter)


def _add_postgres(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--postgres",
        nargs="?",
        const="own",
        metavar="URL",
        help="PostgreSQL: a server of its own, or an empty database",
    )


def _add_watching(parser: ArgumentParser) -> None:
    parser.add_argument("--every", type=float, default=5.0, metavar="S", help=_default("seconds between two looks"))
    _add_option(parser)


def _add_option(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--option", type=_option, action="append", default=[], metavar="NAME=JSON", help="any option of the crawl *"
    )


def _add_common(parser: ArgumentParser, *, timeout: float, chart: Path | None) -> None:
    parser.add_argument("--workers", type=_positive, default=WORKERS, metavar="N", help=_default("of ours"))
    parser.add_argument(
        "--timeout", type=float, default=timeout, metavar="S", help=_default("seconds a crawl may take")
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write what was measured, run by run")
    usual: dict[str, Any] = {"nargs": "?", "const": chart} if chart else {}
    parser.add_argument("--chart", type=Path, metavar="FILE", help="draw it, as SVG", **usual)
    parser.add_argument("--strict", action="store_true", help="exit code 1 when a target is missed")
    parser.add_argument("--python", metavar="FILE", help="the Python that all of them run under, with all they need")


def _default(text: str) -> str:
    return f"{text} (default: %(default)s)"


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError
    return number


def _option(text: str) -> tuple[str, object]:
    name, _, value = text.partition("=")
    return name, json.loads(value)
