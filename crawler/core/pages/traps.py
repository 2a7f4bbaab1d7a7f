"""Traps: which URLs look like part of an endless series, and when they are treated as one.

There are two kinds of rules. Some recognise a trap by one URL. The others count: a URL has a shape, and only beyond a
number of pages that no ordinary site has of that shape it is a trap. In doubt a rule lets a trap run on a little. For
what is learnt from the text of pages see `core.urls.variants`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from datetime import date
from enum import Enum, StrEnum
from hashlib import blake2b
from typing import assert_never

from crawler.core.urls.normalise import host_of
from crawler.core.urls.query_params import is_session

# Dates in URLs of a calendar or an archive, not of an article.

SECONDS_PER_YEAR = 31_556_952  # of the Gregorian calendar, on average


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Words after which even /2031/5 and /203105 are dates. Not "events" or "archive": their numbers name items.
_CALENDARS = _words("cal calendar calendario calendars calendrier jahr kalender year years")
_WORDS = _CALENDARS | _words("agenda date day mois monat month week woche")
_MONTHS_TOO = _words("cal cal_date caldate calendar date datum month")  # other names have six digits for offsets
_DATE_NAMES = _MONTHS_TOO | _words(
    "d day dt from start start_date startdate time timestamp tribe-bar-date ts week",
)
_YEAR_NAMES = ("year", "yr", "jahr", "calyear", "cal_year")
_MONTH_NAMES = _words("m month mon monat calmonth cal_month")

_FORMS = (  # formats of a date at the end of a path, and the words of which one must come before it
    (re.compile(r"/(?P<year>[12]\d{3})-(?:0[1-9]|1[0-2])(?:-\d\d)?$"), None),
    (re.compile(r"/(?P<year>[12]\d{3})/0[1-9](?:/(?:0?[1-9]|[12]\d|3[01]))?$"), None),
    (re.compile(r"/(?P<year>[12]\d{3})/(?:[1-9]|1[0-2])(?:/(?:0?[1-9]|[12]\d|3[01]))?$"), _WORDS),
    (re.compile(r"/(?:0?[1-9]|1[0-2])/(?P<year>[12]\d{3})$"), _WORDS),
    (re.compile(r"/(?P<year>[12]\d{3})(?:0[1-9]|1[0-2])(?:[0-3]\d)?$"), _WORDS),
    (re.compile(r"/(?P<year>[12]\d{3})$"), _CALENDARS),
)
_VIEW = re.compile(r"/(?:month|week|day|list|agenda|year)$")

_YEAR = re.compile(r"[12]\d{3}")
_ISO_VALUE = re.compile(r"(?P<year>[12]\d{3})-(?:W\d\d|0?[1-9]|1[0-2])(?:-\d\d?)?(?:[T+ %].*)?")
_WHOLE_DAY = re.compile(r"(?P<year>[12]\d{3})-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])")
_MONTH_VALUE = re.compile(r"(?P<year>[12]\d{3})(?:0[1-9]|1[0-2])")
_DAY_VALUE = re.compile(r"(?P<year>[12]\d{3})(?:0[1-9]|1[0-2])[0-3]\d")
_EPOCH = re.compile(r"-?\d{9,10}(?:\d{3})?")


@dataclass(frozen=True, slots=True)
class Leaf:
    """A page of a calendar."""

    year: int
    before: str  # the path before the date, without a slash at its end; the whole path when the date is in the query
    in_query: bool


def leaf_of(path: str, query: Mapping[str, str]) -> Leaf | None:
    """The calendar page of this URL; None for everything else, such as an article with a date before its title.

    `query` maps names in lower case to values. Only certain dates count, because most numbers in URLs are something
    else: /thread/1731/2 is a page of a discussion.
    """
    year = _year_in(query) if query else None
    if year is not None:
        return Leaf(year, path.rstrip("/"), in_query=True)
    return _leaf_of_path(path)


def _leaf_of_path(path: str) -> Leaf | None:
    """The date must end the path (the name of a view may follow). /2031-05 and /2031/05 are dates anywhere, the other
    formats only after a word such as "calendar"."""
    path = _VIEW.sub("", path.rstrip("/"))
    if not path[-1:].isdigit():
        return None
    for form, words in _FORMS:
        found = form.search(path)
        if found and (words is None or not words.isdisjoint(path[: found.start()].lower().split("/"))):
            return Leaf(int(found["year"]), path[: found.start()], in_query=False)
    return None


def _year_in(query: Mapping[str, str]) -> int | None:
    for name in (*_YEAR_NAMES, *(["y"] if not _MONTH_NAMES.isdisjoint(query) else [])):
        value = query.get(name, "")
        if _YEAR.fullmatch(value):
            return int(value)
    for name, value in query.items():
        if found := _WHOLE_DAY.fullmatch(value):
            return int(found["year"])
        if name in _DATE_NAMES:
            year = _year_of(name, value)
            if year is not None:
                return year
    return None


def _year_of(name: str, value: str) -> int | None:
    for form in (_ISO_VALUE, _DAY_VALUE, *([_MONTH_VALUE] if name in _MONTHS_TOO else [])):
        if found := form.fullmatch(value):
            return int(found["year"])
    if _EPOCH.fullmatch(value):
        seconds = int(value) if len(value.lstrip("-")) <= 10 else int(value) // 1000
        return 1970 + seconds // SECONDS_PER_YEAR
    return None


def names_of_dates(names: Set[str]) -> Set[str]:
    """Those of these parameter names, in lower case, that hold dates."""
    return names & (_DATE_NAMES | _MONTH_NAMES | frozenset(_YEAR_NAMES) | {"y"})


IN_A_ROW = 3  # /docs/docs/docs: two are a project named like its folder; Heritrix allows no third either
SHORT_IN_A_ROW = 6  # /1/1/1 are coordinates, /a/a/a the folders of a file named by its digest
ANYWHERE = 4  # /node/x/node/y/node/z/node
MAX_SEGMENTS = 24  # published file trees end before 20
LONG_URL = 1_000  # characters, on a page whose own URL has LONG_PARENT: signed links are long, but not in a row
LONG_PARENT = 400

YEARS_BACK, YEARS_AHEAD = 30, 5  # in this range a calendar is finite: some 13,000 days
FAR_DATES = 1_000  # calendar pages outside of it: one a month for 80 years

SERIES_DEPTH = 1_000  # links from the start; only a chain of "next" leads so deep
SERIES_PAGES = 5_000  # of one shape at such a depth, so that ?page=1..5000 is fetched by "next" links alone

FILTERS = 3  # number of sort and filter parameters at which combinations explode
COMBINATIONS = {2: 2_000, FILTERS: 200}  # number of parameters -> combinations that are fetched at least
REPEATED = {2: 20, FILTERS: 10}  # the same -> combinations per value of the most varied parameter, on average
MANY_VALUES = 500  # of one parameter: it is an id, and the shape is no set of filters

MAX_QUARANTINED = 1_000  # rows of one trap; further pages are only counted

# Parameters for paging and for the language: they multiply pages, but not each other.
_STEPS = re.compile(
    "after|before|begin|count|cursor|from|limit|next|offset|p|page|page_?no|page_?size|pagenumber|paged|per_?page|pg"
    "|seite|skip|st|start"
)
_LANGUAGES = re.compile("hl|l|lang|language|locale")


class TrapReason(StrEnum):
    """Why pages are treated as an endless series. The value is stored in the table."""

    REPEATED = "repeated"  # the path repeats itself
    LONGER = "longer"  # URLs grow from page to page
    SESSION = "session"  # each visit has its own URLs
    DATES = "dates"  # a calendar without end
    SERIES = "series"  # a chain of next pages
    FILTERS = "filters"  # combinations of sorting and filtering
    PARAMETER = "same_text_parameter"  # learnt from the text of pages, see `core.urls.variants`
    SEGMENT = "same_text_segment"  # the same


LEARNT = frozenset({TrapReason.PARAMETER, TrapReason.SEGMENT})


class TrapVerdict(Enum):
    """The decision about a suspected page."""

    LET_IN = "let_in"
    QUARANTINE = "quarantine"  # it gets a row with the reason
    LEAVE_OUT = "leave_out"  # there are enough rows; it is only counted


@dataclass(frozen=True, slots=True)
class Suspicion:
    """The reason to suspect a URL, and the shape it is counted under."""

    reason: TrapReason
    pattern: str  # the shape of the URLs, for users; with the reason it identifies a trap of a crawl
    counts: bool = True  # False: judged by the shape's count, but not part of it
    filters: int = 0  # parameters that sort or filter
    values: tuple[tuple[str, str], ...] = ()  # of its parameters

    @property
    def key(self) -> bytes:
        """16 bytes that identify its trap within a crawl."""
        return blake2b(f"{self.reason} {self.pattern}".encode(), digest_size=16).digest()


@dataclass(frozen=True, slots=True)
class Count:
    """The counts of a shape: pages fetched and not, and the values of each parameter, as digests."""

    pages: int = 0
    quarantined: int = 0
    left_out: int = 0
    released: bool = False
    values: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def most_values(self) -> int:
        return max(map(len, self.values.values()), default=0)


def suspect(url: str, depth: int, parent: str, today: date) -> Suspicion | None:
    """The suspicion of this normalised URL, found on the page `parent`; None for most. Rules that recognise a trap by
    one URL come first, then those that count."""
    host = host_of(url)
    path, _, query = url[url.index("/", 8) :].partition("?")
    segments = path.strip("/").split("/")
    pairs = tuple(_pairs(query)) if query else ()
    return (
        _carries_session(host, path, pairs)
        or _goes_in_circles(host, segments)
        or _grows(url, host, segments, parent)
        or _leaves_time(host, path, segments, pairs, today)
        or _goes_on(host, segments, pairs, depth)
        or _combines(host, path, pairs)
    )


def judge(suspicion: Suspicion, count: Count) -> tuple[TrapVerdict, Count]:
    """The decision about one page, and the count of its shape afterwards."""
    if suspicion.values:
        count = replace(count, values=_with_values(count.values, suspicion.values))
    limit = None if count.released else _limit(suspicion, count)
    if limit is None or count.pages < limit:
        return TrapVerdict.LET_IN, replace(count, pages=count.pages + suspicion.counts)
    if count.quarantined < MAX_QUARANTINED:
        return TrapVerdict.QUARANTINE, replace(count, quarantined=count.quarantined + 1)
    return TrapVerdict.LEAVE_OUT, replace(count, left_out=count.left_out + 1)


def _limit(suspicion: Suspicion, count: Count) -> int | None:
    """Pages of the shape that are fetched; None = all of them."""
    match suspicion.reason:
        case TrapReason.REPEATED | TrapReason.LONGER | TrapReason.SESSION | TrapReason.PARAMETER | TrapReason.SEGMENT:
            return 0
        case TrapReason.DATES:
            return FAR_DATES
        case TrapReason.SERIES:
            return SERIES_PAGES
        case TrapReason.FILTERS:
            if count.most_values >= MANY_VALUES:
                return None
            kind = min(suspicion.filters, FILTERS)
            return max(COMBINATIONS[kind], REPEATED[kind] * count.most_values)
    assert_never(suspicion.reason)


def _carries_session(host: str, path: str, pairs: Sequence[tuple[str, str]]) -> Suspicion | None:
    for name, value in pairs:
        if is_session(name, value):
            return Suspicion(TrapReason.SESSION, f"{host}/…?{name}=*")
    for piece in path.split(";")[1:]:
        name, _, value = piece.partition("/")[0].partition("=")
        if is_session(name, value):
            return Suspicion(TrapReason.SESSION, f"{host}/…;{name}=*")
    return None


def _goes_in_circles(host: str, segments: Sequence[str]) -> Suspicion | None:
    """A relative link that lacks its leading "/" leads one folder deeper each time it is followed."""
    if len(set(segments)) == len(segments):
        return None
    block = _block_in_a_row(segments) or _word_too_often(segments)
    return Suspicion(TrapReason.REPEATED, f"{host}/…/{block}/…/{block}/…") if block else None


def _block_in_a_row(segments: Sequence[str]) -> str:
    """The shortest sequence of segments that is repeated too often in a row."""
    number = len(segments)
    for length in range(1, number // IN_A_ROW + 1):
        run = 0  # segments in a row that equal the one `length` before
        for at in range(length, number):
            run = run + 1 if segments[at] == segments[at - length] else 0
            block = segments[at - length + 1 : at + 1]
            needed = IN_A_ROW if any(map(_is_word, block)) else SHORT_IN_A_ROW
            if run >= length * (needed - 1):
                return "/".join(min(_turns(block)))
    return ""


def _turns(block: Sequence[str]) -> list[list[str]]:
    """The block rotated to begin at each of its segments: a/b/a/b/a/b and b/a/b/a/b/a are one trap."""
    return [[*block[at:], *block[:at]] for at in range(len(block))]


def _word_too_often(segments: Sequence[str]) -> str:
    return next((word for word in segments if _is_word(word) and segments.count(word) >= ANYWHERE), "")


def _is_word(segment: str) -> bool:
    return len(segment) > 2 and any(character.isalpha() for character in segment)


def _grows(url: str, host: str, segments: Sequence[str], parent: str) -> Suspicion | None:
    if len(segments) > MAX_SEGMENTS or (len(url) > LONG_URL and len(parent) > LONG_PARENT):
        return Suspicion(TrapReason.LONGER, f"{host}/{segments[0]}…")
    return None


def _leaves_time(
    host: str, path: str, segments: Sequence[str], pairs: Sequence[tuple[str, str]], today: date
) -> Suspicion | None:
    """A calendar always has a next month and a previous one. All calendars below one folder count together, because a
    site may have one for each user."""
    leaf = leaf_of(path, {name.lower(): value for name, value in pairs})
    if leaf is None or today.year - YEARS_BACK <= leaf.year <= today.year + YEARS_AHEAD:
        return None
    if leaf.in_query:
        return Suspicion(TrapReason.DATES, f"{host}{leaf.before or '/'}?{_starred(pairs)}")
    folder = f"/{segments[0]}" if leaf.before else ""
    deeper = "/…" if leaf.before.count("/") > 1 else ""
    return Suspicion(TrapReason.DATES, f"{host}{folder}{deeper}/*")


def _goes_on(host: str, segments: Sequence[str], pairs: Sequence[tuple[str, str]], depth: int) -> Suspicion | None:
    """Numbers change from one page to the next; without numbers and query, the last segment does."""
    if depth <= SERIES_DEPTH:
        return None
    parts = ["*" if any(map(str.isdigit, segment)) else segment for segment in segments]
    if not pairs and "*" not in parts:
        parts[-1] = "*"
    return Suspicion(TrapReason.SERIES, f"{host}/{'/'.join(parts)}" + (f"?{_starred(pairs)}" if pairs else ""))


def _combines(host: str, path: str, pairs: Sequence[tuple[str, str]]) -> Suspicion | None:
    """Filters multiply: eight of them with five values each make 1.7 million pages, all of which show the same goods.

    Unlike ordinary queries such as ?forum=3&topic=715&view=print they have few values in many combinations. The last
    segment of the path counts as a value, so that all categories of a shop are one shape. A page beyond the first of
    one combination is judged with it, and not counted.
    """
    if len(pairs) < min(COMBINATIONS):
        return None
    names = {name.lower() for name, _ in pairs}
    steps = {name for name in names if _STEPS.fullmatch(name)}
    languages = {name for name in names if _LANGUAGES.fullmatch(name)}
    filters = len(names - steps - languages - names_of_dates(names))
    if filters < min(COMBINATIONS):
        return None
    folder, _, leaf = path.rpartition("/")
    values = (("/", leaf), *((name.lower(), value) for name, value in pairs if name.lower() not in steps))
    pattern = f"{host}{folder}/*?{'two filters' if filters < FILTERS else 'three filters or more'}"
    return Suspicion(TrapReason.FILTERS, pattern, counts=not steps, filters=filters, values=values)


def _with_values(known: Mapping[str, Sequence[str]], more: Sequence[tuple[str, str]]) -> Mapping[str, Sequence[str]]:
    """The values seen so far. Once a parameter has very many, the others' values are dropped."""
    values = dict(known)
    if max(map(len, values.values()), default=0) >= MANY_VALUES:
        return values
    for name, value in more:
        digest = blake2b(value.encode(), digest_size=4).hexdigest()
        if digest not in values.get(name, ()):
            values[name] = [*values.get(name, ()), digest]
            if len(values[name]) >= MANY_VALUES:
                return {name: values[name]}
    return values


def _pairs(query: str) -> list[tuple[str, str]]:
    return [(name, value) for name, _, value in (piece.partition("=") for piece in query.split("&") if piece)]


def _starred(pairs: Sequence[tuple[str, str]]) -> str:
    return "&".join(sorted({f"{name}=*" for name, _ in pairs}))
