#!/usr/bin/env python
"""Django's command line for this project: `python manage.py crawl | status | pause | dead-letters | export | ...`."""

import os
import sys
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line, find_commands

OURS = find_commands(str(Path(__file__).resolve().parent / "crawler" / "management"))


def as_named(arguments: list[str]) -> list[str]:
    """The arguments with our command's name as its file has it: `dead-letters` is in `dead_letters.py`."""
    for place, word in enumerate(arguments[1:3], start=1):
        if (name := word.replace("-", "_")) in OURS:
            return [*arguments[:place], name, *arguments[place + 1 :]]
        if word != "help":  # which has the name of a command behind it
            break
    return arguments


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "settings.development")
    try:
        execute_from_command_line(as_named(sys.argv))
    except ImproperlyConfigured as error:
        sys.exit(f"{error}")
