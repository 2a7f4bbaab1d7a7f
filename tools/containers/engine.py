"""podman and podman-compose on a machine, with storage, settings and a network of their own."""

import json
import resource
import shutil
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tools.containers.machine import Failed, Machine, Network, mounts_below

PODMAN_COMPOSE = "podman-compose==1.6.0"
COMPOSE_FILE = "deploy/compose.yaml"
HEALTH_CHECK_INTERVAL_S = 3.0
MOST = 4096  # files and processes of a container
LABEL = "com.docker.compose.service"


class Engine:
    """Containers in `folder`, where nothing is shared with other containers of the machine.

    Their commands run in `network`, those that need other machines (pull, build) outside of it.
    """

    def __init__(self, machine: Machine, folder: Path, network: Network) -> None:
        self._machine, self.folder, self._network = machine, folder, network
        self.overrides: tuple[str, ...] = ()  # further compose files
        storage = folder / "engine"
        self.storage = storage
        storage.mkdir(exist_ok=True)
        (folder / "containers.conf").write_text(containers_conf(storage, is_unified=is_unified(), limits=limits()))
        (folder / "storage.conf").write_text(storage_conf(storage))
        machine.variables |= {
            "CONTAINERS_CONF": str(folder / "containers.conf"),
            "CONTAINERS_STORAGE_CONF": str(folder / "storage.conf"),
            "BUILDAH_ISOLATION": "chroot",  # works in containers and virtual machines, too
        }

    def install_compose(self) -> None:
        """podman-compose in a virtual environment: Debian 12's own knows no conditions of `depends_on`."""
        python = self.folder / "venv" / "bin" / "python"
        if not (self.folder / "venv" / "bin" / "podman-compose").exists():
            self._machine.run(sys.executable, "-m", "venv", "--clear", str(self.folder / "venv"), limit=120)
            self._machine.run(str(python), "-m", "pip", "install", "--quiet", PODMAN_COMPOSE, limit=300)

    def podman(self, *arguments: str, limit: float = 60, check: bool = True) -> str:
        return self._machine.run(*self._network.within, "podman", *arguments, limit=limit, check=check)

    def outside(self, *arguments: str, limit: float = 600) -> str:
        """podman with the machine's network."""
        return self._machine.run("podman", *arguments, limit=limit)

    def build(self, service: str, arguments: Sequence[str], limit: float) -> None:
        """Build the image that a service builds, with further arguments for `podman build`."""
        given = f"--podman-build-args={' '.join(arguments)}"
        self._machine.run(*self._compose(given, "--profile", "browser", "build", service), limit=limit)

    def compose(self, *arguments: str, limit: float = 180) -> str:
        return self._machine.run(*self._network.within, *self._compose(*arguments), limit=limit)

    def compose_ended(self, *arguments: str, limit: float = 180) -> tuple[int, str]:
        return self._machine.ended(*self._network.within, *self._compose(*arguments), limit=limit)

    def _compose(self, *arguments: str) -> tuple[str, ...]:
        files = [word for file in (COMPOSE_FILE, *self.overrides) for word in ("-f", file)]
        return (str(self.folder / "venv" / "bin" / "podman-compose"), *files, *arguments)

    def containers(self, service: str | None = None, *, is_running: bool = True) -> list[str]:
        """Their names, in order."""
        which = [f"--filter=label={LABEL}={service}"] if service else []
        every = [] if is_running else ["--all"]
        return sorted(self.podman("ps", *every, *which, "--format={{.Names}}").split())

    def container(self, service: str) -> str:
        """The name of its first one. Raises Failed if none runs."""
        names = self.containers(service)
        if not names:
            raise Failed(f"No container of the service {service} runs.")
        return names[0]

    def inside(self, container: str, *command: str, limit: float = 60, check: bool = True) -> str:
        return self.podman("exec", container, *command, limit=limit, check=check)

    def state(self, container: str) -> dict[str, Any]:
        found: list[dict[str, Any]] = json.loads(self.podman("inspect", "--type=container", container))
        return found[0]

    def is_healthy(self, container: str) -> bool:
        """What its own health check says now."""
        code, _ = self._machine.ended(*self._network.within, "podman", "healthcheck", "run", container)
        return code == 0

    @contextmanager
    def health_checked(self) -> Iterator[None]:
        """Meanwhile the health checks run. podman's own timers need systemd and do not know this storage."""
        is_over = threading.Event()

        def check() -> None:
            while not is_over.wait(HEALTH_CHECK_INTERVAL_S):
                try:
                    for container in self.containers():
                        self.is_healthy(container)
                except Failed:  # a container that ends meanwhile
                    continue

        thread = threading.Thread(target=check, daemon=True)
        thread.start()
        try:
            yield
        finally:
            is_over.set()
            thread.join()

    def remove_all(self) -> None:
        """Containers, pods, volumes and networks; images stay."""
        self.podman("pod", "rm", "--all", "--force", "--time=5", limit=90, check=False)
        self.podman("rm", "--all", "--force", "--time=5", "--volumes", limit=90, check=False)
        self.podman("volume", "rm", "--all", "--force", check=False)
        self.podman("network", "prune", "--force", check=False)

    def remove_storage(self) -> None:
        """The images as well: the whole folder of the storage."""
        for place in mounts_below(self.storage):
            self._machine.run("umount", "--lazy", place, check=False)
        shutil.rmtree(self.storage)


def is_unified() -> bool:
    """Whether this machine has control groups of version 2 only."""
    return Path("/sys/fs/cgroup/cgroup.controllers").exists()


def limits() -> dict[str, int]:
    """How many files a container may open and processes it may start: podman's defaults, up to a million, are refused
    where root may not raise its own limits."""
    kinds = {"nofile": resource.RLIMIT_NOFILE, "nproc": resource.RLIMIT_NPROC}
    hard = {name: resource.getrlimit(kind)[1] for name, kind in kinds.items()}
    return {name: MOST if limit == resource.RLIM_INFINITY else min(limit, MOST) for name, limit in hard.items()}


def containers_conf(storage: Path, *, is_unified: bool, limits: dict[str, int]) -> str:
    """Settings of podman. crun, the default, runs nothing where control groups of version 1 are left; runc does.
    podman's name server does not respond for a moment when a container ends: it is asked again after 1 s, not 5."""
    runtime = "" if is_unified else 'runtime = "runc"\n'
    ulimits = ", ".join(f'"{name}={limit}:{limit}"' for name, limit in limits.items())
    return f"""\
[containers]
default_ulimits = [{ulimits}]
dns_options = ["timeout:1", "attempts:3"]
log_driver = "k8s-file"

[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
lock_type = "file"
{runtime}static_dir = "{storage}/static"
tmp_dir = "{storage}/state"
volume_path = "{storage}/volumes"

[network]
network_backend = "netavark"
network_config_dir = "{storage}/networks"
"""


def storage_conf(storage: Path) -> str:
    return f"""\
[storage]
driver = "overlay"
graphroot = "{storage}/images"
runroot = "{storage}/run"
"""
