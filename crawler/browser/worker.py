"""The class of `rq worker -w crawler.browser.worker.BrowserWorker render`, which commands and unit files name."""

from crawler.capabilities.browser.worker import BrowserWorker

__all__ = ["BrowserWorker"]
