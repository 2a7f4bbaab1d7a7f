"""The former class of `rq worker -w crawler.browser.worker.BrowserWorker render`, which unit files may name."""

from crawler.worker import Worker as BrowserWorker

__all__ = ["BrowserWorker"]
