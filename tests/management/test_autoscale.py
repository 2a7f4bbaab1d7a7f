"""`manage.py autoscale`; `tests/acceptance/test_autoscaling.py` has it at work."""

import pytest
from django.core.management import CommandError, call_command


def test_a_range_that_ends_before_it_begins_is_refused() -> None:
    with pytest.raises(CommandError, match=r"--min must be from 0 to --max \(2\), not 3"):
        call_command("autoscale", "--min", "3", "--max", "2")
