"""Tests of the browser's proxy, `crawler.browser.proxy`."""
