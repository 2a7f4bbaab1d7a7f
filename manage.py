#!/usr/bin/env python
"""Django's command line for this project: `python manage.py crawl | status | pause | dead-letters | export | ...`.

Run by a Python without the project's packages, it goes on with that of `.venv`, which `bin/up` and `bin/crawl` create.
"""

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


if __name__ == "__main__":
    use_environment()
    from crawler.launch.manage import main

    main(sys.argv)
