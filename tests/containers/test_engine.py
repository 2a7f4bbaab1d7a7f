"""The settings of the engine, and the images and the site that `deploy/try` makes."""

import re
import tomllib
from pathlib import Path

import pytest

from tests.containers.engine import containers_conf, storage_conf
from tests.containers.images import STAND_INS, base_of_the_image, images_of_services


@pytest.mark.parametrize("is_unified", [True, False])
def test_everything_of_the_engine_is_in_its_folder(tmp_path: Path, is_unified: bool) -> None:
    settings = tomllib.loads(containers_conf(tmp_path, is_unified=is_unified, limits={"nofile": 1024}))
    storage = tomllib.loads(storage_conf(tmp_path))["storage"]
    engine = settings["engine"]
    assert settings["containers"]["default_ulimits"] == ["nofile=1024:1024"]
    assert ("runtime" in engine) is not is_unified
    places = [engine["static_dir"], engine["tmp_dir"], engine["volume_path"], settings["network"]["network_config_dir"]]
    assert all(Path(place).parent == tmp_path for place in [*places, storage["graphroot"], storage["runroot"]])


def test_every_image_of_a_service_can_be_made_without_a_registry() -> None:
    assert len(images_of_services()) == 2
    for name in images_of_services().values():
        recipe = (STAND_INS / name / "Containerfile").read_text()
        assert "\nARG BASE\nFROM ${BASE}\n" in recipe
        for copied in re.findall(r"^COPY (\S+)", recipe, re.MULTILINE):
            assert (STAND_INS / name / copied).exists()


def test_the_base_of_the_image_has_the_python_of_the_debian_that_stands_in_for_it() -> None:
    assert "/python:3.13-" in base_of_the_image()
