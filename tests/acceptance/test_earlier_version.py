"""Real workers of the earliest version that may work beside ours, taken from the history of this repository: whoever
begins a crawl, and whoever ends it, it is exact, and no attempt is lost."""

import io
import json
import subprocess
import tarfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import pytest

from crawler.core.protocol.counters import adds_up
from tests.acceptance.test_killed import slow_site
from tests.acceptance.test_stock_workers import EXPECTED
from tests.site import Site, page
from tests.stack import OWN_WORKER, ROOT, STOCK_WORKER, Stack

pytestmark = pytest.mark.long

EARLIEST = "9480e892898a67597d177e13a5ee460ed5838a63"
"""The first commit whose messages have a version. A later one replaces it once docs/deployment.md and the changelog
say that machines cannot be upgraded from before it one after the other."""

Command = tuple[str, ...]


@pytest.fixture(scope="module")
def earlier(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the project as it was."""
    folder = tmp_path_factory.mktemp("earlier")
    try:
        command = ["git", "archive", EARLIEST]
        archive = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=60).stdout
    except (FileNotFoundError, subprocess.CalledProcessError):
        pytest.skip(f"there is no commit {EARLIEST[:7]} here: this is a shallow clone, or none")
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        files.extractall(folder, filter="data")
    return folder


@pytest.fixture
def site() -> Iterator[Site]:
    with slow_site(after=0.1).serving() as site:
        yield site


def start_workers(stack: Stack, command: Command, *folders: Path) -> list[subprocess.Popen[bytes]]:
    for folder in {*folders}:  # it is this version's code that runs
        imported = stack.run("python", "-P", "-c", "import crawler; print(crawler.__file__)", root=folder).stdout
        assert Path(imported.strip()).parent.parent == folder
    workers = [stack.spawn(*command, root=folder) for folder in folders]
    stack.wait_for(lambda: stack.redis.scard("rq:workers") == len(folders))
    return workers


def assert_exact(stack: Stack, crawl: UUID) -> None:
    receipt = stack.wait_until_finished(crawl)
    assert {name: receipt[name] for name in EXPECTED} == EXPECTED  # "retries" are none but those of the site
    assert adds_up(receipt)
    assert {row["deaths"] for row in stack.pages(crawl).values()} == {0}
    assert stack.rows("SELECT what FROM crawler_disagreement") == []
    stack.wait_for(lambda: not [key for key in stack.left_over() if stack.redis.ttl(key) < 0], 10)  # the rest expires


@pytest.mark.parametrize("command", [OWN_WORKER, STOCK_WORKER], ids=["the project's own", "stock"])
def test_side_by_side(stack: Stack, site: Site, earlier: Path, command: Command) -> None:
    start_workers(stack, command, earlier, ROOT)
    assert_exact(stack, stack.start(f"{site.url}/"))


@pytest.mark.parametrize("is_upgrade", [True, False], ids=["upgrade", "back again"])
@pytest.mark.parametrize("command", [OWN_WORKER, STOCK_WORKER], ids=["the project's own", "stock"])
def test_one_machine_after_the_other(
    stack: Stack, site: Site, earlier: Path, command: Command, is_upgrade: bool
) -> None:
    before, after = (earlier, ROOT) if is_upgrade else (ROOT, earlier)
    workers = start_workers(stack, command, before, before)
    crawl = stack.start(f"{site.url}/")
    for worker, requests in zip(workers, (20, 50), strict=True):
        stack.wait_for(lambda requests=requests: len(site.requests) > requests)  # type: ignore[misc]
        worker.terminate()
        worker.wait(20)
        stack.spawn(*command, root=after)
    assert_exact(stack, crawl)


def test_with_outcomes_that_an_earlier_version_does_not_know(stack: Stack, earlier: Path) -> None:
    """Ours closes pages as excluded and ends; the earlier one goes on alone, and one of ours ends what it cannot."""
    leaves = {f"/{kind}/{number}": page() for kind in ("old", "new") for number in range(20)}
    with Site({"/": page(*leaves), **leaves}).serving() as site:
        (ours,) = start_workers(stack, OWN_WORKER, ROOT)
        crawl = stack.start(f"{site.url}/", delay=1.0, obey_robots=False, priorities=["/old/=9"])
        stack.wait_for(lambda: len(site.requests) > 1)
        stack.run("python", "manage.py", "change", str(crawl), "--exclude", "/old/", "--delay", "0.2")
        stack.wait_for(lambda: "excluded" in stack.crawl(crawl)["outcomes"])
        ours.terminate()
        ours.wait(20)
        requests = len(site.requests)
        stack.spawn(*OWN_WORKER, root=earlier)
        stack.wait_for(lambda: len(site.requests) > requests + 3)
        stack.wait_for(lambda: len([path for path in site.hits if path.startswith("/new/")]) == 20)
        stack.start_worker()
        receipt = stack.wait_until_finished(crawl)
    assert adds_up(receipt)
    outcomes = Counter(row["outcome"] for row in stack.pages(crawl).values())
    assert dict(outcomes) == json.loads(stack.crawl(crawl)["outcomes"])
    assert (outcomes.total(), set(outcomes)) == (41, {"2xx", "excluded"})
