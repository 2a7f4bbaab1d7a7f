"""What the command `bin/chaos` is told."""

from __future__ import annotations

import pytest

from crawler.core.protocol.collectors import MAX_COLLECTORS
from tools.chaos.__main__ import _arguments


def test_a_crawl_has_one_collector_unless_more_are_asked_for() -> None:
    assert _arguments([]).collectors == 1
    assert _arguments(["--collectors", "3"]).collectors == 3


@pytest.mark.parametrize("number", ["0", f"{MAX_COLLECTORS + 1}", "many"])
def test_no_other_number_of_collectors_is_taken_than_the_setting_takes(
    number: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        _arguments(["--collectors", number])
    assert ended.value.code == 2
    assert "--collectors" in capsys.readouterr().err
