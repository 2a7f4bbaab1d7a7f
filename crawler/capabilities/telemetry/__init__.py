"""Traces for OpenTelemetry, and errors for Sentry.

conf          their settings
tracing       the spans of a crawl, and where they are sent
start_up      begins both in a process
job_contexts  a span for each tick and batch
page_steps    a span for each page
subscribers   the span of a crawl, when it is over
"""

SEAMS = ("start_up", "job_contexts", "page_steps", "subscribers")
