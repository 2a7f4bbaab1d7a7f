"""The profile by part counts each sample once, in the part that it belongs to first."""

from __future__ import annotations

from pathlib import Path

from tools.bench.parts import by_part, samples, told

RAW = """\
<module> (rq/cli:1);Worker.work (crawler/worker.py:80);fetch (crawler/jobs.py:33);get (crawler/http/client.py:71) 30
<module> (rq/cli:1);Worker.work (crawler/worker.py:80);fetch (crawler/jobs.py:33);_read (crawler/fetcher/page.py:152) 60
<module> (rq/cli:1);Worker.work (crawler/worker.py:80);fetch (crawler/jobs.py:33);work (crawler/fetcher/loop.py:99) 8
<module> (rq/cli:1);Worker.work (crawler/worker.py:80);dequeue (rq/queue.py:3) 2
<module> (rq/cli:1);import_module (importlib:1) 500
"""


def test_each_sample_belongs_to_one_part(tmp_path: Path) -> None:
    (tmp_path / "one.raw").write_text(RAW)
    found = by_part(samples([tmp_path / "one.raw"]))
    assert dict(found) == {
        "ask for the page: HTTP": 30,
        "read the page: links, title, directives": 60,
        "the rest of a fetch job": 8,
        "RQ": 2,
    }


def test_samples_are_told_as_milliseconds_a_page(tmp_path: Path) -> None:
    (tmp_path / "one.raw").write_text(RAW)
    lines = told(by_part(samples([tmp_path / "one.raw"])), rate=100, pages=1000).splitlines()
    assert lines[0] == "  0.60 ms   60%  read the page: links, title, directives"
    assert lines[-1] == "  1.00 ms        together"
