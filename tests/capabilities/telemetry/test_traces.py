"""A crawl is one trace: what real workers send to a collector over HTTP."""

import gzip
from collections.abc import Iterator
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from crawler.capabilities.telemetry import tracing
from tests.site import Reply, Request, Server, Site, page
from tests.stack import Stack


class Collector(Server):
    """Takes spans as OTLP over HTTP."""

    def __init__(self) -> None:
        super().__init__()
        self.spans: list[Any] = []

    def answer(self, request: Request) -> Reply:
        packed = request.headers.get("Content-Encoding") == "gzip"
        sent = ExportTraceServiceRequest.FromString(gzip.decompress(request.body) if packed else request.body)
        self.spans += [span for each in sent.resource_spans for scope in each.scope_spans for span in scope.spans]
        return Reply(headers={"Content-Type": "application/x-protobuf"})

    def named(self, name: str) -> list[Any]:
        return [span for span in self.spans if span.name == name]

    def has_batches_of(self, pages: int) -> bool:
        """Whether as many pages are there, and the batches they are below."""
        found = {span.parent_span_id for span in self.named("page")}
        return len(self.named("page")) == pages and found <= {span.span_id for span in self.named("batch")}


@pytest.fixture
def collector() -> Iterator[Collector]:
    with Collector().serving() as collector:
        yield collector


def attributes_of(span: Any) -> dict[str, Any]:
    return {entry.key: getattr(entry.value, entry.value.WhichOneof("value")) for entry in span.attributes}


@pytest.mark.parametrize(
    "start",
    [
        pytest.param(Stack.start_worker, id="the project's"),
        pytest.param(Stack.start_stock_worker, id="stock", marks=pytest.mark.long),
    ],
)
def test_a_crawl_its_batches_and_pages_are_one_trace(start: Any, collector: Collector, stack: Stack) -> None:
    stack.env |= {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url, "OTEL_BSP_SCHEDULE_DELAY": "50"}
    with Site({"/": page("/a", "/gone"), "/a": page("/")}).serving() as site:
        crawl = str(stack.start(f"{site.url}/"))
        start(stack)
        stack.wait_for(lambda: bool(collector.named("crawl")) and len(collector.named("page")) == 3)
    (root,), batches, pages = collector.named("crawl"), collector.named("batch"), collector.named("page")
    assert root.span_id == tracing.id_of(crawl).to_bytes(8)
    assert {span.trace_id.hex() for span in collector.spans} == {crawl.replace("-", "")}
    assert {span.parent_span_id for span in batches} == {root.span_id}
    told = {attributes_of(span)["url.full"].removeprefix(site.url): attributes_of(span) for span in pages}
    assert {path: values["http.response.status_code"] for path, values in told.items()} == {
        "/": 200,
        "/a": 200,
        "/gone": 404,
    }
