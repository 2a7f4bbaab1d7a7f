"""A storage for tests, and one that fails."""

from pathlib import Path
from typing import Any

from django.core.files.storage import FileSystemStorage


def kept_in(folder: Path, settings: Any, backend: str = "django.core.files.storage.FileSystemStorage") -> None:
    settings.STORAGES = {**settings.STORAGES, "content": {"BACKEND": backend, "OPTIONS": {"location": str(folder)}}}


class Away(FileSystemStorage):
    """Takes nothing, gives nothing, lists nothing."""

    def _save(self, name: str, content: Any) -> str:
        raise TimeoutError("the storage is away")

    def _open(self, name: str, mode: str = "rb") -> Any:
        raise TimeoutError("the storage is away")

    def listdir(self, path: str) -> Any:
        raise TimeoutError("the storage is away")


class Full(FileSystemStorage):
    """Breaks off in the middle of an object, as a full disk does."""

    def _save(self, name: str, content: Any) -> str:
        target = Path(self.path(name))
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.read(10))
        raise OSError(28, "No space left on device")


AWAY, FULL = f"{__name__}.Away", f"{__name__}.Full"
