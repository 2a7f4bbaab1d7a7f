"""Permits the job `time.sleep` in every process that has this hook in CRAWLER_HOOKS."""

from crawler.queueing import job_guard

job_guard.PERMITTED = job_guard.PERMITTED | {"time.sleep"}


class Hook:
    def on_finished(self, crawl: object) -> None:
        """Nothing: what matters is that this module is imported."""
