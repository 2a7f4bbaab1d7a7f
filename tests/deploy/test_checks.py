"""What `deploy/try` accepts of containers and receipts, and the settings of its engine."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from tools.containers.checks import PLACES, Check, confined, exact, receipt_in, sandboxed
from tools.containers.engine import containers_conf, storage_conf
from tools.containers.images import STAND_INS, base_of_the_image, images_of_services

STATUS = """\
Name:\ttini
Uid:\t10001\t10001\t10001\t10001
Gid:\t10001\t10001\t10001\t10001
CapInh:\t0000000000000000
CapPrm:\t0000000000000000
CapEff:\t0000000000000000
CapBnd:\t0000000000000000
CapAmb:\t0000000000000000
NoNewPrivs:\t1
"""
MAY_WRITE = [place for place, may in PLACES.items() if may]
RECEIPT = {"state": "finished", "discovered": 2, "fetched": 2, "failed": 0, "cancelled": 0}
BOTH = ["/fast/0", "/fast/1"]
ZYGOTE = "chrome --type=zygote"


@pytest.mark.parametrize(
    ("checks", "are_kept"),
    [
        (confined("web", STATUS, MAY_WRITE), True),
        (confined("web", STATUS.replace("Uid:\t10001", "Uid:\t0"), MAY_WRITE), False),
        (confined("web", STATUS, [*MAY_WRITE, "/app"]), False),
        (exact(RECEIPT, BOTH, 2), True),
        (exact(RECEIPT, [*BOTH, "/fast/1"], 2), False),
        ([sandboxed(["chrome --headless", f"{ZYGOTE} --no-zygote-sandbox", ZYGOTE])], True),
        ([sandboxed(["chrome --headless", ZYGOTE, "chrome --type=renderer --no-sandbox"])], False),
    ],
)
def test_it_accepts_what_keeps_the_promises_alone(checks: list[Check], are_kept: bool) -> None:
    assert all(check.is_kept for check in checks) is are_kept


def test_the_receipt_is_found_between_other_lines() -> None:
    assert receipt_in('Starting ...\n{"state": "finished"}\n0\n') == {"state": "finished"}


def test_everything_of_the_engine_is_in_its_folder(tmp_path: Path) -> None:
    settings: dict[str, Any] = tomllib.loads(containers_conf(tmp_path, is_unified=True, limits={"nofile": 1024}))
    storage = tomllib.loads(storage_conf(tmp_path))["storage"]
    places = [settings["engine"]["static_dir"], settings["network"]["network_config_dir"], storage["graphroot"]]
    assert all(Path(place).parent == tmp_path for place in places)


def test_every_image_of_a_service_can_be_made_without_a_registry() -> None:
    for name in images_of_services().values():
        assert "\nARG BASE\nFROM ${BASE}\n" in (STAND_INS / name / "Containerfile").read_text()
    assert "/python:3.13-" in base_of_the_image()
