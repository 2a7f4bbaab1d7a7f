"""Several collectors store the results of one crawl, in workers that die."""

import pytest

from tests.acceptance.test_killed import assert_complete, kill_with_children, slow_site
from tests.postgresql import PostgresStack


@pytest.mark.long
@pytest.mark.parametrize("dies", [False, True], ids=["nobody dies", "one is killed"])
def test_a_crawl_with_three_collectors_is_exact(postgres_stack: PostgresStack, dies: bool) -> None:
    """On PostgreSQL collectors wait for each other at the crawl's row only; in SQLite a writer locks the database."""
    stack = postgres_stack
    stack.env["CRAWLER_COLLECTORS"] = "3"
    with slow_site().serving() as site:
        workers = [stack.start_worker() for _ in range(2)]
        crawl = stack.start(f"{site.url}/", concurrency=8)
        if dies:
            stack.wait_for(lambda: len(site.requests) > 20)
            kill_with_children(workers[0].pid)
        assert_complete(stack, stack.wait_until_finished(crawl))
    assert stack.rows("SELECT what FROM crawler_disagreement") == []
    assert "store results of the crawl" in stack.log(), "the first collector stored all: this shows nothing"
