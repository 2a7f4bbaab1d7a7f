"""Made-up sites: traps that never end, and honest sites that look like them."""

import random
from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple
from urllib.parse import parse_qsl, urlencode, urlsplit

HONEST_PAGES = 60  # of each site with a trap


class Shown(NamedTuple):
    """A page."""

    lines: Sequence[str]  # a text node each
    links: Sequence[str]
    objects: Sequence[str] = ()


Site = Callable[[str], Shown]


def dice(*of: object) -> random.Random:
    """The same numbers for the same page."""
    return random.Random(repr(of))


@cache
def words(number: int, seed: str = "words") -> list[str]:
    """A list of made-up words."""
    at_random, found = random.Random(seed), dict[str, None]()
    while len(found) < number:
        parts = at_random.choices(
            ("ba", "ke", "lo", "mir", "ta", "sen", "du", "fri", "po", "gal", "wer", "ni"), k=at_random.randint(2, 4)
        )
        found["".join(parts)] = None
    return list(found)


def sentence(at_random: random.Random, length: int = 10, vocabulary: int = 8000) -> str:
    """Of natural text, roughly: a few words are frequent, most are rare (Zipf)."""
    known = words(vocabulary)
    chosen = (known[min(vocabulary - 1, int(at_random.paretovariate(0.4)) - 1)] for _ in range(length))
    return " ".join(chosen).capitalize() + "."


@cache
def numbered(entries: int) -> dict[str, int]:
    return {name: number for number, name in enumerate(words(entries, "entries"))}


MENU = ["Home", "Our products and services", "Contact the team in our office", "Terms and conditions of this site"]


def honest(path: str) -> Shown:
    """Pages with text of their own; each links to five more."""
    number = int(path.rpartition("/")[2])
    at_random = dice("honest", path)
    more = [f"/about/{after}" for after in range(number * 5 + 1, number * 5 + 6) if after < HONEST_PAGES]
    return Shown([*MENU, *(sentence(at_random) for _ in range(5))], ["/", *more])


def with_honest_pages(entry: str, trap: Site) -> Site:
    def site(path: str) -> Shown:
        if path == "/":
            return Shown([*MENU, "Welcome to the front page of this site."], ["/about/0", entry])
        return honest(path) if path.startswith("/about/") else trap(path)

    return site


# Traps


def tree(path: str) -> Shown:
    """Folders in folders, all with the same text."""
    names = words(200, "names")
    return Shown(
        [*MENU, "This folder contains further folders.", *(found := dice(path).sample(names, 5))],
        [f"{path}{name}/" for name in found],
    )


def month(path: str) -> Shown:
    """A calendar with nothing in it: the next month, and the one before."""
    _, _, year, number = path.split("/")
    at = int(year) * 12 + int(number) - 1
    near = [f"/calendar/{place // 12}/{place % 12 + 1}" for place in (at - 1, at + 1)]
    return Shown([*MENU, f"Events in month {number} of {year}", "There are no events in this month."], ["/", *near])


def month_with_days(path: str) -> Shown:
    if path.startswith("/day/"):
        return Shown([*MENU, "There are no events on this day, sorry."], ["/"])
    shown = month(path)
    days = [f"/day/{path[10:].replace('/', '-')}-{day}" for day in range(1, 29)]
    return shown._replace(links=[*shown.links, *days])


def facets(path: str) -> Shown:
    """Eight filters of three values, a sort order and page numbers, over the same 60 goods."""
    chosen = dict(parse_qsl(urlsplit(path).query))
    changed = [{**chosen, f"f{name}": str(value)} for name in range(8) for value in range(3)]
    changed += [{**chosen, "sort": order} for order in ("price", "name")] + [
        {**chosen, "page": str(int(chosen.get("page", 1)) + 1)}
    ]
    goods = dice(path).sample(range(60), 10)
    return Shown(
        [*MENU, *(f"The well-known {words(60, 'goods')[number]} of our house" for number in goods)],
        [f"/shop?{urlencode(sorted(each.items()))}" for each in changed],
    )


def session(path: str) -> Shown:
    """Ten pages, with a new id in each link."""
    number = int(dict(parse_qsl(urlsplit(path).query)).get("page", 0))
    at_random = dice("session", path)
    links = [f"/list?page={(number + step) % 10}&zx={at_random.randbytes(6).hex()}" for step in (1, 3, 7)]
    return Shown([*MENU, f"The text of {words(10, 'texts')[number]} is here for you."], links)


def two_values(path: str) -> Shown:
    shown = session(path)
    return shown._replace(links=[f"{link}&q={dice(link).randbytes(4).hex()}" for link in shown.links])


