"""Why a crawl is not finished: from what can be seen of it to plain sentences, the answer first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import assert_never

from crawler.core.crawl.completion import State
from crawler.core.crawl.holds import HoldReason, hold_message
from crawler.core.crawl.politeness import HostWait, Reason, why_not_now
from crawler.core.errors import SealBroken
from crawler.core.installation.backpressure import Shortage, paused_for, waits_for
from crawler.core.text.quantities import count, counted, duration

SILENT_AFTER = 4.0  # seconds without a sign of life; a worker at work gives one every 2.5
MANAGER_SILENT_AFTER = 10.0  # seconds; a run that is still busy after this hands over to a fresh one
SLOW_TO_BEGIN = 5.0  # seconds a worker may take from having a job to claiming its batch

START_ONE = "start one in the project folder with bin/worker"
LOCKER_SILENT_AFTER = 2.0  # seconds without a statement in an open transaction; a manager at work makes many a second
NEXT_RUN = "at the manager's next run"


class Hold(StrEnum):
    """Who has a batch, as far as can be told."""

    FETCHING = "fetching"  # a worker asks for its pages, and shows that it lives
    SILENT = "silent"  # its worker has shown no sign of life for a while
    REPORTED = "reported"  # its job has ended; what it left waits to be taken in
    QUEUED = "queued"  # its job waits for a free worker
    BEGINNING = "beginning"  # a worker has its job and has not claimed the batch yet
    LOST = "lost"  # its job does not wait any more, and nobody has begun it


def hold_of(
    *, held: bool, silent_for: float, queued: bool, started: bool, missed_for: float | None, reports: int
) -> Hold:
    """`held`: a worker claimed it; `silent_for`: seconds since that was last renewed; `queued`, `started`: what the
    queue says of its job; `missed_for`: seconds since the manager first found that its job does not wait (None = it
    did not); `reports`: how many wait to be taken in."""
    if held:
        if reports and not started:
            return Hold.REPORTED
        return Hold.SILENT if silent_for > SILENT_AFTER else Hold.FETCHING
    if queued:
        return Hold.QUEUED
    if missed_for is None or (started and missed_for < SLOW_TO_BEGIN):
        return Hold.BEGINNING
    return Hold.LOST


@dataclass(frozen=True)
class HandedOut:
    """One batch."""

    hold: Hold
    pages: int  # of it that are still open
    back_in: float  # seconds after which it is given to others if nobody shows up


@dataclass(frozen=True)
class SilentLock:
    """The lock on a crawl's row, held by a connection that says nothing: its machine is stopped, or has vanished."""

    client: str  # its address; "" = not known
    silent_for: float  # seconds
    ends_in: float | None  # seconds until the database ends that connection; None = it does not


class Manager(StrEnum):
    """What the crawl manager is doing."""

    WORKING = "working"
    SILENT = "silent"  # it is said to be at work, but has shown no sign of life for a while
    COMING = "coming"  # its next run waits for a free worker
    RESTING = "resting"  # until something is due, or somebody leaves results


def manager_of(*, silent_for: float | None, is_coming: bool) -> Manager:
    """`silent_for`: seconds since the run at work last showed that it lives; None = none is at work."""
    if silent_for is not None:
        return Manager.SILENT if silent_for > MANAGER_SILENT_AFTER else Manager.WORKING
    return Manager.COMING if is_coming else Manager.RESTING


