"""Helpers that call a command in the test process."""

from django.core.management import call_command


def exit_code(*words: str) -> int:
    """What the command of these words ends with."""
    try:
        call_command(*words)
    except SystemExit as ended:
        return int(str(ended.code))
    return 0