def session_in_path(path: str) -> Shown:
    number = int(path.rpartition("/")[2] or 0)
    at_random = dice("path", path)
    links = [f"/s/{at_random.randbytes(6).hex()}/list/{(number + step) % 10}" for step in (1, 3, 7)]
    return Shown([*MENU, f"The text of {words(10, 'texts')[number]} is here for you."], links)


def mirror(path: str) -> Shown:
    """A manual whose relative links lead one folder deeper each time."""
    name = path.rpartition("/")[2] or "c0"
    number = int(name[1:])
    at_random = dice("manual", number)
    folder = path.rpartition("/")[0]
    links = [f"{folder}/manual/c{(number * 3 + step) % 40}" for step in range(3)]
    return Shown([*MENU, *(sentence(at_random) for _ in range(6))], links)


def soft_404(path: str) -> Shown:
    """A page that does not exist says so with 200, and has relative links in its menu."""
    links = [f"{path.rstrip('/')}/{name}" for name in ("help", "shop", "news")]
    return Shown([*MENU, f"Sorry, the page {path} was not found.", f"You asked for {path}"], links)


def clock(path: str) -> Shown:
    """Shows the time, a counter and its own URL."""
    at_random = dice(path)
    links = [f"/now/{at_random.randbytes(5).hex()}" for _ in range(3)]
    time = f"{at_random.randrange(24):02}:{at_random.randrange(60):02}"
    return Shown(
        [
            *MENU,
            f"It is {time} on this server, and you are visitor {at_random.randrange(10**6):,}.",
            f"https://example.com{path}",
        ],
        links,
    )


def soup(path: str) -> Shown:
    """Pages put together from one list of words."""
    at_random, known = dice(path), words(300, "soup")
    text = [" ".join(at_random.choices(known, k=12)).capitalize() + "." for _ in range(6)]
    return Shown([*MENU, *text], [f"/text/{'-'.join(at_random.choices(known, k=3))}" for _ in range(4)])


def week(path: str) -> Shown:
    number = int(path.partition("=")[2])
    return Shown([*MENU, f"Week {number}, with nothing to do"], [f"/week?nr={number + 1}"])


def nested_login(path: str) -> Shown:
    quoted = path.replace("%", "%25").replace("?", "%3F").replace("=", "%3D")
    return Shown([*MENU, "Please log in to see this page"], [f"/login?next={quoted}"])


TRAPS: dict[str, Site] = {
    "tree": with_honest_pages("/tree/", tree),
    "calendar": with_honest_pages("/calendar/2026/11", month),
    "calendar with days": with_honest_pages("/calendar/2026/11", month_with_days),
    "facets": with_honest_pages("/shop", facets),
    "session": with_honest_pages("/list?page=0&zx=start", session),
    "two values": with_honest_pages("/list?page=0&zx=start&q=start", two_values),
    "session in path": with_honest_pages("/s/start/list/0", session_in_path),
    "mirror": with_honest_pages("/manual/c0", mirror),
    "soft 404": with_honest_pages("/gone", soft_404),
    "clock": with_honest_pages("/now/start", clock),
    "soup": with_honest_pages("/text/start", soup),
    "tree on the host": with_honest_pages("/a/", tree),
    "week": with_honest_pages("/week?nr=1", week),
    "nested login": with_honest_pages("/login", nested_login),
}


NEWS = 100


def news(path: str) -> Shown:
    """Honest pages, each of which is found on the one before: among traps, one of them is open at a time."""
    number = int(path.rpartition("/")[2])
    more = [f"/news/{number + 1}"] if number + 1 < NEWS else []
    return Shown([*MENU, *(sentence(dice(path, line)) for line in range(5))], more)


def eight(path: str) -> Shown:
    """Eight traps on one site, among honest pages."""
    kinds: dict[str, tuple[Site, str]] = {
        "about": (honest, "/about/0"),
        "news": (news, "/news/0"),
        "tree": (tree, "/tree/"),
        "calendar": (month, "/calendar/2026/11"),
        "shop": (facets, "/shop"),
        "list": (session, "/list?page=0&zx=start"),
        "s": (session_in_path, "/s/start/list/0"),
        "manual": (mirror, "/manual/c0"),
        "now": (clock, "/now/start"),
        "text": (soup, "/text/start"),
    }
    if path == "/":
        return Shown([*MENU, "Welcome to the front page of this site."], [entry for _, entry in kinds.values()])
    return kinds[path.split("/")[1].partition("?")[0]][0](path)


