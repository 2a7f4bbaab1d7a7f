"""Why a crawl is not finished, as sentences for a user: the cause first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import assert_never

from crawler.command_names import as_typed
from crawler.core.politeness.host_rules import WaitReason
from crawler.core.protocol.completion import State
from crawler.core.protocol.diagnosis import Facts, HandedOut, Hold, Manager
from crawler.core.protocol.lanes import FETCH, Lane
from crawler.core.text.quantities import count, counted, duration
from crawler.reports.cause_text import hold_message, paused_for, wait_text, waits_for

JUST_STARTED_S = 10.0  # in which the first pages are handed out, unless something is wrong
START_ONE = as_typed("start one with bin/worker")
AUTOSCALED = "No worker is running yet: an autoscaler starts the first one."
NEXT_RUN = "at the manager's next run"


def explain(facts: Facts) -> list[str]:
    """Sentences, most important first: the first one answers "why is it not finished?"."""
    if facts.state.is_over:
        return [_over(facts)]
    if not facts.redis_answers:
        return [_without_redis(facts), *_open(facts), *_ends(facts), *_disagreed(facts)]
    if facts.state is State.LOADING:
        return ["Its list of URLs is still being read; requests start afterwards."]
    stuck = list(_locked(facts))
    answer = _paused(facts) if facts.state is State.PAUSED else _running(facts)
    more = (_open, _manager, _unlisted, _ends, _given_up, _disagreed, _evicts)
    return [*stuck, *answer, *(sentence for part in more for sentence in part(facts))]


def _without_redis(facts: Facts) -> str:
    """Redis is down, or so full that it refuses some commands."""
    if facts.shortage is None:
        return "Redis does not respond, so nothing is fetched. The crawl continues once Redis is back."
    return paused_for(facts.shortage) if facts.state is State.PAUSED else waits_for(facts.shortage)


def _over(facts: Facts) -> str:
    what = "It was cancelled" if facts.state is State.CANCELLED else "It is finished"
    if facts.open_pages:  # a bug, so it is reported
        return f"{what}, yet {_are_open(facts)} in the table: please report this."
    return f"{what}: no page is open."


def _paused(facts: Facts) -> Iterator[str]:
    ends = f"in {duration(max(facts.held_for or 0.0, 0.0))}"
    if why := hold_message(facts.hold, facts.shortage, ends, facts.pause_reason):
        yield why
    elif facts.open_pages or facts.stays_open:
        yield "It is paused: no page is requested until a user resumes it."
    else:
        yield "It is paused, although no page is open: it finishes once a user resumes it."
    yield from _in_hand(facts)


def _running(facts: Facts) -> list[str]:
    short = [waits_for(facts.shortage)] if facts.shortage is not None else []
    sentences = [*short, *_no_worker(facts), *_for_slots(facts), *_all_done(facts), *_closing(facts), *_in_hand(facts)]
    if facts.open_pages and not facts.batches_in(Hold.FETCHING):
        sentences += _waiting(facts)
    return sentences or [_last_resort(facts)]


def _locked(facts: Facts) -> Iterator[str]:
    if not facts.is_locked_out or facts.locked is None:
        return
    where = f" from {facts.locked.client}" if facts.locked.client else ""
    silent_for, ends_in = duration(facts.locked.silent_for), facts.locked.ends_in
    when = "once that is ended" if ends_in is None else f"once PostgreSQL ends it, in {duration(max(0.0, ends_in))}"
    yield (
        f"The crawl's row is locked by a connection{where} that has not responded for {silent_for}: "
        f"the crawl continues {when}."
    )


def _evicts(facts: Facts) -> Iterator[str]:
    if facts.evicts:
        yield "Redis may evict data of crawls, which slows them down: its maxmemory-policy should be noeviction."


def _no_worker(facts: Facts) -> Iterator[str]:
    is_unserved = facts.lane is not FETCH and not facts.lane_workers and not facts.batches_in(Hold.FETCHING)
    if is_unserved and facts.crawl_workers and facts.open_pages:
        yield no_worker_for(facts.lane, facts.open_pages)
        return
    if facts.stirred or facts.has_workers:
        return
    if not (facts.crawl_workers or facts.fetch_workers):
        yield AUTOSCALED if facts.is_autoscaled else f"No worker is running: {START_ONE}."
        return
    missing = "fetch" if facts.crawl_workers else "crawl"
    yield f'Workers are running, but none of them listens to the queue "{missing}": {START_ONE}.'


def no_worker_for(lane: Lane, pages: int) -> str:
    return f"{_wait(pages)} for a {lane.name} worker, and none is running: {START_ONE} --{lane.queue}."


def _wait(pages: int) -> str:
    return f"{counted(pages, 'page')} {'waits' if pages == 1 else 'wait'}"


def _for_slots(facts: Facts) -> Iterator[str]:
    for lane, pages, slots in facts.for_slots:
        if pages and slots:
            place = "the only place" if slots == 1 else f"one of {count(slots)} places"
            yield f"{_wait(pages)} for {place} in the {lane.name}s."
        elif pages:
            yield no_worker_for(lane, pages)


def _all_done(facts: Facts) -> Iterator[str]:
    if facts.open_pages:
        return
    if facts.stays_open:
        yield "It waits for more pages, until a user finishes it."
    elif facts.batches:
        out = counted(len(facts.batches), "batch")
        yield f"No page is open any more; {out} handed out must come back before it is finished."
    else:
        yield f"No page is open any more; the crawl is finished {NEXT_RUN}."


def _closing(facts: Facts) -> Iterator[str]:
    """Only pages are left whose servers put them off."""
    if facts.closing_in is None or not facts.open_pages or facts.batches:
        return
    when = f"in {duration(facts.closing_in)}" if facts.closing_in > 0 else NEXT_RUN
    one = facts.open_pages == 1
    left = "is 1 page whose server" if one else f"are {counted(facts.open_pages, 'page')} whose servers"
    close = f"it closes {when} with its" if one else f"they close {when} with their"
    yield f"The rest {left} asked to wait (Retry-After): {close} last response, unless the wait ends before."


def _in_hand(facts: Facts) -> Iterator[str]:
    """The batches that are handed out."""
    if (fetching := facts.batches_in(Hold.FETCHING)) and facts.held_up:
        yield wait_text(facts.held_up[0])
        yield f"{_are(fetching)} held by a worker that waits for this page."
    elif fetching:
        yield f"{_are(fetching)} being fetched right now."
    if silent := facts.batches_in(Hold.SILENT):
        yield _died(facts, silent)
    if facts.reports:
        yield _reports(facts)
    if beginning := facts.batches_in(Hold.BEGINNING):
        yield f"{_are(beginning)} just being started by a worker."
    if queued := facts.batches_in(Hold.QUEUED):
        yield f"{_batches(queued)} {'waits' if len(queued) == 1 else 'wait'} for a free worker{_workers(facts)}."
    if lost := facts.batches_in(Hold.LOST):
        yield f"The queue has lost {_batches(lost)}, as happens when a worker is killed; {_back(facts, lost)}."


def _died(facts: Facts, silent: Sequence[HandedOut]) -> str:
    who = "A worker seems" if len(silent) == 1 else f"{count(len(silent))} workers seem"
    if not _pages(silent):
        return f"{who} to have died with no open page in hand."
    return f"{who} to have died with {counted(_pages(silent), 'page')} in hand; {_back(facts, silent)}."


def _back(facts: Facts, batches: Sequence[HandedOut]) -> str:
    """When the pages of these batches return to the frontier."""
    they = "it goes" if _pages(batches) == 1 else "they go"
    if not (facts.has_workers or facts.stirred):
        return f"{they} to another one as soon as it runs"
    seconds = max(batch.back_in for batch in batches)
    return f"{they} back to the others {f'in {duration(seconds)}' if seconds > 0 else NEXT_RUN}"


def _reports(facts: Facts) -> str:
    what = f"{counted(facts.reports, 'report')} of fetched pages {'waits' if facts.reports == 1 else 'wait'}"
    if facts.is_locked_out:
        return f"{what} to be processed then."
    match facts.manager:
        case Manager.WORKING:
            return f"{what} to be processed by the manager, which is running now."
        case Manager.SILENT:
            return f"{what} to be processed; {_took_over(facts)}."
        case Manager.COMING:
            return f"{what} to be processed by the manager, which waits for a free worker."
        case Manager.RESTING:
            return f"{what} to be processed {NEXT_RUN}."
    assert_never(facts.manager)


def _waiting(facts: Facts) -> Iterator[str]:
    """The pages that are not handed out."""
    if not facts.hosts:
        return
    first = facts.hosts[0]
    if first.reason is not WaitReason.NOTHING:
        yield wait_text(first)
    else:
        ready = [host for host in facts.hosts if host.reason is WaitReason.NOTHING]
        hosts = first.host if len(ready) == 1 else f"{first.host} and {counted(len(ready) - 1, 'other host')}"
        yield f"{hosts} may be requested now: pages are handed out {NEXT_RUN}."
    if facts.hosts_waiting > 1:
        yield f"In total, pages of {counted(facts.hosts_waiting, 'host')} are waiting."


def _last_resort(facts: Facts) -> str:
    """Nothing is handed out and no host waits."""
    if facts.begun_for < JUST_STARTED_S and not facts.has_begun:
        return f"It has just been started: the first pages are handed out {NEXT_RUN}."
    began = 0.0 if facts.has_begun else facts.begun_for  # it has run; Redis may have lost when
    since = began if facts.ran_ago is None else facts.ran_ago
    if since >= JUST_STARTED_S and facts.manager in (Manager.COMING, Manager.RESTING):
        return _no_run(facts, since)
    pages = f"open {'page' if facts.open_pages == 1 else 'pages'}"
    if not facts.is_lined_up:
        return f"Redis does not know the {pages}: the manager queues them again from the table."
    return f"The {pages} in the table must be queued: this happens {NEXT_RUN}."


def _no_run(facts: Facts, since: float) -> str:
    what = f"No manager run for {duration(since)}"
    if facts.manager is Manager.RESTING:
        return f"{what}, and none is queued: queue one with python manage.py reconcile."
    if facts.crawl_workers == 1:
        return f"{what}: its job is queued, but the listed worker has not taken it. See its log, or {START_ONE}."
    listed = f"none of the {count(facts.crawl_workers)} listed workers has taken it"
    return f"{what}: its job is queued, but {listed}. See their logs, or {START_ONE}."


def _open(facts: Facts) -> Iterator[str]:
    """How many pages are open, and where they are."""
    if not facts.open_pages:
        return
    returning = facts.pages_in(Hold.SILENT, Hold.LOST)
    out = [
        (facts.pages_in(Hold.FETCHING), "being fetched"),
        (facts.pages_in(Hold.REPORTED), "fetched and not processed yet"),
        (facts.pages_in(Hold.QUEUED, Hold.BEGINNING), "handed out and not started"),
        (returning, "returning"),
    ]
    rest = facts.open_pages - sum(pages for pages, _ in out)
    parts = [f"{count(pages)} {where}" for pages, where in [*out, (rest, "waiting")] if pages > 0]
    where = f": {', '.join(parts)}" if facts.redis_answers and len(parts) > 1 else ""
    yield f"{_are_open(facts)}{where}."


def _are_open(facts: Facts) -> str:
    return f"{counted(facts.open_pages, 'page')} {'is' if facts.open_pages == 1 else 'are'} open"


def _manager(facts: Facts) -> Iterator[str]:
    if facts.reports or facts.is_locked_out or facts.state is State.PAUSED:
        return  # in those sentences, or not relevant
    match facts.manager:
        case Manager.WORKING:
            yield "The manager is running now."
        case Manager.SILENT:
            yield f"T{_took_over(facts)[1:]}."
        case Manager.COMING:
            yield f"The manager was queued {duration(facts.sent_ago)} ago and waits for a free worker."


def _took_over(facts: Facts) -> str:
    return f"the manager seems to have died, and another may take over in {duration(facts.lock_left)}"


def _unlisted(facts: Facts) -> Iterator[str]:
    """RQ does not know the running workers, for example after Redis was emptied."""
    if facts.stirred and not (facts.crawl_workers or facts.fetch_workers):
        yield "No worker is listed, but one was running a moment ago."


def _ends(facts: Facts) -> Iterator[str]:
    if facts.ends_in is not None and facts.ends_in > 0:
        yield f"Its deadline is in {duration(facts.ends_in)}: pages that are open then close as expired."
    elif facts.ends_in is not None:
        yield f"Its deadline has passed: pages that are open close as expired {NEXT_RUN}."
    elif facts.expires_in is not None:
        yield f"The next open page expires in {duration(max(0.0, facts.expires_in))}."


def _given_up(facts: Facts) -> Iterator[str]:
    if facts.given_up:
        yield f"{counted(facts.given_up, 'page')} {'was' if facts.given_up == 1 else 'were'} given up in the last hour."


def _disagreed(facts: Facts) -> Iterator[str]:
    if facts.disagreements:
        times = "once" if facts.disagreements == 1 else f"{count(facts.disagreements)} times"
        yield f"The checks that decide whether it is finished have disagreed {times}; the table took precedence."


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


def _are(batches: Sequence[HandedOut]) -> str:
    """ "3 batches with 124 pages are"."""
    return f"{_batches(batches)} {'is' if len(batches) == 1 else 'are'}"
