"""Metrics in Prometheus's text format, version 0.0.4.

https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate

import msgspec

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_ESCAPED = str.maketrans({"\\": r"\\", "\n": r"\n"})
_ESCAPED_IN_QUOTES = str.maketrans({"\\": r"\\", "\n": r"\n", '"': r"\""})


class Sample(msgspec.Struct, frozen=True):
    """One line."""

    value: float
    labels: Mapping[str, str] = {}
    suffix: str = ""  # behind the name of the family


class Family(msgspec.Struct, frozen=True):
    """The samples of one name."""

    name: str
    kind: str  # gauge, counter or histogram
    about: str
    samples: Sequence[Sample]


def histogram(name: str, about: str, bounds: Sequence[float], counts: Sequence[int], total: float) -> Family:
    """`counts`: of the values up to each bound and above the one before, then of those above all bounds; `total`: the
    sum of the values."""
    cumulated = list(accumulate(counts))
    buckets = [
        Sample(count, {"le": bound}, "_bucket")
        for bound, count in zip([*map(str, bounds), "+Inf"], cumulated, strict=True)
    ]
    return Family(
        name, "histogram", about, [*buckets, Sample(cumulated[-1], suffix="_count"), Sample(total, suffix="_sum")]
    )


def text_of(families: Iterable[Family]) -> str:
    return "".join(line for family in families for line in _lines(family))


def _lines(family: Family) -> Iterable[str]:
    yield f"# HELP {family.name} {family.about.translate(_ESCAPED)}\n"
    yield f"# TYPE {family.name} {family.kind}\n"
    for sample in family.samples:
        pairs = ",".join(f'{name}="{value.translate(_ESCAPED_IN_QUOTES)}"' for name, value in sample.labels.items())
        labels = f"{{{pairs}}}" if pairs else ""
        yield f"{family.name}{sample.suffix}{labels} {float(sample.value)!r}\n"