def many_calendars(path: str) -> Shown:
    """Sixty calendars in folders of their own, too small each, and a chain of honest pages."""
    if path == "/":
        entries = [f"/{name}/2026/11" for name in words(60, "calendars")]
        return Shown([*MENU, "Welcome to the front page of this site."], ["/news/0", *entries])
    if path.startswith("/news/"):
        return news(path)
    folder = path.split("/")[1]
    shown = month(path)
    return shown._replace(links=[link.replace("/calendar/", f"/{folder}/") for link in shown.links])


TOPICS = 60


def replies(path: str) -> Shown:
    """Honest topics, each of which is found on the one before, and forms to reply at the same path, with two new
    values in each link."""
    chosen = dict(parse_qsl(urlsplit(path).query))
    topic, at_random = int(chosen.get("topic", 0)), dice("reply", path)
    forms = [f"/view?topic={topic}&reply={at_random.random()}&key={at_random.random()}" for _ in range(2)]
    if path == "/" or "reply" in chosen:
        return Shown([*MENU, "Please log in to write a reply to this."], [*forms, "/view?topic=0"])
    more = [f"/view?topic={topic + 1}"] if topic + 1 < TOPICS else []
    return Shown([*MENU, *(sentence(dice("topic", topic, line)) for line in range(4))], [*forms, *more])


# Honest sites


def shop(products: int, related: int = 4, *, digits_only: bool = False) -> Site:
    """Similar products on pages of 20, with links to others."""

    def name(number: int) -> str:
        at_random = dice("product", number)
        if digits_only:
            return f"Product {number}"
        brand, colour, thing = (
            at_random.choice(words(400, "brand")),
            at_random.choice(words(30, "colour")),
            at_random.choice(words(200, "thing")),
        )
        return f"{brand.title()} {colour} {thing} {number}"

    def site(path: str) -> Shown:
        if path == "/" or path.startswith("/list"):
            page = int(dict(parse_qsl(urlsplit(path).query)).get("page", 0))
            numbers = range(page * 20, min(products, page * 20 + 20))
            more = [f"/list?page={page + 1}"] if (page + 1) * 20 < products else []
            return Shown(
                [*MENU, f"Products, page {page}", *map(name, numbers)],
                [*(f"/product/{number}" for number in numbers), *more],
            )
        number = int(path.rpartition("/")[2])
        at_random = dice("product", path)
        others = [at_random.randrange(products) for _ in range(related)]
        lines = [
            *MENU,
            name(number),
            f"The {name(number)} is delivered within {at_random.randint(1, 9)} days.",
            "Add this product to your basket",
            *map(name, others),
        ]
        return Shown(lines, ["/", *(f"/product/{other}" for other in others)])

    return site


def forum(threads: int) -> Site:
    def length(thread: int) -> int:
        return dice("thread", thread).randint(1, 12)

    def site(path: str) -> Shown:
        if path == "/" or path.startswith("/board"):
            page = int(dict(parse_qsl(urlsplit(path).query)).get("page", 0))
            numbers = range(page * 25, min(threads, page * 25 + 25))
            more = [f"/board?page={page + 1}"] if (page + 1) * 25 < threads else []
            return Shown(
                [*MENU, *(sentence(dice("title", number), 5) for number in numbers)],
                [*(f"/thread/{number}" for number in numbers), *more],
            )
        address = urlsplit(path)
        number, page = int(address.path.rpartition("/")[2]), int(dict(parse_qsl(address.query)).get("page", 1))
        more = [f"/thread/{number}?page={page + 1}"] if page < length(number) else []
        return Shown(
            [*MENU, *(sentence(dice("post", number, page, post), 15) for post in range(10))],
            ["/", f"/thread/{number}", *more],
        )

    return site


def archive(years: int, days: int = 336) -> Site:
    """Articles by date; on two days of three there is none."""
    last = years * days

    def site(path: str) -> Shown:
        if path == "/":
            return Shown([*MENU, "The newest articles."], [address(last - 1)])
        parts = path.split("/")[1:]
        if len(parts) == 4:
            return Shown([*MENU, *(sentence(dice(path, line), 15) for line in range(8))], ["/"])
        year, number, day = map(int, parts)
        at = (year - 2000) * 336 + (number - 1) * 28 + day - 1
        near = [address(place) for place in (at - 1, at + 1) if 0 <= place < last]
        if at % 3:
            return Shown([*MENU, "No articles were published on this day."], near)
        titles = [f"{path}/{dice(path, place).choice(words(900, 'title'))}" for place in range(3)]
        return Shown([*MENU, *(sentence(dice(title), 6) for title in titles)], [*near, *titles])

    def address(at: int) -> str:
        return f"/{2000 + at // 336}/{at // 28 % 12 + 1:02}/{at % 28 + 1:02}"

    return site


