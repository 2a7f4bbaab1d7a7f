"""`manage.py crawl`: crawls a site, waits until it is finished and prints the receipt."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from crawler.core.errors import BadInput
from crawler.core.lifecycle import State
from crawler.core.options import CrawlOptions
from crawler.engine import control
from crawler.engine.start import start_crawl
from crawler.exports.file import check_writable
from crawler.exports.formats import FORMATS, format_of
from crawler.management.display import display_for
from crawler.management.door import NOT_ANSWERING, Door, Ended, Exit, crawl_of, in_one_line
from crawler.management.numbers import positive, seconds, some_seconds, span, whole
from crawler.management.stopping import Stop, stop_signals
from crawler.management.waiting import Waited, Waiting, until_tried
from crawler.models import Crawl
from crawler.reports import words
from crawler.reports.progress import start_count, start_trouble
from crawler.reports.receipt import receipt_of

EXAMPLES = """\
examples:
  bin/crawl https://example.com/
  bin/crawl https://example.com/docs/ --include '/docs/' --max-pages 500 --export pages.csv
  bin/crawl http://127.0.0.1:8801/ --allow-private --json > receipt.json

exit codes:
  0    finished
  1    not finished in time (the crawl is paused: --resume ID goes on), cancelled or deleted by
       somebody, no start URL could be crawled, or Redis or the database is down
  2    something that was typed cannot be used; nothing was started
  130  interrupted by Ctrl-C (143 by SIGTERM); the crawl is paused: --resume ID goes on

