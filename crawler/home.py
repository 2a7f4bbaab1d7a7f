"""Where the project keeps its data: in the folder of a clone, or in that of the user where pip has installed it."""

from __future__ import annotations

import os
from pathlib import Path

NAME = "site-crawler"


def is_clone(root: Path) -> bool:
    """Whether this folder, which holds the package, is a clone of the project and not one that pip fills."""
    return (root / "manage.py").is_file()


def home_of(root: Path) -> Path:
    """The folder of `.env`, and below which data are kept: the one that CRAWLER_HOME names, the clone, or that of the
    user."""
    if named := os.environ.get("CRAWLER_HOME"):
        return Path(named)
    if is_clone(root):
        return root
    from platformdirs import user_data_path  # a clone needs it not

    return user_data_path(NAME, appauthor=False)


def user_config_folder() -> Path | None:
    """The folder of the user's site-crawler.toml. None before anything is installed in a clone."""
    try:
        from platformdirs import user_config_path  # few commands need it
    except ImportError:
        return None
    return user_config_path(NAME, appauthor=False)


def data_folder_of(root: Path) -> Path:
    """The folder of the database, mails and the embedded Redis, unless CRAWLER_DATA_DIR names another."""
    return root / ".data" if is_clone(root) else home_of(root)
