"""The spans of a crawl in OpenTelemetry. The crawl's id is that of its trace, and spans with others below have ids made
from names, so that processes need not tell each other any: a page is below its batch, a batch and a tick below their
crawl.

https://opentelemetry.io/docs/specs/otel/trace/api/. Only `conf.sends_traces` imports the packages.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from hashlib import sha256
from typing import TYPE_CHECKING, Any
from uuid import UUID

from crawler import __version__

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.trace import SpanContext, Tracer

NAME = "site-crawler"
NS_PER_S = 1_000_000_000
FLUSH_MS = 2000

Value = str | int | float | bool

_span_id: ContextVar[int] = ContextVar("span_id", default=0)
"""That of the span that begins next; 0 = a random one."""


def id_of(name: str) -> int:
    """The span id of a crawl or batch."""
    return int.from_bytes(sha256(name.encode()).digest()[:8]) or 1


def place_of(crawl: str, name: str) -> SpanContext:
    """The span of this name in the trace of a crawl."""
    from opentelemetry.trace import SpanContext, TraceFlags

    return SpanContext(UUID(crawl).int, id_of(name), is_remote=True, trace_flags=TraceFlags(TraceFlags.SAMPLED))


def _below(crawl: str, name: str) -> Context:
    from opentelemetry.trace import NonRecordingSpan, set_span_in_context

    return set_span_in_context(NonRecordingSpan(place_of(crawl, name)))


@contextmanager
def spanning(kind: str, crawl: str, name: str = "", **attributes: Value) -> Iterator[None]:
    """A span below the crawl's, around what is done within; it notes an exception. With a `name`, others may be below
    it."""
    token = _span_id.set(id_of(name) if name else 0)
    try:
        attributes = {**attributes, "crawl.id": crawl}
        with tracer().start_as_current_span(kind, _below(crawl, crawl), attributes=attributes):
            _span_id.set(0)
            yield
    finally:
        _span_id.reset(token)
        _flush_once(os.getpid())


def note(
    kind: str,
    crawl: str,
    began: float,
    ended: float,
    *,
    below: str = "",
    name: str = "",
    failed: str = "",
    attributes: Mapping[str, Value],
) -> None:
    """A span that is over, in epoch seconds; `below` the span of this name, or none."""
    from opentelemetry.context import Context
    from opentelemetry.trace import Status, StatusCode

    token = _span_id.set(id_of(name) if name else 0)
    trace = _trace_id.set(UUID(crawl).int)
    try:
        context = _below(crawl, below) if below else Context()
        span = tracer().start_span(kind, context, attributes=attributes, start_time=int(began * NS_PER_S))
        if failed:
            span.set_status(Status(StatusCode.ERROR, failed))
        span.end(int(ended * NS_PER_S))
    finally:
        _trace_id.reset(trace)
        _span_id.reset(token)


_trace_id: ContextVar[int] = ContextVar("trace_id", default=0)


@cache
def _provider_of(process: int) -> Any:
    """A process that RQ's own worker forks for one job gets one of its own."""
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor
    from opentelemetry.sdk.trace.id_generator import RandomIdGenerator

    class Ids(RandomIdGenerator):
        def generate_span_id(self) -> int:
            return _span_id.get() or super().generate_span_id()

        def generate_trace_id(self) -> int:
            return _trace_id.get() or super().generate_trace_id()

    named = {SERVICE_VERSION: __version__, **({} if "OTEL_SERVICE_NAME" in os.environ else {SERVICE_NAME: NAME})}
    provider = TracerProvider(id_generator=Ids(), resource=Resource.create(named))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return provider


def tracer() -> Tracer:
    found: Tracer = _provider_of(os.getpid()).get_tracer(NAME, __version__)
    return found


@cache
def _flush_once(process: int) -> None:
    """After the first job of a process, which may be the only one: RQ's own worker forks for each, and ends it without
    a goodbye."""
    flush()


def flush() -> None:
    """Send what is left. The packages log a collector that does not respond."""
    _provider_of(os.getpid()).force_flush(FLUSH_MS)
