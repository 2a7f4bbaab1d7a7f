"""Reports are tried on crawls that the real engine works on."""

from tests.bench import bench

__all__ = ["bench"]
