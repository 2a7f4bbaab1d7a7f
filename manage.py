#!/usr/bin/env python
"""Django's command line for this project: `python manage.py crawl | status | pause | dead-letters | export | ...`.

Run by a Python without the project's packages, it goes on with that of `.venv`, which `bin/up` and `bin/crawl` create.
"""

import atexit
import gc
import os
import sys
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parent
NEEDED = ("django", "environ", "django_rq", "msgspec")
NOT_INSTALLED = (
    "The crawler's packages are not installed for this Python, and there is no .venv in {root}. "
    "Run bin/up or bin/crawl there once, which create it; or install them: pip install -r requirements.txt"
)


def use_environment() -> None:
    """Go on with the Python of `.venv` if this one lacks the project's packages."""
    if all(find_spec(package) for package in NEEDED):
        return
    environment = ROOT / ".venv"
    python = environment / "bin" / "python"
    if not os.access(python, os.X_OK) or Path(sys.prefix).resolve() == environment.resolve():
        sys.exit(NOT_INSTALLED.format(root=ROOT))
    os.execv(python, [str(python), *sys.argv])  # noqa: S606  (no shell is needed)


def commands() -> list[str]:
    """The names of this project's commands, as their files have them."""
    from django.core.management import find_commands  # once it is known to be installed

    return find_commands(str(ROOT / "crawler" / "management"))


def as_named(arguments: list[str]) -> list[str]:
    """The arguments with our command's name as its file has it: `dead-letters` is in `dead_letters.py`."""
    ours = commands()
    for place, word in enumerate(arguments[1:3], start=1):
        if (name := word.replace("-", "_")) in ours:
            return [*arguments[:place], name, *arguments[place + 1 :]]
        if word != "help":  # which has the name of a command behind it
            break
    return arguments


def main() -> None:
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line

    gc.set_threshold(50_000)  # objects; imports leave no garbage, and collections would take a tenth of a start
    atexit.register(gc.freeze)  # Python examines all objects at exit that are not frozen: a fifth of a short command
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "crawler.settings.development")
    try:
        execute_from_command_line(as_named(sys.argv))
    except ImproperlyConfigured as error:
        sys.exit(f"{error}")


if __name__ == "__main__":
    use_environment()
    main()
