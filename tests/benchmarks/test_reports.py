"""The crawls that are made up to time the reports can be reported on, and leave nothing behind."""

from __future__ import annotations

import random

import pytest

from benchmarks.reports import forget, made_up, time_all
from crawler.models import Crawl, Page, PageFacts, PageLinks

pytestmark = pytest.mark.django_db


def test_every_report_and_comparison_is_timed(capsys: pytest.CaptureFixture[str]) -> None:
    older, newer = (made_up(120, 3, random.Random(run), run) for run in range(2))
    time_all(Crawl.objects.get(id=newer), Crawl.objects.get(id=older))
    told = capsys.readouterr().out
    assert "broken-links" in told
    assert "compare content" in told
    forget(older)
    forget(newer)
    assert not any(table.objects.exists() for table in (Crawl, Page, PageFacts, PageLinks))
