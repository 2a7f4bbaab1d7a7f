"""What pyproject.toml cannot say of a build: the commit is recorded in the package, in the wheel and the sdist."""

import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT))

from crawler.version import RECORD, commit_of  # noqa: E402  (the package that is built)


def record_commit(package: Path) -> None:
    if commit := commit_of(ROOT / "crawler"):
        (package / RECORD).write_text(f"{commit}\n", encoding="utf-8")


class BuildModules(build_py):
    """Also records the commit."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:  # a clone, which asks Git
            record_commit(Path(self.build_lib, "crawler"))


class BuildSource(sdist):
    """Also records the commit: an sdist is no clone."""

    def make_release_tree(self, base_dir: str, files: list[str]) -> None:
        super().make_release_tree(base_dir, files)
        record_commit(Path(base_dir, "crawler"))


setup(cmdclass={"build_py": BuildModules, "sdist": BuildSource})
