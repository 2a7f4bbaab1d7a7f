"""How each moment of the fault table is reached: which processes do what over which site, and where they are struck."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.site import Answer, Reply, page

Step = Sequence[Any]
"""Name of a verb of `actor.Actor`, and its arguments."""

Strike = tuple[str, int, str]
"""A moment, its how-manieth time, and what then happens to the process: verbs of `actor.Actor`."""

SMALL: Mapping[str, Answer] = {
    "/": page("/a", "/b", "/c"),
    "/a": page("/d"),
    "/b": page(),
    "/c": page(),
    "/d": page("/"),
}
BUSY: Mapping[str, Answer] = {
    "/": lambda before: Reply(page("/a")) if before else Reply(status=500, headers={"Retry-After": "8"}),
    "/a": page(),
}
MALFORMED = Reply("not compressed at all", headers={"Content-Encoding": "gzip"})
BROKEN: Mapping[str, Answer] = {
    "/": page("/broken"),
    "/broken": lambda before: Reply(page("/late")) if before else MALFORMED,
    "/late": page(),
}
LATER = Reply(status=500, headers={"Retry-After": "12"})  # within what a crawl waits for at its end
SLOW: Mapping[str, Answer] = {
    "/": page("/broken", "/slow"),
    "/broken": lambda before: [MALFORMED, LATER, Reply(page("/late"))][min(before, 2)],
    "/slow": lambda before: Reply(page()) if before else LATER,
    "/late": page(),
}
"""Asked for anew at once, /broken has its answer when /slow has; asked for only then, it has it twice as late."""

MUCH_LATER: Mapping[str, Answer] = {
    "/": page("/a", "/busy"),
    "/a": page(),
    "/busy": Reply(status=503, headers={"Retry-After": "3600"}),
}
"""The crawl waits for a while, then closes what was put off with the response it had."""

LONELY: Mapping[str, Answer] = {"/": page("/a"), "/a": page(), "/late": page()}
"""No page links to the last one: a user adds it."""

ALONE: Mapping[str, Answer] = {"/": page("/a"), "/a": page()}

ROUND = "/" + "round/" * 25  # deeper than a path may be
CIRCLES: Mapping[str, Answer] = {"/": page("/a", ROUND), "/a": page(), ROUND: page("/late"), "/late": page()}
"""One page looks like one of an endless series, and is quarantined."""

RENDERED: Mapping[str, Answer] = {"/": '<title>Shop</title><script src="/shop.js"></script><div id="root"></div>'}
SHOWN = {"/": page("/a")}
"""The start page is a shell, which leads to another page in a browser."""

LOGIN: Mapping[str, Answer] = {
    **SMALL,
    "/login": '<form method="post" action="/in"><input name="user"></form>',
    "/in": page(),
}
"""The page with the form, and the one it is sent to, are no pages of the crawl."""

HOOK = "/hook"
"""Of every site: where notices are sent."""

HELD_UP = 11.0  # seconds: more than a lease lasts, less than a lock does

WORK: Step = ["work", "project"]
START: Step = ["start"]
SCHEDULED_START: Step = ["scheduled_start"]


@dataclass(frozen=True)
class Deed:
    """What one process does. Without steps it is the one that was stopped, which goes on."""

    steps: Sequence[Step] = ()
    strikes: Sequence[Strike] = ()


AFTER_START: Strike = ("tick: lock given back", 1, "save_database")
RESTORE = Deed([["restore_database"]])


@dataclass(frozen=True)
class Scene:
    """What happens up to the moment, the process it is about being the last; and how the crawl must end even so."""

    deeds: Sequence[Deed]
    pages: Mapping[str, Answer] = field(default_factory=lambda: SMALL)
    shown: Mapping[str, str] = field(default_factory=dict)  # pages as a browser shows them; then its workers render
    options: Mapping[str, object] = field(default_factory=dict)
    extracted: bool = False  # fields are extracted again, of each of its pages
    hooked: str = ""  # the class of `hooked` that its settings name
    two_collectors: bool = False  # and the batches are all the second's
    harm: str = ""  # what then happens to Redis while nobody lives: "empty" or "restore"
    ends: str = "finished"  # "" = it is deleted
    outcomes: Mapping[str, str] = field(default_factory=dict)  # of pages that do not close as 2xx
    found: Sequence[str] = ()  # the pages it finds, unless all of them
    asked: Mapping[str, int] = field(default_factory=dict)  # pages that are asked for more than once even so
    deaths: Mapping[str, int] = field(default_factory=dict)  # pages that workers died over; of no other is any counted
    waits: float = 0.0  # seconds it waits for the site even so, from the moment on
    rounds: int = 1
    told: int = 0  # how often a notice arrives


def dies(moment: str, time: int = 1, **more: object) -> Scene:
    """A worker, the only one, is killed at this moment of a crawl it works on."""
    return Scene([Deed([START, WORK], [(moment, time, "kill")])], **more)  # type: ignore[arg-type]


def of_two(moment: str, time: int = 1) -> Scene:
    """The same, and it is the second of two collectors that stores all results."""
    return dies(moment, time, two_collectors=True)


def lives(moment: str, time: int, harm: str) -> Scene:
    """At this moment Redis is harmed, while the only worker goes on."""
    return Scene([Deed([START, WORK], [(moment, time, f"{harm}, stop")])])


def renders(moment: str, time: int, then: str = "kill") -> Scene:
    """This befalls a worker, the only one, of a crawl whose start page needs a browser."""
    return Scene(
        [Deed([START, WORK], [(moment, time, then)])],
        pages={**RENDERED, "/a": page()},
        shown=SHOWN,
        options={"render": "auto"},
        asked={"/": 2},
    )


def logs_in(moment: str, time: int, then: str = "kill") -> Scene:
    """This befalls a worker, the only one, of a crawl that logs in."""
    return Scene(
        [Deed([START, WORK], [(moment, time, then)])],
        pages=LOGIN,
        options={"login_url": "/login"},
        found=list(SMALL),
    )


def finished_by(worker: str = "project") -> Deed:
    return Deed([START, ["work", worker]])


KEPT: Mapping[str, object] = {"keep": ("html",)}


def extracts(moment: str) -> Scene:
    """A worker dies at this moment, while it extracts fields again from kept HTML."""
    return Scene([finished_by(), Deed([["extract"], WORK], [(moment, 1, "kill")])], options=KEPT, extracted=True)


SCRAPY: Mapping[str, Any] = {"pages": ALONE, "options": {"engine": "scrapy"}}
NOTIFIED: Mapping[str, object] = {"notify_webhooks": (HOOK,)}

SCENES: Mapping[str, Scene] = {
    # A crawl is started
    "start: rows inserted": Scene([Deed([START], [("start: rows inserted", 1, "kill")])], ends=""),
    "start: committed": Scene([Deed([START], [("start: committed", 1, "kill")])]),
    "schedule: committed": Scene([Deed([SCHEDULED_START], [("schedule: committed", 1, "kill")])]),
    # A tick
    "tick: lock taken": dies("tick: lock taken", 2),
    "tick: mark cleared": dies("tick: mark cleared", 2),
    "tick: reports taken in": dies("tick: reports taken in", 2),
    "tick: lock taken, held up": Scene(
        [Deed([START, WORK], [("tick: lock taken", 2, "stop")]), Deed([["wait", HELD_UP]])],
    ),
    "tick: reports taken in, held up": Scene(
        [
            Deed([START, ["work", "at hand", 3]]),
            Deed([["tick"], WORK], [("tick: reports taken in", 1, "stop")]),
            Deed([["work", "at hand", 1], ["wait", HELD_UP]]),
        ],
    ),
    "collect: rows changed": dies("collect: rows changed"),
    "collect: committed": dies("collect: committed"),
    "collect: links remembered": dies("collect: links remembered"),
    "collect: slices settled": dies("collect: slices settled"),
    "repair: deaths counted": Scene(
        [
            Deed([START, WORK], [("fetch: pages asked", 2, "kill")]),
            Deed([WORK], [("repair: deaths counted", 1, "kill")]),
        ]
    ),
    "repair: pages lost": Scene(
        [
            Deed([START, WORK], [("fetch: pages asked", 2, "kill")]),
            Deed([WORK], [("repair: pages lost", 1, "kill")]),
        ],
        options={"ack": "early"},
        outcomes=dict.fromkeys(["/a", "/b", "/c"], "lost"),
        found=["/", "/a", "/b", "/c"],
    ),
    "expire: committed": Scene(
        [
            Deed([START, ["work", "at hand", 3], ["wait", 4.0]]),
            Deed([WORK], [("expire: committed", 1, "kill")]),
        ],
        options={"deadline": 3.0},
        outcomes=dict.fromkeys(["/a", "/b", "/c"], "expired"),
        found=["/", "/a", "/b", "/c"],
    ),
    "refill: pages let in": dies("refill: pages let in", 2),
    "dispatch: places taken": renders("dispatch: places taken", 1),
    "dispatch: slices taken": dies("dispatch: slices taken", 2),
    "dispatch: batches sent": dies("dispatch: batches sent", 2),
    "conclude: disagreement noted": Scene(
        [
            Deed(
                [START, WORK],
                [("refill: pages let in", 2, "evict *:hosts"), ("conclude: disagreement noted", 1, "kill")],
            )
        ]
    ),
    "conclude: put off pages closed": dies(
        "conclude: put off pages closed", pages=MUCH_LATER, outcomes={"/busy": "5xx"}
    ),
    "conclude: finished": dies("conclude: finished"),
    "tick: lock given back": dies("tick: lock given back", 2),
    "end: keys deleted": dies("end: keys deleted", options=NOTIFIED, told=1),
    # The second of two collectors
    "collectors: rows changed": of_two("collect: rows changed"),
    "collectors: committed": of_two("collect: committed"),
    "collectors: links remembered": of_two("collect: links remembered"),
    "collectors: slices settled": of_two("collect: slices settled"),
    "collectors: committed, the first has handed out": Scene(
        [
            Deed([START, WORK], [("collect: committed", 1, "stop"), ("collect: links remembered", 1, "kill")]),
            Deed([["tick"]]),
            Deed(),
        ],
        two_collectors=True,
    ),
    "collectors: tick woken": of_two("tick: lock to be given back", 2),
    "collectors: lock given back": Scene(
        [
            Deed([START, WORK], [("tick: lock to be given back", 6, "stop"), ("tick: lock given back", 6, "kill")]),
            Deed([["work", "at hand", 1]]),
            Deed(),
        ],
        two_collectors=True,
    ),
    "collectors: the first dies": Scene([Deed([START, WORK], [("tick: lock taken", 3, "kill")])], two_collectors=True),
    # A fetch job
    "fetch: begun": dies("fetch: begun", 2),
    "fetch: batch claimed": dies("fetch: batch claimed", 2),
    "fetch: suspect in hand": Scene(
        [
            Deed([START, WORK], [("fetch: batch claimed", 2, "kill")]),
            Deed([WORK], [("fetch: suspect in hand", 2, "kill")]),
        ],
        deaths={"/b": 1},
    ),
    "fetch: robots.txt to be asked for": dies("fetch: robots.txt to be asked for", options={"obey_robots": True}),
    "fetch: page to be asked for": Scene(
        [Deed([["report_often"], START, WORK], [("fetch: page to be asked for", 4, "kill")])]
    ),
    "fetch: pages asked": dies("fetch: pages asked", 2),
    "fetch: content kept": dies("fetch: content kept", 2, options={"keep": ("html", "warc")}),
    "fetch: reports left": dies("fetch: reports left", 2),
    "horse: pages asked": Scene([Deed([START, ["work", "forking"]], [("fetch: pages asked", 2, "stop_worker, kill")])]),
    # Pages that a browser renders
    "render: shell committed": renders("collect: committed", 1),
    "render: shell settled": renders("collect: slices settled", 1),
    "render: slice taken": renders("dispatch: slices taken", 2),
    "render: batch sent": renders("dispatch: batches sent", 2),
    "render: page in the browser": renders("fetch: page to be rendered", 1),
    "render: pages rendered": renders("fetch: pages asked", 2),
    "render: the browser crashes": renders("fetch: page to be rendered", 1, "crash, stop"),
    "redis: browser-places evicted": renders("dispatch: batches sent", 2, "evict crawler:browser-places, stop"),
    "redis: emptied under a browser": renders("fetch: page to be rendered", 1, "flush, stop"),
    # Pages that run through Scrapy
    "scrapy: batch sent": dies("dispatch: batches sent", 1, **SCRAPY),
    "scrapy: page in Scrapy": dies("fetch: page in Scrapy", 1, **SCRAPY),
    "scrapy: pages asked": dies("fetch: pages asked", 1, **SCRAPY),
    "scrapy: its process dies": Scene([Deed([START, WORK], [("fetch: page in Scrapy", 1, "crash, stop")])], **SCRAPY),
    # A log-in
    "login: begun": logs_in("login: begun", 1),
    "login: form accepted": logs_in("login: form accepted", 1),
    "redis: login evicted": logs_in("fetch: pages asked", 1, "evict *:login, stop"),
    # A watch, a notify job
    "watch: begun": dies("watch: begun", 2, pages=BUSY, asked={"/": 2}, waits=8),
    "notify: claimed": dies("notify: claimed", options=NOTIFIED, told=1),
    "notify: sent": dies("notify: sent", options=NOTIFIED, told=2),
    "hook: on_page called": dies("hook: on_page called", 2, hooked="Reading"),
    "hook: on_closed called": dies("hook: on_closed called", 2, hooked="Noting", told=len(SMALL)),
    "hook: call noted": dies("hook: call noted", hooked="Telling", told=1),
    "hook: called": dies("hook: called", hooked="Telling", told=2),
    # A person's command
    "resume: committed": Scene(
        [
            Deed([START, ["work", "at hand", 3], ["pause"], ["work", "at hand"]]),
            Deed([["resume"]], [("resume: committed", 1, "kill")]),
        ]
    ),
    "finish: committed": Scene(
        [
            Deed([START, ["work", "at hand", 5]]),
            Deed([["finish"]], [("finish: committed", 1, "kill")]),
        ],
        pages=ALONE,
        options={"stay_open": True},
    ),
    "change: committed": Scene(
        [
            Deed([START], [("start: committed", 1, "kill")]),
            Deed([["change", {"concurrency": 2}]], [("change: committed", 1, "kill")]),
        ],
    ),
    "cancel: committed": Scene(
        [
            Deed([START, ["work", "at hand", 1]]),
            Deed([["cancel"]], [("cancel: committed", 1, "kill")]),
        ],
        ends="cancelled",
        outcomes={"/": "cancelled"},
        found=["/"],
    ),
    "delete: cancelled": Scene(
        [
            Deed([START, ["work", "at hand", 1]]),
            Deed([["delete"]], [("delete: cancelled", 1, "kill")]),
        ],
        ends="",
    ),
    "delete: some rows deleted": Scene(
        [
            Deed([START, ["work", "at hand", 3]]),
            Deed([["delete"]], [("delete: some rows deleted", 1, "kill")]),
        ],
        ends="",
    ),
    "retry: committed": Scene(
        [finished_by(), Deed([["retry_failed"]], [("retry: committed", 1, "kill")])],
        pages=BROKEN,
        asked={"/broken": 2},
        rounds=2,
    ),
    "retry: committed, the crawl runs": Scene(
        [
            Deed([START, ["work", "at hand", 5]]),
            Deed([["retry_failed"]], [("retry: committed", 1, "kill")]),
        ],
        pages=SLOW,
        asked={"/broken": 3, "/slow": 2},
        waits=12,
    ),
    "add: committed": Scene(
        [finished_by(), Deed([["add", "/late"]], [("add: committed", 1, "kill")])],
        pages=LONELY,
        rounds=2,
    ),
    "add: committed, an open page moved": Scene(
        [
            Deed([START, ["add", "/late", 3600.0], ["work", "at hand", 5]]),
            Deed([["add", "/late", 0.0]], [("add: committed", 1, "kill")]),
        ],
        pages=LONELY,
    ),
    "again: committed": Scene(
        [finished_by(), Deed([["again", "/a"]], [("again: committed", 1, "kill")])],
        pages={"/": page("/a"), "/a": page()},
        asked={"/a": 2},
        rounds=2,
    ),
    "release: committed": Scene(
        [finished_by(), Deed([["release"]], [("release: committed", 1, "kill")])],
        pages=CIRCLES,
        rounds=2,
    ),
    # Fields are extracted again
    "extract: committed": Scene(
        [finished_by(), Deed([["extract"]], [("extract: committed", 1, "kill")])], options=KEPT, extracted=True
    ),
    "extract: step begun": extracts("extract: step begun"),
    "extract: fields replaced": extracts("extract: fields replaced"),
    "extract: step committed": extracts("extract: step committed"),
    # RQ
    "rq: tick popped": dies("popped: manage", 2),
    "rq: fetch job popped": dies("popped: fetch", 2),
    "rq: watch popped": dies("popped: watch", 2, pages=BUSY, asked={"/": 2}, waits=8),
    "rq: watch popped, another at work": Scene(
        [
            Deed([START, WORK], [("watch: crawls to be looked at", 1, "stop")]),
            Deed([["work", "at hand"]], [("popped: watch", 1, "kill")]),
        ],
        pages=BUSY,
        asked={"/": 2},
        waits=8,
    ),
    "rq: notify job popped": dies("popped: notify", options=NOTIFIED, told=1),
    # Redis
    "redis: emptied under a fetch job": lives("fetch: pages asked", 2, "flush"),
    "redis: emptied under a tick": lives("dispatch: slices taken", 2, "flush"),
    "redis: emptied, no worker alive": Scene([Deed([START, WORK], [("fetch: pages asked", 2, "kill")])], harm="empty"),
    "redis: emptied, a notice pending": Scene(
        [Deed([START, WORK], [("notify: claimed", 1, "kill")])], harm="empty", options=NOTIFIED, told=1
    ),
    "redis: as it was before": Scene(
        [Deed([START, WORK], [("fetch: batch claimed", 2, "save"), ("tick: lock given back", 3, "kill")])],
        harm="restore",
    ),
    "redis: as it was before the end": Scene(
        [Deed([START, WORK], [("tick: lock given back", 2, "save")])], harm="restore"
    ),
    "redis: leases evicted": lives("fetch: batch claimed", 2, "evict *:leases"),
    "redis: lease:* evicted": lives("fetch: batch claimed", 2, "evict *:lease:*"),
    "redis: results evicted": lives("fetch: reports left", 2, "evict *:results"),
    "redis: mark evicted": lives("fetch: reports left", 2, "evict *:mark"),
    "redis: lock evicted": lives("tick: mark cleared", 2, "evict *:lock"),
    "redis: seen evicted": lives("collect: links remembered", 1, "evict *:seen:*"),
    "redis: hosts evicted": lives("refill: pages let in", 2, "evict *:hosts"),
    "redis: queue:* evicted": lives("refill: pages let in", 2, "evict crawler:*:queue:*"),
    "redis: cursor evicted": lives("dispatch: batches sent", 2, "evict *:cursor"),
    "redis: taken evicted": lives("dispatch: batches sent", 2, "evict *:taken"),
    "redis: active evicted": lives("dispatch: batches sent", 2, "evict *:active"),
    "redis: known_hosts evicted": lives("refill: pages let in", 2, "evict *:known_hosts"),
    "redis: a job evicted": lives("dispatch: batches sent", 2, "evict rq:job:fetch-*"),
    "redis: a late report": Scene(
        [
            Deed([START, WORK], [("fetch: pages asked", 2, "stop"), ("fetch: reports left", 2, "kill")]),
            Deed([["work", "at hand"]]),
            Deed(),
        ]
    ),
    # The database
    "database: as it was before": Scene(
        [Deed([START, WORK], [AFTER_START, ("tick: lock given back", 3, "kill")]), RESTORE]
    ),
    "database: as it was before, under a fetch job": Scene(
        [Deed([START, WORK], [AFTER_START, ("fetch: pages asked", 3, "stop")]), RESTORE]
    ),
    "database: as it was before the end": Scene([Deed([START, WORK], [AFTER_START]), RESTORE]),
    "restored: ids skipped": Scene(
        [
            Deed([START, WORK], [AFTER_START, ("tick: lock given back", 3, "kill")]),
            RESTORE,
            Deed([WORK], [("restored: ids skipped", 1, "kill")]),
        ]
    ),
}
