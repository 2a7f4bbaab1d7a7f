"""Gives RQ's own programs, `rq` and `rq-dashboard`, the Redis of this project, `.env` included.

A start-up file in the virtual environment that `bin/_setup` creates (see `install`) executes this file in these
programs only, before they read their settings. What the user has set in the environment or on the command line counts.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, MutableMapping, Sequence
from pathlib import Path

DASHBOARD = "rq-dashboard"


def main() -> None:
    """Nothing is raised: `site`, which executes this, would print a traceback. An invalid setting ends the program with
    a message, because RQ would use another server; any other error leaves RQ's defaults."""
    program = Path(sys.argv[0]).name
    try:
        prepare(program, sys.argv[1:], os.environ, Path(sys.prefix))
    except Exception as error:  # noqa: BLE001 (Python's start must not fail)
        is_setting = type(error).__name__ == "ImproperlyConfigured"
        print(error if is_setting else f"{program} cannot read this project's settings: {error}", file=sys.stderr)
        if is_setting:
            os._exit(1)


def prepare(program: str, arguments: Sequence[str], variables: MutableMapping[str, str], prefix: Path) -> None:
    """Set the variables that the program reads, where the user has not. `prefix`: the virtual environment."""
    root, here = prefix.resolve().parent, Path.cwd()
    if here != root and (here / "crawler" / "jobs.py").exists():
        return  # the folder of another copy of the project, with this environment active
    sys.path.append(str(root))
    from crawler.settings import environment

    if root != environment.ROOT:
        return  # another project's modules were found
    if program == DASHBOARD:
        from crawler.launch import rq_dashboard  # which also escapes what the pages show

        defaults = rq_dashboard.variables()
    elif _has_config(arguments, variables):
        return
    else:
        from crawler.redis_client import CONNECTION_CLASS

        defaults = {"RQ_REDIS_URL": environment.redis_url(), "RQ_CONNECTION_CLASS": CONNECTION_CLASS}
    for name, value in defaults.items():
        variables.setdefault(name, value)


def _has_config(arguments: Sequence[str], variables: Mapping[str, str]) -> bool:
    """Whether the user names a module with RQ's settings, over which RQ_REDIS_URL would go."""
    return "RQ_CONFIG" in variables or any(word.startswith(("-c", "--config")) for word in arguments)


if __name__ == "rq_environment":
    main()
