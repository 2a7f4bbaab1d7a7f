"""The extras of the package: what `pip install site-crawler` leaves out, and what to type where it is wanted.

pyproject.toml has the versions, docs/deployment.md this table.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

import msgspec

from crawler.home import NAME, is_clone

_ROOT = Path(__file__).resolve().parents[1]
_ENVIRONMENT = Path(sys.prefix)


class Extra(msgspec.Struct, frozen=True):
    """Packages for one purpose, without which everything else works."""

    name: str  # in pyproject.toml
    purpose: str  # what cannot be done without it, with its verb: the beginning of a sentence
    packages: tuple[str, ...]  # those it asks for itself; a message names the first
    modules: tuple[str, ...]  # by which it is known to be installed
    pinned_in: str = "requirements.txt"  # the file of a clone that installs it; "" = none does

    @property
    def is_installed(self) -> bool:
        return all(find_spec(module) is not None for module in self.modules)

    @property
    def missing(self) -> str:
        """What is missing and what to type, in one sentence; "" if it is installed. Nothing stands behind the line to
        type, so that it can be copied."""
        if self.is_installed:
            return ""
        return f"{self.purpose} {self.packages[0].partition('[')[0]}, which is not installed: {self.install_line()}"

    def install_line(self, root: Path = _ROOT, environment: Path = _ENVIRONMENT) -> str:
        """What to type. `root`: the folder that holds the package; `environment`: that of this Python."""
        if not is_clone(root):
            return _installer(environment).format(f"{NAME}[{self.name}]")
        package = f'"{self.packages[0]}"' if "[" in self.packages[0] else self.packages[0]
        return f"pip install -r {self.pinned_in}" if self.pinned_in else f"pip install {package}"


def _installer(environment: Path) -> str:
    """How to install a package there, with {} in its place."""
    found = next((line for file, line in _INSTALLERS.items() if (environment / file).is_file()), "")
    if not found and environment.parent.name.startswith("archive-v"):  # of uvx, in its cache
        return 'uvx --from "{}" site-crawler'
    return found or 'pip install "{}"'


_INSTALLERS = {"pipx_metadata.json": 'pipx install --force "{}"', "uv-receipt.toml": 'uv tool install "{}"'}
"""A file that a program leaves in the environments it makes -> what to type."""


PARQUET = Extra("parquet", "Parquet files need", ("pyarrow",), ("pyarrow",))
XLSX = Extra("xlsx", "Excel workbooks need", ("xlsxwriter",), ("xlsxwriter",))
WARC = Extra("warc", "WARC archives need", ("warcio",), ("warcio",))
MARKDOWN = Extra("markdown", "Markdown of pages needs", ("html-to-markdown", "markdownify"), ("markdownify",))
XPATH = Extra("xpath", "XPath in extraction rules needs", ("lxml",), ("lxml",))
DASHBOARD = Extra("dashboard", "RQ's dashboard needs", ("rq-dashboard", "six"), ("rq_dashboard",))
BROWSER = Extra(
    "browser", "Rendering pages in a browser needs", ("playwright",), ("playwright",), "requirements-browser.txt"
)
SCRAPY = Extra("scrapy", "The engine Scrapy needs", ("scrapy",), ("scrapy",), "requirements-scrapy.txt")
S3 = Extra(
    "s3",
    "Content in a bucket (CRAWLER_CONTENT_STORAGE) needs",
    ("django-storages[s3]",),
    ("storages", "boto3"),
    "requirements-s3.txt",
)
POSTGRES = Extra("postgres", "PostgreSQL (DATABASE_URL) needs", ("psycopg[binary]",), ("psycopg",), "")
AUTH = Extra(
    "auth",
    "A second factor and single sign-on (CRAWLER_ALLAUTH) need",
    ("django-allauth[mfa,socialaccount]",),
    ("allauth",),
    "requirements-auth.txt",
)
TELEMETRY = Extra(
    "telemetry",
    "Traces (OTEL_EXPORTER_OTLP_ENDPOINT) need",
    ("opentelemetry-sdk", "opentelemetry-exporter-otlp-proto-http"),
    ("opentelemetry",),
    "requirements-telemetry.txt",
)
SENTRY = Extra(
    "sentry", "Errors for Sentry (SENTRY_DSN) need", ("sentry-sdk",), ("sentry_sdk",), "requirements-telemetry.txt"
)
CURL = Extra("curl", "Requests by libcurl (CRAWLER_HTTP_CLIENT) need", ("pycurl",), ("pycurl",), "")

EXTRAS = (PARQUET, XLSX, WARC, MARKDOWN, XPATH, DASHBOARD, BROWSER, SCRAPY, S3, POSTGRES, AUTH, TELEMETRY, SENTRY, CURL)
ALL = "all"
"""The extra with all of them."""
