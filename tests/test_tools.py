"""The tools that measure, disturb and draw the product: each of their modules can still be imported. `bin/test --all`
runs tests/tools as well."""

from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FILES = [*ROOT.glob("tools/*/*.py"), *ROOT.glob("tools/chaos/*/*.py")]
MODULES = sorted(".".join(path.relative_to(ROOT).with_suffix("").parts) for path in FILES)


@pytest.mark.parametrize("module", [name for name in MODULES if not name.endswith("__main__")])
def test_its_imports_exist(module: str) -> None:
    import_module(module)
