"""The tools that measure, disturb and draw the product: each of their modules can still be imported. `bin/test --all`
runs tests/tools as well."""

from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).parents[1]
FILES = [*ROOT.glob("tools/*/*.py"), *ROOT.glob("tools/chaos/*/*.py")]
MODULES = sorted(".".join(path.relative_to(ROOT).with_suffix("").parts) for path in FILES)


def test_their_imports_exist() -> None:
    for module in MODULES:
        if not module.endswith("__main__"):
            import_module(module)
