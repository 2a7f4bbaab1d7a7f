"""Django's command line with this project's commands: `manage.py` of a clone, `site-crawler` where pip installed it."""

from __future__ import annotations

import atexit
import gc
import os
import sys
from pathlib import Path

COMMANDS = Path(__file__).parents[1] / "management" / "commands"


def main(arguments: list[str]) -> None:
    """`arguments`: the program, the command and its own. Raises SystemExit."""
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line

    gc.set_threshold(50_000)  # objects; imports leave no garbage, and collections would take a tenth of a start
    atexit.register(gc.freeze)  # Python examines all objects at exit that are not frozen: a fifth of a short command
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "crawler.settings.development")
    try:
        execute_from_command_line(as_named(arguments))
    except ImproperlyConfigured as error:
        sys.exit(f"{error}")


def as_named(arguments: list[str]) -> list[str]:
    """The arguments with our command's name as its file has it: `dead-letters` is in `dead_letters.py`."""
    ours = commands()
    for place, word in enumerate(arguments[1:3], start=1):
        if (name := word.replace("-", "_")) in ours:
            return [*arguments[:place], name, *arguments[place + 1 :]]
        if word != "help":  # which has the name of a command behind it
            break
    return arguments


def commands() -> list[str]:
    """The names of this project's commands, as their files have them."""
    return sorted(file.stem for file in COMMANDS.glob("[!_]*.py"))
