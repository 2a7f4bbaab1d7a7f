"""Knows a list of any number of URLs on many hosts of loopback: who answers what, after how long, and who is dead.

All of it follows from a seed, so the list, the server and the expected receipt are made of the same few lines.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from statistics import NormalDist

from tools.bench.generated import WORDS, mixed

MEDIAN = 0.150  # seconds a host takes for an answer
HOST_SIGMA, ANSWER_SIGMA = 0.5, 0.25  # of the logarithm: among hosts, and among the answers of one
SLOWEST = 5.0  # seconds
DEAD = 30  # hosts of a thousand
ERRORS = 20  # URLs of a thousand, on hosts that live
HOSTS_STEP = 7919  # a prime: neighbours in the list are on hosts far apart
BODY_PARAGRAPHS = 40
ADDRESSES = 62_500  # hosts for each second number of the address
_NORMAL = NormalDist()


class Health(StrEnum):
    WELL = "well"
    REFUSING = "refusing"  # takes no connection
    SILENT = "silent"  # takes connections and never answers


@dataclass(frozen=True)
class Crowd:
    urls: int
    hosts: int = 10_000
    seed: int = 7
    answer_after: float | None = None  # seconds, of every host; then all of them are well, and have no errors

    def health(self, host: int) -> Health:
        """An exact share is dead, one half of it in each way."""
        if self.answer_after is not None:
            return Health.WELL
        place = host * HOSTS_STEP % 1000
        if place >= DEAD:
            return Health.WELL
        return Health.REFUSING if place % 2 else Health.SILENT

    def status(self, host: int, page: int) -> int:
        """What a host that is well says to this page, always the same: errors are half 404, a quarter each 500, 503."""
        if self.answer_after is not None:
            return 200
        dice = mixed(host * 1_000_003 + page, self.seed)
        if dice % 1000 >= ERRORS:
            return 200
        return (404, 404, 500, 503)[(dice >> 20) % 4]

    def latency(self, host: int, page: int) -> float:
        """Seconds. Lognormal among the hosts, and a little among the answers of each."""
        if self.answer_after is not None:
            return self.answer_after
        of_host = HOST_SIGMA * _normal(mixed(host, self.seed + 1))
        of_answer = ANSWER_SIGMA * _normal(mixed(host * 1_000_003 + page, self.seed + 2))
        return min(MEDIAN * math.exp(of_host + of_answer), SLOWEST)

    def places(self) -> Iterator[tuple[int, int]]:
        """Host and page of each URL, in the order of the list."""
        for number in range(self.urls):
            yield number * HOSTS_STEP % self.hosts, number // self.hosts

    def lines(self, port: int) -> Iterator[str]:
        for host, page in self.places():
            yield f"http://{address(host)}:{port}{path(page)}"

    def expected(self) -> Counter[str]:
        """How many pages close in each way: their status, or "dead"."""
        healths = [self.health(host) for host in range(self.hosts)]
        return Counter(
            str(self.status(host, page)) if healths[host] is Health.WELL else "dead" for host, page in self.places()
        )


def address(host: int) -> str:
    return f"127.{20 + host // ADDRESSES}.{host // 250 % 250 + 1}.{host % 250 + 1}"


def host_at(text: str) -> int:
    """The host with this address."""
    _, second, third, fourth = (int(part) for part in text.split("."))
    return (second - 20) * ADDRESSES + (third - 1) * 250 + fourth - 1


def path(page: int) -> str:
    return f"/{WORDS[page % len(WORDS)]}/{page}"


def page_at(text: str) -> int | None:
    """None = no page of the list, such as /robots.txt."""
    number = text.rpartition("/")[2]
    return int(number) if number.isascii() and number.isdigit() else None


def _normal(bits: int) -> float:
    return _NORMAL.inv_cdf(((bits >> 11) + 0.5) / (1 << 53))