def documentation(versions: int = 12, languages: int = 5, chapters: int = 40) -> Site:
    """The same text in each version, apart from a sentence in a tenth of the chapters; each page links to the others
    of its chapter, and to the next one."""

    def site(path: str) -> Shown:
        if path == "/":
            return Shown([*MENU, "The manuals."], ["/docs/1.0/l0/c0"])
        _, version, language, chapter = path.split("/")[1:]
        number = int(chapter[1:])
        others = [f"/docs/{at}.0/l{each}/{chapter}" for at in range(1, versions + 1) for each in range(languages)]
        more = [f"/docs/{version}/{language}/c{number + 1}"] if number + 1 < chapters else []
        lines = [sentence(dice(language, chapter, line)) for line in range(12)]
        if dice(version, chapter).random() < 0.1:
            lines.append(sentence(dice(version, language, chapter)))
        return Shown([*MENU, f"Version {version}", *lines], [*others, *more])

    return site


def photos(number: int) -> Site:
    """Hardly a word: a picture, the next and the one before."""

    def site(path: str) -> Shown:
        at = 0 if path == "/" else int(path.rpartition("/")[2])
        near = [f"/photo/{place}" for place in (at - 1, at + 1) if 0 <= place < number]
        return Shown([*MENU, f"Photo {at}"], near, [f"/images/{at:05}.jpg", "/logo.png"])

    return site


def glossary(entries: int) -> Site:
    """Very short pages."""

    def site(path: str) -> Shown:
        names, places = words(entries, "entries"), numbered(entries)
        if path == "/":
            return Shown(["Glossary"], [f"/{names[0]}"])
        at = places[path[1:]]
        near = [f"/{names[place]}" for place in (at - 1, at + 1, at * 2, at * 2 + 1) if 0 <= place < entries]
        return Shown([names[at], f"A {dice(at).choice(words(3000))}.", "Back"], near)

    return site


def sold_out(products: int) -> Site:
    """A shop by ids; nine of ten products say that they are sold out, and nothing else but links to two others."""

    def site(path: str) -> Shown:
        query = dict(parse_qsl(urlsplit(path).query))
        number = int(query.get("id", query.get("page", 0)))
        if "id" not in query:
            more = [f"/list?page={number + 1}"] if number * 10 + 10 < products else []
            numbers = range(number * 10, number * 10 + 10)
            return Shown(
                [*MENU, *(sentence(dice(each), 3) for each in numbers)],
                [*(f"/item?id={each}" for each in numbers), *more],
            )
        text = "Sold out" if number * 7919 % 10 else sentence(dice("description", number))
        return Shown(
            [*MENU, text], ["/", f"/item?id={(number * 7 + 1) % products}", f"/item?id={(number * 3 + 2) % products}"]
        )

    return site


def one_form(path: str) -> Shown:
    """Each page leads to the same form, with the way back in its URL."""
    if path.startswith("/login"):
        return Shown([*MENU, "Please enter your name and your password"], ["/"])
    number = int(path.rpartition("/")[2] or 0)
    more = [f"/page/{after}" for after in (number * 2 + 1, number * 2 + 2) if after < 700]
    return Shown([*MENU, *(sentence(dice(path, line)) for line in range(4))], [f"/login?next={number}", *more])


def lists_of_values(path: str) -> Shown:
    """Several thousand pages that one page links to, by parameters with few values and by ids."""
    if path == "/":
        views = [
            f"/viewtopic.php?f={topic % 30}&t={topic}&view={view}"
            for topic in range(300)
            for view in ("print", "new", "all")
        ]
        days = [
            f"/{year}/{month:02}/{day:02}/"
            for year in range(2020, 2023)
            for month in range(1, 13)
            for day in range(1, 29)
        ]
        return Shown([*MENU, "Everything"], [*views, *days])
    return Shown([*MENU, "This page says hardly anything."], ["/"])


HONEST: dict[str, Site] = {
    "shop": shop(1_500),
    "forum": forum(120),
    "archive": archive(1, days=150),
    "documentation": documentation(chapters=20),
    "photos": photos(240),
    "glossary": glossary(1_000),
    "sold out": sold_out(600),
    "lists of values": lists_of_values,
    "one form": one_form,
}

LARGE: dict[str, Site] = {
    "shop": shop(20_000),
    "forum": forum(2_000),
    "archive": archive(8),
    "documentation": documentation(chapters=100),
    "photos": photos(4_000),
    "glossary": glossary(10_000),
}


def reachable(site: Site, start: str = "/") -> set[str]:
    """All pages of a finite site."""
    found, waiting = {start}, [start]
    while waiting:
        for link in site(waiting.pop()).links:
            if link not in found:
                found.add(link)
                waiting.append(link)
    return found