@dataclass(frozen=True)
class Facts:
    """What can be seen of a crawl at one moment."""

    state: State
    open_pages: int  # in the table
    redis_answers: bool = True
    crawl_workers: int = 1  # alive and listening to the queue `crawl`
    fetch_workers: int = 1  # alive and listening to the queue `fetch`
    stirred: bool = False  # somebody did something for this crawl a moment ago
    has_begun: bool = True  # some page is closed
    is_lined_up: bool = True  # Redis knows how far the table was lined up
    batches: Sequence[HandedOut] = ()
    hosts: Sequence[HostWait] = ()  # some of those that wait, the next one first
    hosts_waiting: int = 0  # all of them
    held_up: Sequence[HostWait] = ()  # the hosts of what is being fetched, when a worker has to wait for each of them
    reports: int = 0  # left by fetch jobs and not yet taken in
    manager: Manager = Manager.RESTING
    sent_ago: float = 0.0  # with COMING: seconds since the manager was sent for
    lock_left: float = 0.0  # with SILENT: seconds until another run may take over
    ends_in: float | None = None  # seconds until the crawl's deadline
    expires_in: float | None = None  # seconds until the time of the next open page is over
    closing_in: float | None = None  # seconds until pages close that their servers put off; None = others are left
    given_up: int = 0  # pages given up in the last hour
    disagreements: int = 0  # of the two checks that decide "finished", ever
    hold: HoldReason = HoldReason.USER  # if it is paused: why
    held_for: float | None = None  # seconds until it resumes by itself
    shortage: Shortage | None = None  # what there is no room in
    locked: SilentLock | None = None  # who keeps the manager from writing
    evicts: bool = False  # Redis makes room by throwing away what the crawl may need

    def pages_in(self, *holds: Hold) -> int:
        return sum(batch.pages for batch in self.batches if batch.hold in holds)

    def batches_in(self, *holds: Hold) -> list[HandedOut]:
        return [batch for batch in self.batches if batch.hold in holds]

    @property
    def is_locked_out(self) -> bool:
        """Whether nothing can be written of it, because somebody died with its row locked."""
        return self.locked is not None and self.locked.silent_for >= LOCKER_SILENT_AFTER

    @property
    def has_workers(self) -> bool:
        return bool(self.crawl_workers and self.fetch_workers)


def explain(facts: Facts) -> list[str]:
    """What a person should know, most important first: the first sentence answers "why is it not finished?"."""
    if facts.state.is_over:
        return [_over(facts)]
    if not facts.redis_answers:
        return [_without_redis(facts), *_open(facts), *_ends(facts), *_disagreed(facts)]
    if facts.state is State.LOADING:
        return ["Its list of URLs is still being read; nothing is asked for before that is done."]
    stuck = list(_locked(facts))
    answer = _paused(facts) if facts.state is State.PAUSED else _running(facts)
    more = (_open, _manager, _unlisted, _ends, _given_up, _disagreed, _evicts)
    return [*stuck, *answer, *(sentence for part in more for sentence in part(facts))]


def _without_redis(facts: Facts) -> str:
    """Either it is away, or so full that it does not answer all that is asked."""
    if facts.shortage is None:
        return "Redis does not answer, so nothing is fetched. The crawl goes on by itself once Redis is back."
    return paused_for(facts.shortage) if facts.state is State.PAUSED else waits_for(facts.shortage)


def _over(facts: Facts) -> str:
    what = "It was cancelled" if facts.state is State.CANCELLED else "It is finished"
    if facts.open_pages:  # cannot be; whoever sees it should know
        return f"{what}, yet {_are_open(facts)} in the table: please report this."
    return f"{what}: no page is open."


def _paused(facts: Facts) -> Iterator[str]:
    if facts.hold is HoldReason.CREDENTIALS:
        yield f"It is paused. {SealBroken()}"
    elif facts.hold.ends_by_itself:
        yield hold_message(facts.hold, facts.shortage, f"in {duration(max(facts.held_for or 0.0, 0.0))}")
    elif facts.open_pages:
        yield "It is paused: nothing new is asked for until somebody resumes it."
    else:
        yield "It is paused, although no page is open: once somebody resumes it, it is finished."
    yield from _in_hand(facts)


def _running(facts: Facts) -> list[str]:
    told = [*_short(facts), *_no_worker(facts), *_all_done(facts), *_closing(facts), *_in_hand(facts)]
    if facts.open_pages and not _is_fetching(facts):
        told += _waiting(facts)
    return told or [_last_resort(facts)]


def _short(facts: Facts) -> Iterator[str]:
    if facts.shortage is not None:
        yield waits_for(facts.shortage)


def _locked(facts: Facts) -> Iterator[str]:
    if not facts.is_locked_out or facts.locked is None:
        return
    where = f" from {facts.locked.client}" if facts.locked.client else ""
    silent_for, ends_in = duration(facts.locked.silent_for), facts.locked.ends_in
    when = "once that is ended" if ends_in is None else f"once PostgreSQL ends it, in {duration(max(0.0, ends_in))}"
    yield (
        f"The crawl's row is locked by a connection{where} that has not answered for {silent_for}: "
        f"the crawl goes on {when}."
    )


def _evicts(facts: Facts) -> Iterator[str]:
    if facts.evicts:
        yield (
            "Redis may throw away what crawls need, which slows them down: its maxmemory-policy should be noeviction."
        )


