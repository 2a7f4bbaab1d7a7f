"""The classes that CRAWLER_HOOKS names are imported at the start, or one line says what is wrong."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured

from crawler.capabilities.hooks.loading import MAX_HOOKS, loaded, names_with
from tests.capabilities.hooks import samples
from tests.capabilities.hooks.samples import name_of
from tests.stack import ROOT


def test_hooks_are_in_the_order_of_the_setting_with_the_methods_they_have(settings: Any) -> None:
    settings.CRAWLER_HOOKS = [name_of(samples.Noting), name_of(samples.Counting)]
    assert [sorted(hook.methods) for hook in loaded()] == [["on_closed", "on_finished"], ["on_page"]]
    assert names_with("on_page") == (name_of(samples.Counting),)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["Prices"], "write module.Class"),
        (["no_such_module.Prices"], "cannot be imported .ModuleNotFoundError: No module named 'no_such_module'"),
        ([f"{samples.__name__}.Missing"], "cannot be imported .AttributeError"),
        ([name_of(samples.Idle)], "not a class with one of the methods on_page, on_closed, on_finished"),
        ([f"{samples.__name__}.name_of"], "not a class with one of the methods"),
        ([name_of(samples.Counting)] * 2, "names a class twice"),
        ([f"m.A{number}" for number in range(MAX_HOOKS + 1)], "names 9 classes; the maximum is 8"),
    ],
)
def test_what_cannot_be_used_is_named_in_one_line(settings: Any, names: list[str], message: str) -> None:
    settings.CRAWLER_HOOKS = names
    with pytest.raises(ImproperlyConfigured, match=message) as refused:
        loaded()
    assert "\n" not in str(refused.value)


def test_the_start_is_refused_with_that_line(tmp_path: Path) -> None:
    variables = {"CRAWLER_HOOKS": "no_such_module.Prices", "CRAWLER_DATA_DIR": str(tmp_path), "PATH": ""}
    command = [sys.executable, "manage.py", "status", "x"]
    started = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True, check=False, timeout=60)
    assert started.returncode == 1
    (line,) = started.stderr.splitlines()
    assert line.startswith("CRAWLER_HOOKS has 'no_such_module.Prices', which cannot be imported")
