"""When a schedule fires: "every 6h", or a cron expression of five fields."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Protocol

import msgspec

from crawler.core.errors import BadInput, first_line
from crawler.core.text.quantities import seconds_of

FIELD = "schedule"
SHORTEST = 60  # seconds between two runs, at least
LONGEST_DAYS = 366
LONGEST_SHIFT = timedelta(hours=3)  # by which a clock is put forward; no zone has had more than two
LONGEST_RULE = 100  # characters

_EXAMPLES = 'write "every 6h", or a cron expression such as "0 3 * * *" (minute, hour, day, month, weekday)'
_CRON_FIELDS = 5
_CRON_FIELD = re.compile(r"[0-9a-z*,/#-]+")
_RANDOM_FIELD = re.compile(r"(?<![a-z])[rh](?![a-z])")  # croniter's R and H: another time whenever they are read
_ONE_VALUE = re.compile(r"(?<![^,])(\w+)-\1(?:/\d+)?(?![^,])")  # "5-5", which croniter takes for every value there is
_SOME_DAY = datetime(2000, 1, 1)  # noqa: DTZ001 (a reading of the clock on the wall, see `Cron`)


class Timetable(Protocol):
    """The moments at which a schedule fires."""

    def next_after(self, moment: datetime, *, since: datetime | None = None) -> datetime:
        """The first of them after `moment`, in UTC. `since` is one at which it fired or was to fire."""
        ...


class Every(msgspec.Struct, frozen=True):
    """One moment each `span`, counted from `since`: a run that was begun late does not move the next ones."""

    span: timedelta

    def next_after(self, moment: datetime, *, since: datetime | None = None) -> datetime:
        begin = (since or moment).astimezone(UTC)
        if begin > moment:
            return begin
        return begin + self.span * ((moment - begin) // self.span + 1)


class Cron(msgspec.Struct, frozen=True):
    """The moments when the clock on the wall of `zone` shows what the expression says.

    croniter is asked in times of the wall alone, which know no summer, and each is turned into a moment here: one that
    comes twice in autumn counts once, the first time; one that is left out in spring comes as much later.
    """

    expression: str
    zone: tzinfo

    def next_after(self, moment: datetime, *, since: datetime | None = None) -> datetime:
        from croniter import croniter  # 10 ms, which a worker does without

        before = (moment - LONGEST_SHIFT).astimezone(
            self.zone
        )  # a time the clock passed over comes later than it shows
        wall = croniter(self.expression, before.replace(tzinfo=None, fold=0))
        while True:
            shown: datetime = wall.get_next(datetime)
            found = shown.replace(tzinfo=self.zone).astimezone(UTC)
            if found > moment:
                return found


def parse(rule: str, zone: tzinfo = UTC) -> Timetable:
    """The timetable of a rule as a person writes it, or BadInput("schedule") saying what to write instead."""
    typed = " ".join(rule.lower().split())
    if not typed:
        raise BadInput(FIELD, f"A schedule needs a rule: {_EXAMPLES}.")
    if len(typed) > LONGEST_RULE:
        raise BadInput(FIELD, f"The schedule is longer than {LONGEST_RULE} characters; {_EXAMPLES}.")
    if typed.startswith("every"):
        return _every(rule, typed.removeprefix("every").strip())
    return _cron(rule, typed, zone)


def _every(rule: str, typed: str) -> Every:
    """ "6h" and "2 days" as well as "hour", which is one of them; a bare number has no unit."""
    amount = typed if typed[:1].isdigit() else f"1 {typed}"
    seconds = None if re.fullmatch(r"[\d.]*", typed) else seconds_of(amount)
    if seconds is None:
        raise BadInput(FIELD, f'{rule!r} is not a valid schedule: write "every 6h", "every 30m" or "every 2 days".')
    if not SHORTEST <= seconds <= LONGEST_DAYS * 86400:
        raise BadInput(
            FIELD, f"{rule!r} is not a valid schedule: the interval must be between a minute and {LONGEST_DAYS} days."
        )
    return Every(timedelta(seconds=round(seconds)))


def _cron(rule: str, typed: str, zone: tzinfo) -> Cron:
    from croniter import CroniterBadDateError, croniter  # as above

    fields = typed.split(" ")
    if len(fields) != _CRON_FIELDS:
        raise BadInput(FIELD, f"{rule!r} is not a valid schedule: {_EXAMPLES}.")
    for field in fields:
        if not _CRON_FIELD.fullmatch(field) or _RANDOM_FIELD.search(field):
            raise BadInput(FIELD, f"{rule!r} is not a valid schedule: {field!r} is not a cron field; {_EXAMPLES}.")
    typed = " ".join(_ONE_VALUE.sub(r"\1", field) for field in fields)
    try:
        croniter(typed, _SOME_DAY).get_next(datetime)
    except CroniterBadDateError:
        raise BadInput(
            FIELD, f"The schedule {rule!r} would never run: no calendar has this day; {_EXAMPLES}."
        ) from None
    except (ValueError, KeyError) as error:  # croniter's own errors are ValueErrors
        raise BadInput(FIELD, f"{rule!r} is not a valid schedule: {first_line(error)}; {_EXAMPLES}.") from None
    return Cron(typed, zone)


# Retention of crawls that are over.

MAX_KEEP_DAYS = 36_500.0  # 100 years; a far larger number would leave the range of dates


def deleted_on(finished_at: datetime | None, keep_days: float, *, is_kept: bool) -> datetime | None:
    """When a crawl is deleted; None = never, or not known because it is not over. 0 days = never."""
    if finished_at is None or not keep_days or is_kept:
        return None
    return finished_at + timedelta(days=min(keep_days, MAX_KEEP_DAYS))
