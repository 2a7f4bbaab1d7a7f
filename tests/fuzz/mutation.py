"""How one input becomes another, and how one is made longer and longer."""

from collections.abc import Callable, Sequence
from random import Random

from tests.fuzz.tokens import tokens_of

MOST = 4096  # bytes of an input that is tried as it is; longer ones are the business of `growth`

NUMBERS = (b"0", b"-1", b"1e999", b"4294967296", b"9" * 30, b"9" * 5000, b"0x7f", b"1.5", b"NaN", "٣".encode())
_ODD = ("\0", "\ud800", "\ufeff", "\u202e", "\u0085", "\u2028", "é", "ß", "İ", "ﷺ", "\U0001f600", "a\u0301", "。")
UNICODE = tuple(text.encode("utf-8", "surrogatepass") for text in _ODD)
BYTES = tokens_of("\xff | \xc0\x80 | \xed\xa0\x80 | \xff\xfe | \x1f\x8b | \r | \n | \t |   | % | %00 | \\")


def mutated(seeds: Sequence[bytes], tokens: Sequence[bytes], random: Random) -> bytes:
    """One of the seeds, changed in one to four ways."""
    data = random.choice(seeds)[:MOST]
    for _ in range(random.randint(1, 4)):
        data = random.choice(_WAYS)(data, seeds, tokens, random)[:MOST]
    return data


def growing(data: bytes, tokens: Sequence[bytes], random: Random) -> Callable[[int], bytes]:
    """What makes this input longer: a part of it, or tokens, again and again in their place. A "%d" in one counts."""
    begin = random.randrange(len(data) + 1)
    end = min(len(data), begin + random.randint(1, 40))
    before, part, behind = data[:begin], data[begin:end], data[end:]
    if not part or random.random() < 0.6:
        part = b"".join(random.choices(tokens, k=random.randint(1, 3)))
    return lambda size: filled(before, part, behind, size)


def filled(before: bytes, part: bytes, behind: bytes, size: int) -> bytes:
    """So many bytes, with as many of the parts as that takes."""
    times = max(1, (size - len(before) - len(behind)) // max(1, len(part)))
    if b"%d" not in part:
        return before + part * times + behind
    return before + b"".join(part.replace(b"%d", b"%d" % number) for number in range(times)) + behind


def _flip(data: bytes, seeds: Sequence[bytes], tokens: Sequence[bytes], random: Random) -> bytes:
    if not data:
        return b"\0"
    at = random.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << random.randrange(8)]) + data[at + 1 :]


def _cut(data: bytes, seeds: Sequence[bytes], tokens: Sequence[bytes], random: Random) -> bytes:
    begin = random.randrange(len(data) + 1)
    return data[:begin] + data[begin + random.randint(1, 20) :]


def _repeat(data: bytes, seeds: Sequence[bytes], tokens: Sequence[bytes], random: Random) -> bytes:
    begin = random.randrange(len(data) + 1)
    end = begin + random.randint(1, 20)
    return data[:end] + data[begin:end] * random.choice((1, 2, 50)) + data[end:]


def _splice(data: bytes, seeds: Sequence[bytes], tokens: Sequence[bytes], random: Random) -> bytes:
    other = random.choice(seeds)[:MOST]
    return data[: random.randrange(len(data) + 1)] + other[random.randrange(len(other) + 1) :]


def _insert(data: bytes, seeds: Sequence[bytes], tokens: Sequence[bytes], random: Random) -> bytes:
    at = random.randrange(len(data) + 1)
    what = random.choice(random.choice((tokens, tokens, NUMBERS, UNICODE, BYTES)))
    return data[:at] + what + data[at:]


def _nest(data: bytes, seeds: Sequence[bytes], tokens: Sequence[bytes], random: Random) -> bytes:
    return random.choice(tokens) * random.choice((2, 30, 300)) + data


_WAYS = (_flip, _cut, _repeat, _splice, _insert, _insert, _nest)
