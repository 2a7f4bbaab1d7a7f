"""Every regular expression of the package, against texts that make bad ones take the square of their length."""

import ast
import importlib
import inspect
import pkgutil
import re
import time
from collections import deque
from collections.abc import Iterator, Mapping
from functools import reduce
from itertools import islice
from operator import or_
from pathlib import Path
from typing import Any

import crawler

SIZE = 1000
STEEP = 24.0  # times as long for eight times as much: a square takes 64
FLOOR = 0.02  # seconds for 8 * SIZE characters
OF_ITS_OWN = " \t\n'\"=<>/-.,:;&#%@[](){}*0a1Z_\\é"
BOUNDED = {
    "crawler.core.html.charsets._CHARSET": "a header, or the first 1,024 bytes of a page",
    "crawler.core.html.charsets._COMMENT": "the first 1,024 bytes of a page",
    "crawler.core.html.charsets._META": "the same",
    "crawler.core.html.charsets._ATTRIBUTE": "the same",
    "crawler.core.text.quantities._EACH": "what is made of nothing but these",
}
"""Those that are given no texts that are long and bad, and what they are given."""
LOOKED_FOR = {"search", "finditer", "findall", "sub", "subn", "split"}  # else a pattern is held against one place alone
USES = LOOKED_FOR | {"match", "fullmatch"}

Pattern = re.Pattern[str] | re.Pattern[bytes]


def _all() -> Iterator[tuple[str, Pattern, bool]]:
    """Each with its name, and whether it is looked for all over a text."""
    for found in pkgutil.walk_packages(crawler.__path__, "crawler."):
        if found.name.startswith(("crawler.migrations", "crawler.management.commands", "crawler.launch")):
            continue
        if found.name in {"crawler.web.account.sign_in", "crawler.settings.production"}:  # which need other settings
            continue
        module = importlib.import_module(found.name)
        source = Path(inspect.getfile(module)).read_text()  # `getsource` wants some to be there
        for name, value in vars(module).items():
            for pattern in _held_by(value):
                used = set(re.findall(rf"\b{name}\.(\w+)", source))
                yield f"{found.name}.{name}", pattern, not used or bool(used & LOOKED_FOR)
        for call, function in _calls(source):
            pattern = re.compile(_text(call.args[0], vars(module)), _flags(call))
            yield f"{found.name}:{call.lineno}", pattern, function in LOOKED_FOR


def _held_by(value: object) -> Iterator[Pattern]:
    """A pattern itself, and those in tuples and the like."""
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, (tuple, list)):
        for one in value:
            yield from _held_by(one)
    elif isinstance(value, dict) and "__builtins__" not in value:
        yield from _held_by(tuple(value.values()))


def _calls(source: str) -> Iterator[tuple[ast.Call, str]]:
    """Where a pattern is written beside its use: each call of a function of `re`, with the function's name."""
    if not re.search(rf"\bre\.({'|'.join(USES)})\(", source):  # to read it all takes long
        return
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name("re"), attr=function)) if function in USES:
                yield node, function


def _text(node: ast.expr, names: Mapping[str, Any]) -> Any:
    """What is written there, with the constants of its module in it."""
    match node:
        case ast.Constant(value):
            return value
        case ast.Name(name):
            return names[name]
        case ast.JoinedStr(parts):
            return "".join(_text(part, names) for part in parts)
        case ast.FormattedValue(part):
            return _text(part, names)
    raise AssertionError(f"{ast.unparse(node)} is written in a way that is not read here")


def _flags(call: ast.Call) -> int:
    given = [node for argument in (*call.args[1:], *call.keywords) for node in ast.walk(argument)]
    known = [getattr(re, node.attr) for node in given if isinstance(node, ast.Attribute) and node.attr.isupper()]
    return reduce(or_, known, 0)


def _attacks(pattern: str) -> list[str]:
    """What is repeated: each character the pattern names or its classes hold, pairs of them, and its literal words."""
    letters = sorted({letter for letter in pattern if letter in OF_ITS_OWN} | set(" 0a-"))
    words = [word for word in re.findall(r"[A-Za-z<&!?-]{2,}", pattern) if len(word) < 20]
    pairs = [one + other for one in letters for other in letters if one < other][:10]
    return [*letters, *words[:8], *(f"{word} " for word in words[:8]), *pairs]


def _seconds(pattern: Pattern, text: str, everywhere: bool) -> float:
    subject = text.encode() if isinstance(pattern.pattern, bytes) else text
    begun = time.thread_time()
    if everywhere:
        deque(pattern.finditer(subject), maxlen=0)  # type: ignore[arg-type]  # each has a text of its own kind
    pattern.match(subject)  # type: ignore[arg-type]
    pattern.fullmatch(subject)  # type: ignore[arg-type]
    return time.thread_time() - begun


def _is_steep(pattern: Pattern, part: str, everywhere: bool) -> bool:
    for begin, end in (("", "\0"), ("<a 1", "!")):
        short, long = (begin + part * (size // len(part)) + end for size in (SIZE, 8 * SIZE))
        if _seconds(pattern, short, everywhere) > FLOOR / 40:  # a square would be above it with the long one
            once = max(0.0001, min(_seconds(pattern, short, everywhere) for _ in range(2)))
            if min(_seconds(pattern, long, everywhere) for _ in range(2)) > max(FLOOR, STEEP * once):
                return True
    return False


def test_no_pattern_takes_the_square_of_its_text() -> None:
    steep = []
    for name, pattern, everywhere in _all():
        if name in BOUNDED:
            continue
        source = pattern.pattern.decode("latin-1") if isinstance(pattern.pattern, bytes) else pattern.pattern
        steep += islice((f"{name} {part!r}" for part in _attacks(source) if _is_steep(pattern, part, everywhere)), 1)
    assert steep == []


def test_it_would_find_a_bad_one() -> None:
    names = {name.partition(":")[0] for name, _, _ in _all()}
    assert {
        "crawler.core.urls.normalise",
        "crawler.core.extraction.extractor",
        "crawler.capabilities.traps.novelty._WORD",
    } <= names
    assert len(names) > 50
    assert _is_steep(re.compile(r"\s*;"), " ", everywhere=True)
    assert not _is_steep(re.compile(r"\s*+;"), " ", everywhere=False)
