"""A process that has outlived its worker is found."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tools.chaos.browser_processes import orphans


@pytest.mark.skipif(sys.platform != "linux", reason="it reads /proc")
@pytest.mark.parametrize(
    ("words", "is_found"), [(["crawler.capabilities.scrapy.process"], True), (["something.else"], False)]
)
def test_a_scrapy_without_its_worker_is_found(words: list[str], is_found: bool) -> None:
    sleeping = "print(flush=True); import time; time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", sleeping, *words], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            assert any(each.startswith(f"{process.pid} ") for each in orphans()) is is_found
        finally:
            process.kill()
