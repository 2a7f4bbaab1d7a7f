"""The commands of the Procfile, as they are started from a clone or from where pip has installed the project."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

from honcho.environ import parse_procfile

from crawler.home import is_clone
from crawler.settings.environment import ROOT

FILE = Path(__file__).with_name("Procfile")
_MODULES = {
    "gunicorn": "gunicorn",
    "bin/worker": "crawler.launch.worker",
    "python manage.py": "crawler.launch.site_crawler admin",
    "python -m crawler.launch.rq_dashboard": "crawler.launch.rq_dashboard",
}
"""The programs of a clone, which pip does not install, or perhaps in no folder of PATH."""


def commands(root: Path = ROOT) -> dict[str, str]:
    """A shell command for each kind of process. `root`: the folder that holds the package."""
    found: dict[str, str] = parse_procfile(FILE.read_text(encoding="utf-8")).processes
    return found if is_clone(root) else {kind: _installed(command) for kind, command in found.items()}


def _installed(command: str) -> str:
    program, module = next((one, other) for one, other in _MODULES.items() if command.startswith(one))
    return f"{shlex.quote(sys.executable)} -P -m {module}{command.removeprefix(program)}"
