"""The settings of the engine, and the images and the site that `deploy/try` makes."""

from __future__ import annotations

import re
import threading
import tomllib
from http.server import ThreadingHTTPServer
from pathlib import Path
from urllib.request import urlopen

import pytest

from tests.containers import site
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


def test_all_pages_of_the_site_are_found_from_its_first(capfd: pytest.CaptureFixture[str]) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), site.Site) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        found, open_pages = {"/fast/0"}, ["/fast/0"]
        while open_pages:
            with urlopen(f"http://127.0.0.1:{server.server_port}{open_pages.pop()}", timeout=10) as response:
                links = set(re.findall(r'href="([^"]+)"', response.read().decode()))
            open_pages += links - found
            found |= links
        server.shutdown()
        thread.join()
    assert len(found) == site.PARTS["fast"][0]
    assert sorted(capfd.readouterr().out.split()) == sorted(found)
