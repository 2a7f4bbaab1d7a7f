"""The alert rules and the dashboard ask for metrics that `/metrics` has, and Prometheus can read what they ask."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.documented import DOCS
from tests.stack import ROOT

RULES = ROOT / "deploy" / "prometheus" / "crawler.yml"
DASHBOARD: dict[str, Any] = json.loads((ROOT / "deploy" / "grafana" / "crawler.json").read_text())
PANELS: list[dict[str, Any]] = DASHBOARD["panels"]
METRICS = set(re.findall(r"`(crawler_\w+)", (DOCS / "operations.md").read_text()))
"""Those documented, which another test compares with `/metrics`."""
ASKED = {
    **{rule["alert"]: rule["expr"] for rule in yaml.safe_load(RULES.read_text())["groups"][0]["rules"]},
    **{f"{panel['title']} {target['refId']}": target["expr"] for panel in PANELS for target in panel["targets"]},
}


@pytest.mark.parametrize("title", ASKED)
def test_its_metrics_exist(title: str) -> None:
    named = set(re.findall(r"\bcrawler_\w+", ASKED[title]))
    assert named
    assert named <= METRICS


def test_no_panel_covers_another() -> None:
    taken = [
        (x, y)
        for place in (panel["gridPos"] for panel in PANELS)
        for x in range(place["x"], place["x"] + place["w"])
        for y in range(place["y"], place["y"] + place["h"])
    ]
    assert len(set(taken)) == len(taken)
    assert max(x for x, _ in taken) < 24  # columns of Grafana's grid
    assert len({panel["id"] for panel in PANELS}) == len(PANELS)


@pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool is missing: apt-get install prometheus")
def test_prometheus_reads_them(tmp_path: Path) -> None:
    asked = tmp_path / "asked.yml"
    rules = [{"record": f"r{number}", "expr": expression} for number, expression in enumerate(ASKED.values())]
    asked.write_text(yaml.safe_dump({"groups": [{"name": "asked", "rules": rules}]}))
    done = subprocess.run(
        ["promtool", "check", "rules", RULES, asked], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
