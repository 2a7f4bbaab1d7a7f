"""The name by which `rq worker -w crawler.browser.worker.BrowserWorker render` finds the browser worker.

worker  the class
"""
