"""The Procfile's processes: started together, shown line by line, replaced when one ends, ended together."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from honcho.colour import get_colours
from honcho.environ import ProcessParams, expand_processes, parse_procfile
from honcho.printer import Message, Printer

from crawler.launch.children import Children
from crawler.launch.keeper import End, Keeper, Place

GRACE = 8.0  # seconds they have to end by themselves


class Processes:
    """`counts`: how many of a kind, where it is not one. `environment`: whole; PORT in it is the first kind's."""

    def __init__(self, procfile: Path, counts: Mapping[str, int], environment: Mapping[str, str]) -> None:
        kinds = parse_procfile(procfile.read_text()).processes
        wanted = expand_processes(kinds, counts, dict(environment))
        self._directory = procfile.parent
        self._printer: Any = Printer(sys.stdout, width=max(len(each.name) for each in wanted))
        self._printing = threading.Lock()
        self._readers: list[threading.Thread] = []
        self._children = Children(GRACE)
        self._keeper = Keeper(self._children)
        for each, colour in zip(wanted, get_colours(), strict=False):  # there are colours without end
            self._keeper.add(Place(each.name, partial(self._start, each, colour)))

    def __enter__(self) -> Self:
        try:
            self._keeper.fill()
        except BaseException:
            self._children.stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._children.stop()
        self._read_rest()

    def ended(self) -> list[End]:
        """What ended by itself since this was asked before; its last lines have been shown."""
        ended = self._keeper.ended()
        if ended:
            self._read_rest()
        return ended

    def replace(self) -> None:
        """Start again what has ended, where its time has come."""
        self._keeper.fill()

    def _start(self, wanted: ProcessParams, colour: str) -> subprocess.Popen[bytes]:
        process = self._children.start(
            ["/bin/sh", "-c", wanted.cmd],
            output=subprocess.PIPE,
            directory=self._directory,
            environment=wanted.env,
        )
        reader = threading.Thread(target=self._show, args=(wanted.name, colour, process), daemon=True)
        reader.start()
        self._readers.append(reader)
        return process

    def _read_rest(self) -> None:
        """Let what the ended ones said last be shown; those that run are not waited for."""
        for reader in self._readers:
            reader.join(0.2)
        self._readers = [reader for reader in self._readers if reader.is_alive()]

    def _show(self, name: str, colour: str, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout  # noqa: S101 (a pipe was asked for)
        with process.stdout:
            for line in process.stdout:
                now = datetime.now(UTC).astimezone()
                with self._printing:
                    self._printer.write(Message(type="line", data=line, time=now, name=name, colour=colour))
