"""What `deploy/Containerfile` and `deploy/compose.yaml` say of a container, and a root folder as the image has it.

No engine is needed: a host is a namespace already, and its supervisor takes the part of Docker and of tini. The files
are those the image copies, at their places and read-only; the rest of the project is hidden, so that a process that
needs more fails here as it would in the image. Not honoured: user, capabilities, limits of memory.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from tools.hosts.units import Unit, seconds

ROOT = Path(__file__).resolve().parents[2]
CONTAINERFILE = ROOT / "deploy" / "Containerfile"
COMPOSE = ROOT / "deploy" / "compose.yaml"
SECRETS = "/run/secrets"
FRESH = ("app", "venv", "data", "tmp", "run")  # what the image and the engine provide
DOCKER_STOP_SECONDS = 10.0


def read_container(name: str, root: Path, given: Mapping[str, str], command: Sequence[str] | None = None) -> Unit:
    """The container of a service of the compose file. `root`: see `make_root`. `given`: values of settings; those that
    the file does not name are added, as an override file does. `command`: in place of the file's."""
    service: Mapping[str, Any] = yaml.safe_load(COMPOSE.read_text())["services"][name]
    told = {key: _interpolated(str(value), given) for key, value in service["environment"].items()}
    files = {key.removesuffix("_FILE") for key in told}
    variables = {**image_environment(), **told, **{key: value for key, value in given.items() if key not in files}}
    return Unit(
        name=f"container-{name}",
        command=(_words("ENTRYPOINT")[-1], *(command or service["command"])),
        directory=_last("WORKDIR"),
        environment=tuple(variables.items()),
        restart="always" if service["restart"] in ("always", "unless-stopped") else service["restart"],
        start_limit_seconds=0.0,
        kill_mode="mixed",  # tini hands the signal to the process it has started; its end is that of the container
        kill_signal=_last("STOPSIGNAL"),
        stop_seconds=seconds(service["stop_grace_period"]) if "stop_grace_period" in service else DOCKER_STOP_SECONDS,
        root=str(root),
    )


def secret_files(name: str, given: Mapping[str, str]) -> dict[str, str]:
    """Name and content of each file that the service is given in /run/secrets."""
    service = yaml.safe_load(COMPOSE.read_text())["services"][name]
    named = {key: Path(value) for key, value in service["environment"].items() if key.endswith("_FILE")}
    return {file.name: given[key.removesuffix("_FILE")] for key, file in named.items()}


def image_environment() -> dict[str, str]:
    """What the image sets."""
    pairs = [pair.partition("=") for pair in shlex.split(_last("ENV"))]
    path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    return {name: value.replace("$PATH", path) for name, _, value in pairs}


def copied_files() -> Iterator[tuple[Path, str]]:
    """What the image has of the project: the file or folder here, and where it is there."""
    for line in _instructions("COPY"):
        *sources, target = shlex.split(line)
        if sources[0].startswith("--") or not target.startswith("/app"):
            continue
        for source in sources:
            here = ROOT / source
            yield here, target + here.name if target.endswith("/") else target


def make_root(root: Path, data: Path, secrets: Path, shown: Sequence[Path]) -> None:
    """Mount a root folder of the image, in the mount namespace of the caller: this machine's folders, but those of the
    image, and an empty one in the project's place. `data`: the volume. `shown`: folders that tests need there."""
    root.mkdir(exist_ok=True)
    _mount("-t", "tmpfs", "tmpfs", root)
    for entry in sorted(Path("/").iterdir()):
        inside = root / entry.name
        if entry.is_symlink():
            inside.symlink_to(entry.readlink())
        elif entry.is_dir() and entry.name not in FRESH:
            inside.mkdir()
            _mount("--rbind", entry, inside)
    if (root / ROOT.relative_to("/")).is_dir():
        _mount("-t", "tmpfs", "tmpfs", root / ROOT.relative_to("/"))
    for name in FRESH:
        (root / name).mkdir(exist_ok=True)
    for folder in shown:
        _bind(folder, root / folder.relative_to("/"))
    for here, there in (*copied_files(), (Path(sys.prefix), "/venv"), (secrets, SECRETS)):
        _bind(here, root / there.lstrip("/"), "-o", "ro")
    _bind(data, root / "data")


def _bind(here: Path, there: Path, *options: str) -> None:
    if here.is_dir():
        there.mkdir(parents=True, exist_ok=True)
    else:
        there.parent.mkdir(parents=True, exist_ok=True)
        there.touch()
    _mount("--bind", *options, here, there)


def _mount(*arguments: str | Path) -> None:
    subprocess.run(["mount", *arguments], check=True)


def _instructions(name: str) -> list[str]:
    lines = CONTAINERFILE.read_text().replace("\\\n", " ").splitlines()
    return [line.removeprefix(f"{name} ").strip() for line in lines if line.startswith(f"{name} ")]


def _last(name: str) -> str:
    return _instructions(name)[-1]


def _words(name: str) -> list[str]:
    """Of an instruction in the form of a list."""
    return [str(word) for word in yaml.safe_load(_last(name))]


def _interpolated(text: str, given: Mapping[str, str]) -> str:
    """With the value of each ${NAME:-default}, as compose has it."""
    return re.sub(r"\$\{(\w+):-([^}]*)\}", lambda found: given.get(found[1]) or found[2], text)
