"""What pyproject.toml cannot say of a build: wheel and sdist record the commit, and the wheel has a man page."""

import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT))

from crawler.launch import man  # noqa: E402  (the package that is built)
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


def man_page() -> str:
    """The file, relative to this folder as setuptools wants it."""
    file = Path("build", "site-crawler.1")
    file.parent.mkdir(exist_ok=True)
    file.write_text(f"{man.page(man.day_of_build())}\n", encoding="utf-8")
    return str(file)


setup(
    cmdclass={"build_py": BuildModules, "sdist": BuildSource},
    data_files=[("share/man/man1", [man_page()])],
)
