"""Tests of the browser's proxy, `crawler.capabilities.browser.proxy`."""