def _is_fetching(facts: Facts) -> bool:
    return bool(facts.batches_in(Hold.FETCHING))


def _no_worker(facts: Facts) -> Iterator[str]:
    if facts.stirred or facts.has_workers:
        return
    if not (facts.crawl_workers or facts.fetch_workers):
        yield f"No worker is running: {START_ONE}."
        return
    missing = "fetch" if facts.crawl_workers else "crawl"
    yield f'Workers are running, but none of them listens to the queue "{missing}": {START_ONE}.'


def _all_done(facts: Facts) -> Iterator[str]:
    if facts.open_pages:
        return
    if facts.batches:
        out = counted(len(facts.batches), "batch")
        yield f"No page is open any more; {out} handed out must come back before it is finished."
    else:
        yield f'No page is open any more; "finished" is said {NEXT_RUN}.'


def _closing(facts: Facts) -> Iterator[str]:
    """Only pages are left that their servers put off."""
    if facts.closing_in is None or not facts.open_pages or facts.batches:
        return
    when = f"in {duration(facts.closing_in)}" if facts.closing_in > 0 else NEXT_RUN
    if facts.open_pages == 1:
        yield (
            "All that is left is 1 page whose server asked to wait (Retry-After): "
            f"it closes {when} with the response it had, unless its time comes before."
        )
    else:
        yield (
            f"All that is left are {counted(facts.open_pages, 'page')} whose servers asked to wait (Retry-After): "
            f"they close {when} with the responses they had, unless their time comes before."
        )


def _in_hand(facts: Facts) -> Iterator[str]:
    """What becomes of the batches that are handed out."""
    if (fetching := facts.batches_in(Hold.FETCHING)) and facts.held_up:
        yield why_not_now(facts.held_up[0])
        yield f"{_batches(fetching)} {_is_are(fetching)} in the hands of a worker that waits for this."
    elif fetching:
        yield f"{_batches(fetching)} {_is_are(fetching)} being fetched right now."
    if silent := facts.batches_in(Hold.SILENT):
        yield _died(facts, silent)
    if facts.reports:
        yield _reports(facts)
    if beginning := facts.batches_in(Hold.BEGINNING):
        yield f"{_batches(beginning)} {_is_are(beginning)} just being begun by a worker."
    if queued := facts.batches_in(Hold.QUEUED):
        yield f"{_batches(queued)} {'waits' if len(queued) == 1 else 'wait'} for a free worker{_workers(facts)}."
    if lost := facts.batches_in(Hold.LOST):
        yield f"The queue has lost {_batches(lost)}, as it does when a worker is killed; {_back(facts, lost)}."


def _died(facts: Facts, silent: Sequence[HandedOut]) -> str:
    who = "A worker seems" if len(silent) == 1 else f"{count(len(silent))} workers seem"
    pages = _pages(silent)
    if not pages:
        return f"{who} to have died with no open page in hand."
    return f"{who} to have died with {counted(pages, 'page')} in hand; {_back(facts, silent)}."


def _back(facts: Facts, batches: Sequence[HandedOut]) -> str:
    """When the pages of these are given to others."""
    they = "it goes" if _pages(batches) == 1 else "they go"
    if not (facts.has_workers or facts.stirred):
        return f"{they} to another one as soon as it runs"
    seconds = max(batch.back_in for batch in batches)
    return f"{they} back to the others {f'in {duration(seconds)}' if seconds > 0 else NEXT_RUN}"


def _reports(facts: Facts) -> str:
    what = f"{counted(facts.reports, 'report')} of fetched pages {'waits' if facts.reports == 1 else 'wait'}"
    if facts.is_locked_out:
        return f"{what} to be taken in then."
    match facts.manager:
        case Manager.WORKING:
            return f"{what} to be taken in by the manager, which is at work right now."
        case Manager.SILENT:
            return f"{what} to be taken in; {_took_over(facts)}."
        case Manager.COMING:
            return f"{what} to be taken in by the manager, which waits for a free worker."
        case Manager.RESTING:
            return f"{what} to be taken in {NEXT_RUN}."
    assert_never(facts.manager)


