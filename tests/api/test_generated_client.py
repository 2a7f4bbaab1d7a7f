"""A client that openapi-python-client generates from the OpenAPI document: it has every operation, and they work."""

import importlib
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

from tests.site import Site
from tests.stack import Stack

pytestmark = pytest.mark.long  # what it is generated from is in tests/golden and tests/api/test_document.py

PACKAGE = "client_of_the_crawler"
SECONDS = 60.0


@pytest.fixture(scope="module")
def document(server: tuple[Stack, str]) -> dict[str, Any]:
    """As the server gives it out."""
    with urlopen(f"{server[1]}/api/v1/openapi.json", timeout=20) as answer:
        told: dict[str, Any] = json.load(answer)
    return told


@pytest.fixture(scope="module")
def generated(document: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """The folder of the package, which can be imported; and what the generator had to say."""
    folder = tmp_path_factory.mktemp("generated")
    (folder / "openapi.json").write_text(json.dumps(document))
    (folder / "config.yaml").write_text("post_hooks: []\n")  # they would make it pretty
    generate = ["generate", "--path", "openapi.json", "--config", "config.yaml", "--meta", "none"]
    done = subprocess.run(
        [sys.executable, "-m", "openapi_python_client", *generate, "--output-path", PACKAGE],
        check=False,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    assert done.returncode == 0, done.stderr
    sys.path.insert(0, str(folder))
    yield folder / PACKAGE, done.stdout + done.stderr
    sys.path.remove(str(folder))
    for name in [name for name in sys.modules if name.partition(".")[0] == PACKAGE]:
        del sys.modules[name]


def operations(document: dict[str, Any]) -> list[tuple[str, str]]:
    """The tag and the name of each."""
    return [
        (operation.get("tags", ["default"])[0].lower(), operation["operationId"])
        for methods in document["paths"].values()
        for operation in methods.values()
    ]


def test_every_operation_is_made_and_the_generator_warns_of_nothing(
    document: dict[str, Any], generated: tuple[Path, str]
) -> None:
    folder, printed = generated
    made = {(file.parent.name, file.stem) for file in folder.glob("api/*/*.py") if file.stem != "__init__"}
    assert made == set(operations(document))
    assert len(made) == len(operations(document)) > 60
    assert "warning" not in printed.lower(), printed
    for tag, name in made:
        assert callable(importlib.import_module(f"{PACKAGE}.api.{tag}.{name}").sync_detailed)


def test_five_of_its_operations_work(
    server: tuple[Stack, str], small_site: Site, document: dict[str, Any], generated: tuple[Path, str]
) -> None:
    stack, base_url = server
    made = importlib.import_module(PACKAGE)
    models = importlib.import_module(f"{PACKAGE}.models")
    tag_of = {name: tag for tag, name in operations(document)}

    def call(name: str, *values: Any, **named: Any) -> Any:
        module = importlib.import_module(f"{PACKAGE}.api.{tag_of[name]}.{name}")
        answer = module.sync_detailed(*values, client=client, **named)
        assert answer.status_code < 300, answer.content
        return answer.parsed

    with made.AuthenticatedClient(base_url=base_url, token=stack.env["TOKEN"]) as client:
        begun = call("crawls_create_crawl", body=models.CrawlStart(start_urls=[f"{small_site.url}/"], max_pages=7))
        assert (type(begun).__name__, begun.options["max_pages"]) == ("CrawlDetail", 7)
        theirs = call("firecrawl_crawl", body=models.CrawlRequest(url=f"{small_site.url}/", limit=5))
        assert (theirs.success, theirs.warning) == (True, None)
        listed = call("crawls_list_crawls", limit=2)
        assert [str(crawl.id) for crawl in listed.items] == [theirs.id, str(begun.id)]
        over = wait_for(lambda: call("crawls_get_crawl", begun.id), lambda crawl: crawl.state == "finished")
        assert (over.receipt["fetched"], over.progress.open_) == (3, 0)
        pages = call("pages_list_pages", begun.id, http_status=404)
        assert [page.url for page in pages.items] == [f"{small_site.url}/missing"]


def wait_for(look: Callable[[], Any], is_so: Callable[[Any], bool]) -> Any:
    deadline = time.monotonic() + SECONDS
    while not is_so(seen := look()):
        assert time.monotonic() < deadline, seen
        time.sleep(0.1)
    return seen
