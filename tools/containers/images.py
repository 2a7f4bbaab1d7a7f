"""The images that the project's image and its services stand on: pulled from their registry or, where there is none,
made from Debian's packages under the same names, in this storage alone."""

import re
import shutil
from pathlib import Path

from tools.containers.engine import Engine
from tools.containers.machine import Failed, Machine

ROOT = Path(__file__).resolve().parents[2]
DEBIAN = "trixie"
MIRROR = "http://deb.debian.org/debian"
DEBIAN_IMAGE = f"localhost/debian-{DEBIAN}-python"
STAND_INS = Path(__file__).resolve().parent / "stand_ins"


def base_of_the_image() -> str:
    """The name of the image that the project's is built on."""
    return re.findall(r"^ARG BASE=(.*)$", (ROOT / "deploy" / "Containerfile").read_text(), re.MULTILINE)[0]


def images_of_services() -> dict[str, str]:
    """The recipe of each image that deploy/compose.yaml takes from a registry, by the image's name."""
    named = re.findall(r"^    image: (\S+/\S+)$", (ROOT / "deploy" / "compose.yaml").read_text(), re.MULTILINE)
    return {name: name.rpartition("/")[2].partition(":")[0] for name in named}


def provide(machine: Machine, engine: Engine, folder: Path, mirror: str, *, may_pull: bool) -> list[str]:
    """Make sure that every image is there. Returns the names of those made here."""
    wanted = {base_of_the_image(): "", **images_of_services()}
    lacking = {name: recipe for name, recipe in wanted.items() if not (may_pull and _pulled(engine, name))}
    if lacking:
        _import_debian(machine, engine, folder, mirror)
    for name, recipe in lacking.items():
        if recipe:
            of_debian = f"--build-arg=BASE={DEBIAN_IMAGE}"
            engine.outside("build", "--quiet", "--network=host", of_debian, "--tag", name, str(STAND_INS / recipe))
        else:
            engine.outside("tag", DEBIAN_IMAGE, name)
    return list(lacking)


def _pulled(engine: Engine, name: str) -> bool:
    try:
        engine.outside("pull", "--quiet", name, limit=300)
    except Failed:
        return False
    return True


def _import_debian(machine: Machine, engine: Engine, folder: Path, mirror: str) -> None:
    """A Debian with Python, by debootstrap; kept in `folder` for the next time."""
    root = folder / DEBIAN
    archive = folder / f"{DEBIAN}.tar"
    if not archive.exists():
        shutil.rmtree(root, ignore_errors=True)
        packages = "--include=python3,python3-venv,ca-certificates"
        machine.run("debootstrap", "--variant=minbase", packages, DEBIAN, str(root), mirror, limit=900)
        policy = root / "usr" / "sbin" / "policy-rc.d"
        policy.write_text("#!/bin/sh\nexit 101\n")  # installing a package starts no service
        policy.chmod(0o755)
        without = ("--exclude=./var/cache/apt/archives/*.deb", "--exclude=./var/lib/apt/lists/*")
        unfinished = archive.with_suffix(".unfinished")
        machine.run("tar", "--create", f"--file={unfinished}", f"--directory={root}", *without, ".", limit=120)
        shutil.rmtree(root)
        unfinished.rename(archive)
    engine.outside("import", "--quiet", str(archive), DEBIAN_IMAGE, limit=180)
