"""`manage.py crawl`: crawls a site, waits until it is finished and prints the receipt."""

from __future__ import annotations

import os
from argparse import ArgumentParser
from collections.abc import Callable
from typing import Any

from crawler import conf
from crawler.core.access.credentials import CHANGEABLE, KINDS
from crawler.core.access.reach import OPERATOR
from crawler.core.errors import BadInput
from crawler.core.protocol.completion import State
from crawler.crawls import control
from crawler.crawls.change import change
from crawler.crawls.crawl_checks import has_use
from crawler.crawls.start import start_crawl
from crawler.encryption import seal
from crawler.exports.formats import FORMATS, format_of
from crawler.frontier.autoscalers import has_autoscaler
from crawler.management.base import SERVICE_ERRORS, CrawlerCommand, Exit, ExitWith, in_one_line
from crawler.management.crawl_options import DESCRIPTION, EXAMPLES, add_arguments, check_usage, chosen
from crawler.management.crawls import crawl_of
from crawler.management.display import display_for
from crawler.management.inputs import changed_secrets, credentials_of
from crawler.management.list_input import load
from crawler.management.usage import configured
from crawler.management.waiting import CrawlWait, Stop, WaitEnd, stop_signals, wait_for_notices
from crawler.models import Crawl, Delivery
from crawler.notices.subscribers import subscribers
from crawler.queueing import queues
from crawler.queueing.workers import live_workers
from crawler.reports import text
from crawler.reports.progress import start_count, troubled_start_pages
from crawler.reports.receipt import address_shown, receipt_of
from crawler.running import lacking, running

CANCELLED = "The crawl was cancelled; its open pages were not requested."
NOTHING_RUNS = (
    "Nothing was started, because no worker is running. Start the installation with bin/up, or a worker with "
    "bin/worker; or leave out --detach, so that bin/crawl starts its own."
)
DELETED = "The crawl was deleted."


class Command(CrawlerCommand):
    """Crawl a site from its start URLs, wait until it is finished and print the receipt."""

    help = f"{__doc__}\n\n{DESCRIPTION}"
    examples = EXAMPLES
    synopsis = "%(prog)s URL... [options]\n       %(prog)s --list FILE [options]\n       %(prog)s --resume ID [options]"

    has_begun: Callable[[], None] | None = None  # of bin/crawl, which then starts the rest of its workers

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_arguments(parser)

    def run_from_argv(self, argv: list[str]) -> None:
        found = configured(argv[2:])
        if found.note:
            self.say(found.note)
        super().run_from_argv([*argv[:2], *found.arguments])

    def perform(self, options: dict[str, Any]) -> int:
        check_usage(options)
        if options["export"] is not None:
            FORMATS[format_of(options["export"])].check_installed("export")
        check_workers()
        if options["detach"]:
            return self._detached(options)
        with stop_signals() as stop:
            try:
                if options["list"]:
                    self._note_begun()  # reading it may take minutes
                crawl = self._begin(options)
                self._note_begun()
                waited, held = self._wait(crawl, stop, options["timeout"])
                return self._end(crawl, stop, waited, held, options)
            except KeyboardInterrupt:
                raise ExitWith(stop.exit_code, "Interrupted.") from None

    def _note_begun(self) -> None:
        if self.has_begun is not None:
            self.has_begun()

    def _detached(self, options: dict[str, Any]) -> int:
        """Start the crawl, or resume it, where workers run already, and print its id."""
        if live_workers() == 0 and not has_autoscaler(queues.connection()):
            raise ExitWith(Exit.NOT_DONE, NOTHING_RUNS)
        crawl = self._begin(options)
        self.print_json({"id": str(crawl.id)}) if options["json"] else self.print(f"{crawl.id}\n")
        return Exit.DONE

    def _begin(self, options: dict[str, Any]) -> Crawl:
        if options["resume"]:
            crawl = crawl_of(options["resume"])
            if secrets := changed_secrets(options):
                change(crawl.id, secrets, by=OPERATOR)
            control.resume(crawl.id)  # False if it was not paused: then only wait
            return crawl
        if options["list"]:
            crawl = load(options, self.say, is_terminal=self.stderr.isatty())
        else:
            sealed = seal(credentials_of(options))
            crawl = start_crawl(
                options["urls"],
                chosen(options),
                allow_private=options["allow_private"],
                sealed=sealed,
                by_operator=True,
            )
        self.say(f"Crawl {crawl.id} of {crawl.site} started.")
        return crawl

    def _wait(self, crawl: Crawl, stop: Stop, timeout: float | None) -> tuple[WaitEnd, str]:
        """Why waiting ended, and why a person has to act, if one does."""
        with display_for(self.stderr.isatty(), self.say) as display, stop.gently():
            waiting = CrawlWait(display.show, display.note, display.show_reason)
            return waiting.until_over(crawl, stop, timeout), waiting.held

    def _end(self, crawl: Crawl, stop: Stop, waited: WaitEnd, held: str, options: dict[str, Any]) -> int:
        """Pause a crawl that is not over, print the receipt, export, and wait for the notices."""
        if waited is WaitEnd.GONE:
            raise ExitWith(Exit.NOT_DONE, DELETED)
        match waited:
            case WaitEnd.OVER:
                trouble = ""
            case WaitEnd.HELD:  # the hold stays: where workers run, it may end without this command
                trouble = f"{held}\n{_to_go_on(crawl)}"
            case _:
                trouble = f"{_why(waited, options)} {self._pause(crawl)}"
        if not crawl.is_over:
            self._print_receipt(crawl, options)
            if crawl.state == State.PAUSED:
                self._await_notices(crawl, stop)  # such as the notice of the pause
            raise ExitWith(_code_of(waited, stop), f"{trouble}{_not_exported(crawl, options)}")
        unwritten = self._export(crawl, options["export"])
        self._print_receipt(crawl, options)
        self._await_notices(crawl, stop)
        if unwritten:
            raise unwritten
        if crawl.state == State.CANCELLED:
            raise ExitWith(Exit.NOT_DONE, CANCELLED)
        return self._judge_starts(crawl)

    def _pause(self, crawl: Crawl) -> str:
        """Pause the crawl and return how to resume it; it may have finished meanwhile."""
        try:
            control.pause(crawl.id)
            crawl.refresh_from_db()
        except Crawl.DoesNotExist:
            raise ExitWith(Exit.NOT_DONE, DELETED) from None
        except SERVICE_ERRORS as error:
            return f"The crawl could not be paused ({in_one_line(error)}) To wait for it: bin/crawl --resume {crawl.id}"
        return f"The crawl is paused; to resume it: bin/crawl --resume {crawl.id}"

    def _export(self, crawl: Crawl, target: str | None) -> ExitWith | None:
        """Write the export; return its error, which is printed after the receipt."""
        if target is None:
            return None
        try:
            self.save(target, FORMATS[format_of(target)](crawl))
        except ExitWith as ended:
            return ended
        except BadInput as error:  # no usage error: the crawl is done, and can be exported in another format
            return ExitWith(Exit.NOT_DONE, f"{error} To write it now: manage.py export {crawl.id} --format FORMAT")
        return None

    def _print_receipt(self, crawl: Crawl, options: dict[str, Any]) -> None:
        receipt = receipt_of(crawl)
        if options["json"]:
            self.print_json(receipt)
        elif options["export"] == "-":  # stdout belongs to the pages
            self.say(text.receipt_table(receipt))
        else:
            self.print(text.receipt_table(receipt))
        self.stdout.flush()

    def _await_notices(self, crawl: Crawl, stop: Stop) -> None:
        """Wait for the notices: this process may own the workers that send them."""
        with stop.gently():
            untried = wait_for_notices(crawl, stop)
            for line in dict.fromkeys(map(_undelivered, untried)):
                self.say(line)

    def _judge_starts(self, crawl: Crawl) -> int:
        troubled = troubled_start_pages(crawl)
        if not troubled:
            return Exit.DONE
        starts = start_count(crawl)
        line = text.start_trouble(troubled, starts)
        if len(troubled) == starts:
            raise ExitWith(Exit.NOT_DONE, line)
        self.say(line)
        return Exit.DONE