The crawl itself is done by workers (`rq worker crawl fetch`). bin/crawl and bin/up start
some; `manage.py crawl` uses those that run.
"""


CANCELLED = "The crawl was cancelled; the pages that were open then have not been asked for."
DELETED = "The crawl was deleted by somebody, so there is nothing left to wait for."


class Command(Door):
    """Crawl a site from its start URLs, wait until it is finished and print the receipt."""

    help = __doc__
    examples = EXAMPLES
    synopsis = "%(prog)s URL... [options]\n       %(prog)s --resume ID [options]"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("urls", nargs="*", metavar="URL", help="where to start: http:// or https://")
        _add_reach(parser)
        _add_manners(parser)
        _add_result(parser)
        _add_running(parser)

    def perform(self, options: dict[str, Any]) -> int:
        _check_usage(options)
        with stop_signals() as stop:
            try:
                crawl = self._begin(options)
                waited = self._wait(crawl, stop, options["timeout"])
                return self._end(crawl, stop, waited, options)
            except KeyboardInterrupt:
                raise Ended(stop.exit_code, "Interrupted.") from None

    def _begin(self, options: dict[str, Any]) -> Crawl:
        if options["resume"]:
            crawl = crawl_of(options["resume"])
            control.resume(crawl.id)  # False when it was not paused: then there is just waiting to do
            return crawl
        crawl = start_crawl(options["urls"], _chosen(options), allow_private=options["allow_private"])
        self.say(f"Crawl {crawl.id} of {crawl.site} has begun.")
        return crawl

    def _wait(self, crawl: Crawl, stop: Stop, timeout: float | None) -> Waited:
        with display_for(self.stderr.isatty(), self.say) as display, stop.gently():
            return Waiting(display.show, display.note).until_over(crawl, stop, timeout)

    def _end(self, crawl: Crawl, stop: Stop, waited: Waited, options: dict[str, Any]) -> int:
        """Pause a crawl that is not over, print the receipt, and see that export and notices go out."""
        if waited is Waited.GONE:
            raise Ended(Exit.NOT_DONE, DELETED)
        trouble = None if waited is Waited.OVER else self._pause(crawl)
        if not crawl.is_over:
            self._print_receipt(crawl, options)
            raise Ended(_code_of(waited, stop), f"{_why(waited, options)} {trouble}")
        unwritten = self._export(crawl, options["export"])
        self._print_receipt(crawl, options)
        self._await_notices(crawl, stop)
        if unwritten:
            raise unwritten
        if crawl.state == State.CANCELLED:
            raise Ended(Exit.NOT_DONE, CANCELLED)
        return self._judge_starts(crawl)

    def _pause(self, crawl: Crawl) -> str:
        """Pause the crawl and say how to go on; it may turn out to have finished meanwhile."""
        try:
            control.pause(crawl.id)
            crawl.refresh_from_db()
        except Crawl.DoesNotExist:
            raise Ended(Exit.NOT_DONE, DELETED) from None
        except NOT_ANSWERING as error:
            return f"The crawl could not be paused ({in_one_line(error)}) To wait for it: bin/crawl --resume {crawl.id}"
        return f"The crawl is paused; to go on: bin/crawl --resume {crawl.id}"

    def _export(self, crawl: Crawl, target: str | None) -> Ended | None:
        """The trouble there was, to be told after the receipt."""
        if target is None:
            return None
        try:
            self.save(target, FORMATS[format_of(target)](crawl))
        except Ended as ended:
            return ended
        return None

    def _print_receipt(self, crawl: Crawl, options: dict[str, Any]) -> None:
        receipt = receipt_of(crawl)
        if options["json"]:
            self.print(json.dumps(receipt) + "\n")
        elif options["export"] == "-":  # stdout belongs to the pages
            self.say(words.receipt_table(receipt))
        else:
            self.print(words.receipt_table(receipt))
        self.stdout.flush()

    def _await_notices(self, crawl: Crawl, stop: Stop) -> None:
        """A process that owns the workers must not end before the notice went out."""
        with stop.gently():
            for delivery in until_tried(crawl, stop):
                self.say(f"The notice to {delivery.address} has not gone out yet; the next worker that runs sends it.")

    def _judge_starts(self, crawl: Crawl) -> int:
        troubled = start_trouble(crawl)
        if not troubled:
            return Exit.DONE
        starts = start_count(crawl)
        line = words.start_trouble(troubled, starts)
        if len(troubled) == starts:
            raise Ended(Exit.NOT_DONE, line)
        self.say(line)
        return Exit.DONE


def _add_reach(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("how far it goes")
    group.add_argument("--max-pages", type=whole, metavar="N", help="ask for N pages at most")
    group.add_argument("--max-depth", type=whole, metavar="N", help="follow N links in a row at most")
    group.add_argument(
        "--include",
        action="append",
        default=[],
        metavar="RE",
        help="take only pages with this regular expression in their URL (may be given again: one must be found)",
    )
    group.add_argument(
        "--exclude",
        action="append",
        default=[],
        metavar="RE",
        help="leave out pages with this regular expression in their URL (may be given again)",
    )
    group.add_argument("--subdomains", action="store_true", help="hosts below the start URLs' hosts belong to the site")
    group.add_argument(
        "--deadline",
        type=span,
        metavar="S",
        help="seconds the crawl may take (or 2h, 30m, 90s): what is open then closes as expired, and it is finished",
    )
    group.add_argument(
        "--page-ttl",
        type=span,
        metavar="S",
        help="seconds a page may stay open once it was found (or 2h, 30m, 90s) before it closes as expired",
    )
    group.add_argument(
        "--allow-private",
        action="store_true",
        help="allow addresses that are not public, such as 127.0.0.1 or 192.168.0.0/16 (only for sites you trust)",
    )


def _add_manners(parser: ArgumentParser) -> None:
    usual = CrawlOptions()
    group = parser.add_argument_group("manners")
    group.add_argument(
        "--delay",
        type=seconds,
        default=usual.delay,
        metavar="S",
        help="seconds between two requests to one host (default: %(default)g)",
    )
    group.add_argument(
        "--concurrency",
        type=whole,
        default=usual.concurrency,
        metavar="N",
        help="connections to one host at a time, over all workers (default: %(default)s)",
    )
    group.add_argument("--ignore-robots", action="store_true", help="do not obey robots.txt (only for sites you own)")


def _add_result(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("what you get")
    group.add_argument(
        "--export",
        metavar="FILE",
        help="write the pages to FILE once the crawl is finished, as its name says: .jsonl or .csv (- for stdout)",
    )
    group.add_argument("--json", action="store_true", help="print the receipt as one JSON object, and nothing else")
    group.add_argument(
        "--notify",
        action="append",
        default=[],
        metavar="ADDRESS",
        help="tell this e-mail address or webhook URL when the crawl is finished (may be given again)",
    )


def _add_running(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("running")
    group.add_argument("--timeout", type=some_seconds, metavar="S", help="pause the crawl when it takes longer than S")
    group.add_argument("--resume", metavar="ID", help="go on with a crawl that was paused, and wait for it")
    group.add_argument(
        "--workers", type=positive, metavar="N", help="how many workers bin/crawl starts; `manage.py crawl` starts none"
    )


_ITS_OWN: dict[str, Any] = {
    "urls": [],
    "max_pages": None,
    "max_depth": None,
    "include": [],
    "exclude": [],
    "subdomains": False,
    "allow_private": False,
    "delay": CrawlOptions().delay,
    "concurrency": CrawlOptions().concurrency,
    "deadline": None,
    "page_ttl": None,
    "ignore_robots": False,
    "notify": [],
}
"""What is settled when a crawl starts, with the value it has when it was not typed."""


def _check_usage(options: dict[str, Any]) -> None:
    """BadInput for what can be seen to be wrong before anything is started."""
    if options["resume"]:
        typed = [name for name, usual in _ITS_OWN.items() if options[name] != usual]
        if typed:
            names = ", ".join("the URL" if name == "urls" else f"--{name.replace('_', '-')}" for name in typed)
            raise BadInput("resume", f"A crawl that goes on keeps what it was started with; leave out {names}.")
    elif not options["urls"]:
        raise BadInput("start_urls", "Give at least one start URL, such as: bin/crawl https://example.com/")
    target = options["export"]
    if target is None:
        return
    if target == "-" and options["json"]:
        raise BadInput("export", "--json and --export - both want stdout; give --export a file name.")
    format_of(target)
    if target != "-":
        check_writable(target)


def _chosen(options: dict[str, Any]) -> CrawlOptions:
    emails, webhooks = _split_addresses(options["notify"])
    return CrawlOptions(
        max_pages=options["max_pages"],
        max_depth=options["max_depth"],
        include=tuple(options["include"]),
        exclude=tuple(options["exclude"]),
        subdomains=options["subdomains"],
        delay=options["delay"],
        concurrency=options["concurrency"],
        deadline=options["deadline"],
        page_ttl=options["page_ttl"],
        obey_robots=not options["ignore_robots"],
        notify_emails=emails,
        notify_webhooks=webhooks,
    )


def _split_addresses(addresses: list[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """E-mail addresses and webhook URLs. Whether each can be used is judged with the other options."""
    webhooks = tuple(address for address in addresses if "://" in address)
    emails = tuple(address for address in addresses if "://" not in address)
    for address in emails:
        if "@" not in address:
            raise BadInput("notify", f"{address!r} is neither an e-mail address nor a web address (https://...).")
    return emails, webhooks


def _code_of(waited: Waited, stop: Stop) -> int:
    return stop.exit_code if waited is Waited.STOPPED else Exit.NOT_DONE


def _why(waited: Waited, options: dict[str, Any]) -> str:
    return "Interrupted." if waited is Waited.STOPPED else f"Not finished after {options['timeout']:g} s."
