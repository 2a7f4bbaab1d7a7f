"""Reports are tried on crawls that the real engine works on."""

from tests.engine.conftest import bench

__all__ = ["bench"]
