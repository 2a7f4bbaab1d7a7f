"""`manage.py crawl`: crawls a site, waits until it is finished and prints the receipt."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from crawler.core.crawl.completion import State
from crawler.core.errors import BadInput
from crawler.crawls import control
from crawler.crawls.start import start_crawl
from crawler.encryption import seal
from crawler.exports.formats import FORMATS, format_of
from crawler.management.base import NOT_ANSWERING, Door, Ended, Exit, crawl_of, in_one_line
from crawler.management.crawl_options import DESCRIPTION, EXAMPLES, add_arguments, check_usage, chosen
from crawler.management.display import display_for
from crawler.management.inputs import credentials_of
from crawler.management.list_input import load
from crawler.management.waiting import Stop, Waited, Waiting, stop_signals, until_tried
from crawler.models import Crawl
from crawler.reports import text
from crawler.reports.progress import start_count, troubled_start_pages
from crawler.reports.receipt import address_shown, receipt_of

CANCELLED = "The crawl was cancelled; the pages that were open then have not been asked for."
DELETED = "The crawl was deleted by somebody, so there is nothing left to wait for."


class Command(Door):
    """Crawl a site from its start URLs, wait until it is finished and print the receipt."""

    help = f"{__doc__}\n\n{DESCRIPTION}"
    examples = EXAMPLES
    synopsis = "%(prog)s URL... [options]\n       %(prog)s --list FILE [options]\n       %(prog)s --resume ID [options]"

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_arguments(parser)

    def perform(self, options: dict[str, Any]) -> int:
        check_usage(options)
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
        if options["list"]:
            crawl = load(options, self.say, is_terminal=self.stderr.isatty())
        else:
            sealed = seal(credentials_of(options))
            crawl = start_crawl(options["urls"], chosen(options), allow_private=options["allow_private"], sealed=sealed)
        self.say(f"Crawl {crawl.id} of {crawl.site} has begun.")
        return crawl

    def _wait(self, crawl: Crawl, stop: Stop, timeout: float | None) -> Waited:
        with display_for(self.stderr.isatty(), self.say) as display, stop.gently():
            return Waiting(display.show, display.note, display.tell_why).until_over(crawl, stop, timeout)

    def _end(self, crawl: Crawl, stop: Stop, waited: Waited, options: dict[str, Any]) -> int:
        """Pause a crawl that is not over, print the receipt, and see that export and notices go out."""
        if waited is Waited.GONE:
            raise Ended(Exit.NOT_DONE, DELETED)
        trouble = None if waited is Waited.OVER else self._pause(crawl)
        if not crawl.is_over:
            self._print_receipt(crawl, options)
            if crawl.state == State.PAUSED:
                self._await_notices(crawl, stop)  # that it is paused, for one
            raise Ended(_code_of(waited, stop), f"{_why(waited, options)} {trouble}{_not_exported(crawl, options)}")
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
        except BadInput as error:  # a crawl that is done was no bad input, and its pages can be had in another format
            return Ended(Exit.NOT_DONE, f"{error} To write it now: manage.py export {crawl.id} --format FORMAT")
        return None

    def _print_receipt(self, crawl: Crawl, options: dict[str, Any]) -> None:
        receipt = receipt_of(crawl)
        if options["json"]:
            self.print(json.dumps(receipt) + "\n")
        elif options["export"] == "-":  # stdout belongs to the pages
            self.say(text.receipt_table(receipt))
        else:
            self.print(text.receipt_table(receipt))
        self.stdout.flush()

    def _await_notices(self, crawl: Crawl, stop: Stop) -> None:
        """A process that owns the workers must not end before the notice went out."""
        with stop.gently():
            untried = until_tried(crawl, stop)
            for address in dict.fromkeys(address_shown(delivery, in_full=True) for delivery in untried):
                self.say(f"The notice to {address} has not gone out yet; the next worker that runs sends it.")

    def _judge_starts(self, crawl: Crawl) -> int:
        troubled = troubled_start_pages(crawl)
        if not troubled:
            return Exit.DONE
        starts = start_count(crawl)
        line = text.start_trouble(troubled, starts)
        if len(troubled) == starts:
            raise Ended(Exit.NOT_DONE, line)
        self.say(line)
        return Exit.DONE


def _not_exported(crawl: Crawl, options: dict[str, Any]) -> str:
    """What whoever wanted a file is told of a crawl that is not over; --resume takes --export too."""
    if options["export"] is None:
        return ""
    partly = f"manage.py export {crawl.id} --format {format_of(options['export'])} --output {options['export']}"
    return f"\nNothing is exported yet: add --export to that again, or take what is known by now with {partly}"


def _code_of(waited: Waited, stop: Stop) -> int:
    return stop.exit_code if waited is Waited.STOPPED else Exit.NOT_DONE


def _why(waited: Waited, options: dict[str, Any]) -> str:
    return "Interrupted." if waited is Waited.STOPPED else f"Not finished after {options['timeout']:g} s."
