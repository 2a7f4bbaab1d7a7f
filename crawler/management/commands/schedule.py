"""`manage.py schedule`: lists, adds, pauses, resumes and removes schedules of recurring crawls."""

from __future__ import annotations

from argparse import ArgumentParser, _SubParsersAction
from collections.abc import Callable
from typing import Any
from uuid import UUID

from crawler.command_names import as_typed
from crawler.core.errors import BadInput
from crawler.crawls.schedules import add_schedule, pause_schedule, remove_schedule, resume_schedule
from crawler.crawls.start import start_crawl
from crawler.encryption import seal
from crawler.management import display
from crawler.management.base import CrawlerCommand, Exit
from crawler.management.crawl_options import add_settled, chosen
from crawler.management.inputs import credentials_of
from crawler.management.parsers import use_one_line_errors
from crawler.models import Schedule
from crawler.reports.text import Reply

_VERBS: dict[str, tuple[Callable[[UUID], bool], str, str, str]] = {
    "pause": (pause_schedule, "start no more runs", "Paused; no more runs start.", "It was already paused."),
    "resume": (resume_schedule, "start runs again", "Resumed.", "It was not paused."),
    "remove": (
        remove_schedule,
        "delete it, but keep its runs",
        "Removed; its crawls are kept.",
        "It was already removed.",
    ),
}
"""Action -> function, help, and the replies if it changed something or not."""


class Command(CrawlerCommand):
    """Crawl a site regularly: list, add, pause, resume or remove schedules.

    examples:
      python manage.py schedule add https://example.com/ --every 6h --revisit
      python manage.py schedule add https://example.com/ --cron "0 3 * * mon-fri" --later
      python manage.py schedule list
      python manage.py schedule pause 5a0a5a2e-1c5c-4a54-9a53-0f4a3ce0a6a5

    `manage.py clock`, which bin/up starts, starts the runs. Cron expressions are in UTC. Further
    options of a crawl: python manage.py schedule add --help

    exit codes:
      0    done
      1    nothing to change, or a service is down
      2    invalid arguments; nothing was changed
    """

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
        shown = _action(actions, "list", "list the schedules, next run first")
        shown.add_argument("--json", action="store_true", help="print a JSON list")
        _add_add(_action(actions, "add", "add a schedule, and start its first run now"))
        for verb, (_, means, _, _) in _VERBS.items():
            _action(actions, verb, means).add_argument("id", metavar="ID", help="ID of the schedule")

    def perform(self, options: dict[str, Any]) -> int:
        match options["action"]:
            case "list":
                return self._list(as_json=options["json"])
            case "add":
                return self._add(options)
            case verb:
                move, _, done, not_done = _VERBS[verb]
                is_so = move(_schedule_of(options["id"]).id)
                return self.print_reply(Reply(done if is_so else not_done, is_so=is_so))

    def _list(self, *, as_json: bool) -> int:
        schedules = Schedule.objects.order_by("-enabled", "next_at")
        if as_json:
            self.print_json([display.schedule(schedule) for schedule in schedules])
        elif schedules:
            self.print(display.schedule_table(schedules))
        else:
            self.print(
                as_typed(
                    "There are no schedules yet. Add one: manage.py schedule add https://example.com/ --every 6h\n"
                )
            )
        return Exit.DONE

    def _add(self, typed: dict[str, Any]) -> int:
        if typed["list"]:
            raise BadInput("list", "A schedule needs start URLs; it cannot crawl a list.")
        rule = typed["cron"] or f"every {typed['every']}"
        urls, options, allow_private = typed["urls"], chosen(typed), typed["allow_private"]
        sealed = seal(credentials_of(typed))
        if typed["later"]:
            schedule = add_schedule(urls, options, rule, allow_private=allow_private, sealed=sealed)
            self.print(f"Schedule {schedule.id}: {schedule.rule}, first on {display.minute(schedule.next_at)} UTC.\n")
            return Exit.DONE
        run = start_crawl(urls, options, rule, allow_private=allow_private, sealed=sealed)
        if run.schedule is not None:  # None: removed meanwhile
            next_at = display.minute(run.schedule.next_at)
            self.print(f"Schedule {run.schedule.id}: {run.schedule.rule}, next on {next_at} UTC.\n")
        self.say(f"Crawl {run.id} of {run.site} started.")
        self.warn_without_workers()
        return Exit.DONE


def _action(actions: _SubParsersAction[Any], name: str, means: str) -> ArgumentParser:
    parser: ArgumentParser = actions.add_parser(name, help=means, description=f"{means[:1].upper()}{means[1:]}.")
    use_one_line_errors(parser)
    return parser


def _add_add(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("when")
    rule = group.add_mutually_exclusive_group(required=True)
    rule.add_argument("--every", metavar="TIME", help="such as 6h, 30m or 2 days; at least a minute")
    rule.add_argument("--cron", metavar="LINE", help='five fields, such as "0 3 * * *": every night at 3:00 UTC')
    group.add_argument("--later", action="store_true", help="start the first run at its scheduled time, not now")
    add_settled(parser)


def _schedule_of(typed: str) -> Schedule:
    """The schedule with this id. Raises BadInput if there is none."""
    try:
        return Schedule.objects.get(pk=UUID(typed))
    except (ValueError, Schedule.DoesNotExist):
        raise BadInput("id", f"There is no schedule {typed!r}; `manage.py schedule list` shows them.") from None
