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

from tools.chaos.hosts.units import RANGE, Unit

ROOT = Path(__file__).resolve().parents[3]
CONTAINERFILE = ROOT / "deploy" / "Containerfile"
COMPOSE = ROOT / "deploy" / "compose.yaml"
SECRETS = "/run/secrets"
FRESH = ("app", "venv", "data", "tmp", "run")  # what the image and the engine provide
DOCKER_STOP_SECONDS, AUTOSCALER_STOP_SECONDS = 10.0, 20.0  # the second as docs/containers.md has it
OF_MACHINE = ("DJANGO_SETTINGS_MODULE", "CRAWLER_DATA_DIR", "RQ_REDIS_URL")  # a container has its own
SERVICES = {"worker@": "worker", "autoscale": "worker"}  # name of a unit -> service of the compose file


def containers_of(services: Sequence[str], values: Mapping[str, str], root: Path, secrets: Path) -> list[Unit]:
    """The containers that a host runs, with these settings; an autoscaler is one for workers with another command.
    `root`: see `make_root`. Writes the files of the secrets."""
    secrets.mkdir()
    given = {key: value for key, value in values.items() if key not in OF_MACHINE}
    return [_container(service, root, given, secrets) for service in services]


def _container(name: str, root: Path, given: Mapping[str, str], secrets: Path) -> Unit:
    """`given`: values of settings; those that the file does not name are added, as an override file does."""
    compose = SERVICES.get(name, name)
    service: Mapping[str, Any] = yaml.safe_load(COMPOSE.read_text())["services"][compose]
    if service["restart"] not in ("always", "unless-stopped"):
        raise ValueError(f"{compose}: the hosts of these tests know only containers that are always restarted")
    told = {key: _interpolated(str(value), given) for key, value in service["environment"].items()}
    files = {key.removesuffix("_FILE"): Path(value).name for key, value in told.items() if key.endswith("_FILE")}
    for key, file in files.items():
        (secrets / file).write_text(given[key])
    named = {key.removesuffix("_FILE") for key in told}
    variables = {**image_environment(), **told, **{key: value for key, value in given.items() if key not in named}}
    grace = float(str(service.get("stop_grace_period", DOCKER_STOP_SECONDS)).removesuffix("s"))
    scales = name == "autoscale"
    return Unit(
        name=f"container-{compose}",
        command=(_words("ENTRYPOINT")[-1], *(("autoscale", *RANGE) if scales else service["command"])),
        directory=_last("WORKDIR"),
        environment=tuple(variables.items()),
        stop_signal=_last("STOPSIGNAL"),  # tini hands it to the process it has started, whose end is the container's
        stop_seconds=AUTOSCALER_STOP_SECONDS if scales else grace,
        root=str(root),
    )


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
    """Mount a root folder of the image, in the mount namespace of the caller: this machine's folders, except the
    image's, and an empty one in the project's place. `data`: the volume. `shown`: folders that tests need there."""
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