def _waiting(facts: Facts) -> Iterator[str]:
    """What becomes of the pages that are not handed out."""
    if not facts.hosts:
        return
    first = facts.hosts[0]
    if first.reason is not Reason.NOTHING:
        yield why_not_now(first)
    else:
        ready = [host for host in facts.hosts if host.reason is Reason.NOTHING]
        hosts = first.host if len(ready) == 1 else f"{first.host} and {counted(len(ready) - 1, 'other host')}"
        yield f"{hosts} may be asked now: pages are handed out {NEXT_RUN}."
    if facts.hosts_waiting > 1:
        yield f"Pages of {counted(facts.hosts_waiting, 'host')} wait in all."


def _last_resort(facts: Facts) -> str:
    """Nothing is handed out and no host waits."""
    if not facts.has_begun:
        return f"It has just been started: the first pages are handed out {NEXT_RUN}."
    pages = f"open {'page' if facts.open_pages == 1 else 'pages'}"
    if not facts.is_lined_up:
        return f"Redis does not know the {pages}: the manager lines them up again from the table."
    return f"The {pages} in the table must be lined up: that is done {NEXT_RUN}."


def _open(facts: Facts) -> Iterator[str]:
    """How many pages are open, and where they are."""
    if not facts.open_pages:
        return
    out = [
        (facts.pages_in(Hold.FETCHING), "being fetched"),
        (facts.pages_in(Hold.REPORTED), "fetched and not taken in yet"),
        (facts.pages_in(Hold.QUEUED, Hold.BEGINNING), "handed out and not begun"),
        (facts.pages_in(Hold.SILENT, Hold.LOST), "on their way back"),
    ]
    rest = facts.open_pages - sum(pages for pages, _ in out)
    parts = [f"{count(pages)} {where}" for pages, where in [*out, (rest, "waiting")] if pages > 0]
    where = f": {', '.join(parts)}" if facts.redis_answers and len(parts) > 1 else ""
    yield f"{_are_open(facts)}{where}."


def _are_open(facts: Facts) -> str:
    return f"{counted(facts.open_pages, 'page')} {'is' if facts.open_pages == 1 else 'are'} open"


def _manager(facts: Facts) -> Iterator[str]:
    if facts.reports or facts.is_locked_out or facts.state is State.PAUSED:
        return  # told there, or of no matter
    match facts.manager:
        case Manager.WORKING:
            yield "The manager is at work right now."
        case Manager.SILENT:
            yield f"T{_took_over(facts)[1:]}."
        case Manager.COMING:
            yield f"The manager was sent for {duration(facts.sent_ago)} ago and waits for a free worker."
        case Manager.RESTING:
            return


def _took_over(facts: Facts) -> str:
    return f"the manager seems to have died at work, and another may take over in {duration(facts.lock_left)}"


def _unlisted(facts: Facts) -> Iterator[str]:
    """RQ forgets workers that live, after Redis was emptied for one."""
    if facts.stirred and not (facts.crawl_workers or facts.fetch_workers):
        yield "No worker is listed, yet one was at work a moment ago."


def _ends(facts: Facts) -> Iterator[str]:
    if facts.ends_in is not None:
        yield (
            f"Its deadline is in {duration(facts.ends_in)}: pages that are open then close as expired."
            if facts.ends_in > 0
            else f"Its deadline has passed: pages that are open close as expired {NEXT_RUN}."
        )
    elif facts.expires_in is not None:
        yield f"The next open page expires in {duration(max(0.0, facts.expires_in))}."


def _given_up(facts: Facts) -> Iterator[str]:
    if facts.given_up:
        yield f"{counted(facts.given_up, 'page')} {'was' if facts.given_up == 1 else 'were'} given up in the last hour."


def _disagreed(facts: Facts) -> Iterator[str]:
    if facts.disagreements:
        times = "once" if facts.disagreements == 1 else f"{count(facts.disagreements)} times"
        yield f"The checks that decide whether it is finished have disagreed {times}; the table was believed."


def _workers(facts: Facts) -> str:
    if not facts.fetch_workers:
        return ""
    return f" ({'1 is' if facts.fetch_workers == 1 else f'{count(facts.fetch_workers)} are'} running)"


def _batches(batches: Sequence[HandedOut]) -> str:
    """ "3 batches with 124 pages"."""
    pages = _pages(batches)
    return counted(len(batches), "batch") + (f" with {counted(pages, 'page')}" if pages else "")


def _pages(batches: Iterable[HandedOut]) -> int:
    return sum(batch.pages for batch in batches)


def _is_are(batches: Sequence[HandedOut]) -> str:
    return "is" if len(batches) == 1 else "are"
