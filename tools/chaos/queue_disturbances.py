"""What users do to a crawl that they use as a queue, while everything else happens to it, too."""

from __future__ import annotations

from functools import partial
from random import Random
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # the table of disturbances names these functions
    from tools.chaos.scene import Scene
    from tools.chaos.user import User

EXTRA = "/extra/{}"  # pages that nothing links to
ARCHIVE = "/archive/"  # leaves that a pattern leaves out at times
CHANGES: tuple[dict[str, Any], ...] = (
    {"delay": 0.05},
    {"concurrency": 2},
    {"max_pages": 100_000},
    {"max_pages": None},
    {"deadline": 3600.0},
    {"deadline": None},
    {"exclude": ["/like-nothing/"]},
    *[{"exclude": [ARCHIVE]}] * 3,
    {"exclude": []},
)
SLOW_SECONDS = 4.0  # for which a crawl has a delay


def add_pages(scene: Scene, dice: Random) -> str | None:
    """New ones, open ones and closed ones; for now or later, first or last, some of them again. Or leaves of the
    archive that wait, and that a pattern may leave out by then."""
    user, new = _user(scene), [EXTRA.format(f"{len(_user(scene).calls)}-{number}") for number in range(3)]
    if dice.random() < 0.4:
        leaves = [f"{ARCHIVE}{len(user.calls)}-{number}" for number in range(3)]
        user.add(scene.crawl, leaves, again=False, delay=6.0)
        return f"add {leaves} for later"
    paths = [*new[: dice.randint(1, 3)], *_some_known(scene, dice, 2)]
    place = {"delay": dice.choice((None, 0.0, 2.0, 5.0)), "priority": dice.choice((None, 0, 9))}
    again = dice.random() < 0.5
    dies = _may_die(user, dice)
    user.add(scene.crawl, paths, again, **place)
    return f"add {paths} {place} again={again}{dies}"


def request_again(scene: Scene, dice: Random) -> str | None:
    """Some pages by their URLs, or those that pass a filter."""
    user, crawl = _user(scene), scene.crawl
    dies = _may_die(user, dice)
    if dice.random() < 0.5:
        paths = _some_known(scene, dice, 4)
        user.again(crawl, paths)
        return f"request again {paths}{dies}"
    which = dice.choice(({"outcome": "4xx"}, {"outcome": "3xx"}, {"outcome": "excluded"}, {"http_status": 404}))
    user.again_by(crawl, **which)
    return f"request again {which}{dies}"


def change_options(scene: Scene, dice: Random) -> str | None:
    user, options = _user(scene), dice.choice(CHANGES)
    if "delay" in options:
        scene.later(SLOW_SECONDS, partial(_not_slow, user, scene))
    dies = _may_die(user, dice)
    user.change(scene.crawl, **options)
    return f"change {options}{dies}"


def _not_slow(user: User, scene: Scene) -> None:
    user.change(scene.crawl, delay=0.0)


def _some_known(scene: Scene, dice: Random, number: int) -> list[str]:
    """Paths that were answered; most of these pages are closed."""
    known = sorted(path for path in scene.site.done if path.startswith("/page/"))
    return dice.sample(known, min(number, len(known)))


def _user(scene: Scene) -> User:
    assert scene.user is not None
    return scene.user


def _may_die(user: User, dice: Random) -> str:
    """Some users die in the middle of their call."""
    if dice.random() >= 0.4:
        return ""
    user.dies_after = dice.uniform(0.001, 0.05)
    return f", dying after {user.dies_after * 1000:.0f} ms"
