"""The commands `bin/chaos` and, with the word `hosts` first, `bin/hosts`."""

from __future__ import annotations

import sys
from importlib import import_module

if __name__ == "__main__":
    of_hosts = sys.argv[1:2] == ["hosts"]
    command = import_module(f"tools.chaos.{'hosts' if of_hosts else 'one_machine'}.command")
    sys.exit(command.main(sys.argv[1 + of_hosts :]))
