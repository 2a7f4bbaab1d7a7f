"""`manage.py extract` tests rules on one page."""

import json
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from tests.golden.masking import masked
from tests.management.calls import exit_code
from tests.site import Site


@pytest.fixture
def rules(tmp_path: Path) -> str:
    file = tmp_path / "rules.yaml"
    file.write_text("heading: h1\nlinks: {selector: a, attribute: href, type: url, many: true}\nprice: b\n")
    return str(file)


def test_it_shows_what_each_rule_finds(
    rules: str, capsys: pytest.CaptureFixture[str], golden: SnapshotAssertion
) -> None:
    with Site({"/": "<h1>Kettles</h1><a href=a></a><a href=b></a>"}).serving() as site:
        words = "extract", site.url, "--fields", rules, "--allow-private"
        assert exit_code(*words) == 0
        assert masked(capsys.readouterr().out, {site.url: "SITE"}) == golden
        assert exit_code(*words, "--json") == 0
        told = json.loads(capsys.readouterr().out)
        assert told["fields"] == {"heading": "Kettles", "links": [f"{site.url}/a", f"{site.url}/b"], "price": None}
        assert told["notes"] == {"price": "nothing matches the selector"}


def test_a_page_that_cannot_be_had_is_told(rules: str, capsys: pytest.CaptureFixture[str]) -> None:
    with Site({}).serving() as site:
        assert exit_code("extract", f"{site.url}/a", "--fields", rules, "--allow-private") == 1
        assert f"{site.url}/a could not be tested: the server returned 404" in capsys.readouterr().err
        assert exit_code("extract", f"{site.url}/a", "--fields", rules) == 2
        assert "is refused" in capsys.readouterr().err
        assert exit_code("extract", f"{site.url}/a", "--fields", f"{rules}.not") == 2