def check_workers() -> None:
    """BadInput if `bin/up` runs with other settings than this command has: its workers would crawl by theirs."""
    note = running(conf.data_dir())
    redis_url = os.environ.get("REDIS_URL", "")
    if note is None or (redis_url and note.redis != note.digest(redis_url)):
        return  # nothing runs, or on another Redis
    if names := lacking(note, os.environ):
        raise BadInput(
            "settings",
            f"The workers of bin/up ({note.address}) lack these settings of this command: {', '.join(names)}. "
            "Nothing was started, because they would ignore them: restart bin/up with these settings (also after a "
            "change of .env), or leave them out.",
        )


def _undelivered(delivery: Delivery) -> str:
    for subscriber in subscribers():
        if subscriber.transport == delivery.transport:
            return subscriber.left(delivery.address)
    return f"The notice to {address_shown(delivery, in_full=True)} was not sent yet; the next worker sends it."


def _to_go_on(crawl: Crawl) -> str:
    """The line to type once a person has ended the hold."""
    command = f"bin/crawl --resume {crawl.id}"
    lines = [f"To resume it: {command}"]
    if crawl.pause_reason:
        kinds = [(KINDS[name], change) for name, change in CHANGEABLE.items() if has_use(crawl.chosen, name)]
        lines += [f"{change.on_resuming}: {command} {kind.flag} {kind.metavar} ..." for kind, change in kinds]
    return "\n".join(lines)


def _not_exported(crawl: Crawl, options: dict[str, Any]) -> str:
    """How to export a crawl that is not over."""
    if options["export"] is None:
        return ""
    partly = f"manage.py export {crawl.id} --format {format_of(options['export'])} --output {options['export']}"
    return f"\nNothing is exported yet: add --export to that command, or export the results so far with {partly}"


def _code_of(waited: WaitEnd, stop: Stop) -> int:
    return stop.exit_code if waited is WaitEnd.STOPPED else Exit.NOT_DONE


def _why(waited: WaitEnd, options: dict[str, Any]) -> str:
    return "Interrupted." if waited is WaitEnd.STOPPED else f"Not finished after {options['timeout']:g} s."
