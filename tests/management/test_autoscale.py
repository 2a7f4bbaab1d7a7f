"""`manage.py autoscale`; `tests/acceptance/test_autoscaling.py` has it at work."""

import pytest

from tests.management.calls import exit_code


def test_a_range_that_ends_before_it_begins_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code("autoscale", "--min", "3", "--max", "2") == 2
    assert capsys.readouterr().err == "--min must be from 0 to --max (2), not 3.\n"
