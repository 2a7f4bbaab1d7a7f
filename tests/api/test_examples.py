"""The examples of docs/api.md, run as they stand there against a real server, worker and site."""

import re
import shutil
from pathlib import Path

import pytest

from tests.site import Site
from tests.stack import ROOT, Stack

DOCUMENT = (ROOT / "docs" / "api.md").read_text()


def examples(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", DOCUMENT, re.DOTALL)


def here(example: str, base_url: str, small_site: Site) -> str:
    """The example with this server's address and the small site's."""
    return example.replace("http://127.0.0.1:8000", base_url).replace("https://example.com", small_site.url)


@pytest.mark.long
def test_the_python_example_lists_broken_pages_and_where_they_are_linked(
    server: tuple[Stack, str], small_site: Site, python: str
) -> None:
    stack, base_url = server
    [example] = examples("python")
    printed = stack.run(python, "-c", here(example, base_url, small_site)).stdout
    assert "finished 3 pages fetched" in printed
    assert f"404 {small_site.url}/missing\n  linked from {small_site.url}/ as" in printed


def test_the_curl_examples_start_a_crawl_and_follow_it_to_its_end(
    server: tuple[Stack, str], small_site: Site, tmp_path: Path
) -> None:
    stack, base_url = server
    assert shutil.which("curl")
    start, upload, follow, firecrawl = (here(example, base_url, small_site) for example in examples("sh"))
    start = re.sub(r"export TOKEN=.*", "", start)
    script = f"set -e\ncd {tmp_path}\n{start}\n{upload}\necho\n"
    script += 'CRAWL=$(curl --silent -H "Authorization: Bearer $TOKEN" $API/crawls'
    script += f' | grep -o \'"id": *"[^"]*\' | head -1 | cut -d\'"\' -f4)\n{follow}\n{firecrawl}'
    printed = stack.run("bash", "-c", script).stdout
    assert '"state": "running"' in printed
    assert "event: finished" in printed
    assert '"success": true' in printed
