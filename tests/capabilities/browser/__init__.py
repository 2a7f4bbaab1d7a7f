"""Tests of crawler/browser. Those in tests/browser look at our own pages."""
