"""What happens in a story, and how often: a few mixtures, each of which looks closely at one side of the protocol."""

from tests.manager.machine.door import MEMBERS, PASSWORD, WRONG
from tests.manager.machine.happenings import Variety
from tests.manager.machine.hooked import NOTING
from tests.manager.machine.people import PASSWORD_TYPED
from tests.manager.machine.world import SHELLS

AT_WORK = (
    "a tick",
    "a tick past the lock",
    "a job",
    "a batch",
    "a worker dies",
    "a late report arrives",
    "time passes",
    "somebody looks",
    "a worker starts",
)
FORGETTING = ("redis forgets everything", "redis comes back as it was", "redis evicts some keys")
GOVERNING = (
    "pause",
    "resume",
    "resume",
    "cancel",
    "cancel",
    "send again",
    "send again",
    "send again",
    "release traps",
    "add pages",
    "add pages",
    "ask again",
    "change options",
    "change options",
    "finish",
    "delete",
)
AMONG_PEOPLE = (*GOVERNING, "a tick past the lock", "a job", "a late report arrives")

DISTURBED = {
    "a worker dies": 8,
    "a worker dies before it asks": 2,
    "a manager is held up": 2,
    "something happens meanwhile": 8,
    "rq loses a job": 2,
    "a batch is delivered twice": 1,
    "a batch is slow to report": 2,
    "a late report arrives": 2,
    "time passes": 2,
    "somebody looks": 1,
    "a worker starts": 2,
}
FORGETFUL = {
    **DISTURBED,
    "redis forgets everything": 1,
    "redis evicts some keys": 3,
    "redis writes what it knows": 2,
    "redis comes back as it was": 2,
}
GOVERNED = {
    "something happens meanwhile": 14,
    "a worker dies": 3,
    "rq loses a job": 1,
    "a batch is slow to report": 2,
    "a late report arrives": 2,
    "time passes": 1,
    "a worker starts": 1,
    "another crawl begins": 4,
    "somebody pauses": 1,
    "somebody resumes": 4,
    "somebody cancels": 1,
    "somebody sends again": 3,
    "somebody releases traps": 3,
    "somebody adds": 4,
    "somebody asks again": 2,
    "somebody changes options": 4,
    "somebody finishes": 1,
    "somebody deletes": 1,
}
LIMITED = {
    **DISTURBED,
    "another crawl begins": 3,
    "somebody pauses": 1,
    "somebody resumes": 3,
    "somebody sends again": 3,
    "somebody releases traps": 2,
    "somebody adds": 2,
    "somebody asks again": 2,
    "somebody changes options": 4,
}
EARLY = {"ack": "early"}
LIMITS = ({"max_pages": 14}, {"max_depth": 2}, {"deadline": 60.0}, {"page_ttl": 30.0, "delay": 1.0})

CRASHING = {"a browser crashes": 5, "a page crashes browsers": 2}
WITH_BROWSERS = {**FORGETFUL, **CRASHING, "somebody sends again": 2}
RIGHT, MISTYPED = {PASSWORD_TYPED: PASSWORD}, {PASSWORD_TYPED: WRONG}

AMONG_COLLECTORS = {**DISTURBED, "something happens meanwhile": 16}

VARIETIES = {
    "disturbed": Variety(DISTURBED, AT_WORK),
    "forgetful": Variety(FORGETFUL, (*AT_WORK, *FORGETTING)),
    "governed": Variety(GOVERNED, AMONG_PEOPLE, ({}, {"stay_open": True})),
    "limited": Variety(LIMITED, (*AT_WORK, "change options"), LIMITS),
    "rendered": Variety(WITH_BROWSERS, (*AT_WORK, *FORGETTING, "a browser crashes"), ({"render": "always"},)),
    "scrapy": Variety(
        {**FORGETFUL, "scrapy dies": 6, "somebody sends again": 2}, (*AT_WORK, *FORGETTING), ({"engine": "scrapy"},)
    ),
    "shells": Variety(
        {**WITH_BROWSERS, "another crawl begins": 2},
        (*AT_WORK, *FORGETTING, "a browser crashes"),
        ({"render": "auto"},),
        shells=SHELLS,
    ),
    "acknowledged early": Variety(
        {**FORGETFUL, "another crawl begins": 2, "somebody sends again": 3},
        (*AT_WORK, *FORGETTING, "send again"),
        (EARLY, EARLY, {}),
    ),
    "hooked": Variety(
        {
            **DISTURBED,
            "a hook kills its worker": 5,
            "another crawl begins": 2,
            "somebody sends again": 2,
            "somebody asks again": 2,
        },
        (*AT_WORK, "a hook kills its worker"),
        hooks=(NOTING,),
    ),
    "logged in": Variety(
        {
            **FORGETFUL,
            "the site ends its sessions": 8,
            "redis evicts the session": 2,
            "another crawl begins": 2,
            "somebody sends again": 1,
            "somebody pauses": 1,
            "somebody resumes": 6,
            "somebody gives the password": 5,
        },
        (*AT_WORK, *FORGETTING, "the site ends its sessions", "give the password", "resume"),
        (RIGHT, RIGHT, MISTYPED),
        members=MEMBERS,
    ),
    "everything": Variety(
        {**FORGETFUL, **GOVERNED}, (*AT_WORK, *FORGETTING, *GOVERNING), ({}, {"stay_open": True}, *LIMITS)
    ),
    "collectors": Variety(AMONG_COLLECTORS, AT_WORK, ({}, *LIMITS), collectors=3),
    "all and collectors": Variety(
        {**FORGETFUL, **GOVERNED}, (*AT_WORK, *FORGETTING, *GOVERNING), ({}, *LIMITS), collectors=2
    ),
}

HURRIED = Variety(DISTURBED, AT_WORK, ({"deadline": 60.0},))
LOSING = Variety({**DISTURBED, "somebody sends again": 3}, AT_WORK, (EARLY,))
KEEPING = Variety(DISTURBED, AT_WORK, ({"keep": ("text",)},))

RENDERING = Variety({**DISTURBED, **CRASHING}, AT_WORK, ({"render": "auto"},), shells=SHELLS)

COLLECTING = Variety(AMONG_COLLECTORS, AT_WORK, collectors=3)

KEPT_OPEN = Variety(DISTURBED, AT_WORK, ({"stay_open": True},))

LOGGING_IN = Variety(DISTURBED, AT_WORK, (RIGHT,), members=MEMBERS)

HOOKED = Variety(DISTURBED, AT_WORK, hooks=(NOTING,))

MADE_FOR = {
    "hook:": HOOKED,
    "on_page:": HOOKED,
    "login:": LOGGING_IN,
    "finish:": KEPT_OPEN,
    "expire:": HURRIED,
    "fetch: content kept": KEEPING,
    "dispatch: places taken": RENDERING,
    "repair: pages lost": LOSING,
}
"""Crash point, or the beginning of several -> the crawls that come there."""
