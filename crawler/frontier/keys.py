"""How this project's Redis keys are named. No key is spelt anywhere else, but those that capabilities give
to a crawl: the seam "crawl_keys" has their names."""

from __future__ import annotations

import msgspec

from crawler.core.protocol.collectors import MAX_COLLECTORS
from crawler.core.protocol.lanes import SlotLane, suffixes
from crawler.core.protocol.retries import suffix_of

PREFIX = "crawler"

INSTALLATION = f"{PREFIX}:installation"  # string: the id of the database whose data this is
NOTIFY_PAGES = f"{PREFIX}:notify-pages"  # string: receivers of pages are being notified, or were just now
NOTIFY_COMING = f"{PREFIX}:notify"  # string: a notify job is on its way
CRAWLS = f"{PREFIX}:crawls"  # set of UUIDs: crawls that may have keys here
SCALE = f"{PREFIX}:scale"  # string with a TTL: how many workers were wanted last, see `frontier.workload`
AUTOSCALERS = f"{PREFIX}:autoscalers"  # hash with a short TTL: see `frontier.autoscalers`
SCALED_BY_API = f"{PREFIX}:scaled-by-api"  # string with a TTL of a minute: an autoscaler such as KEDA asks by the API
TICKS = f"{PREFIX}:ticks"  # hash: how long ticks took, see `frontier.metrics`
RECONCILED = f"{PREFIX}:reconciled"  # string that expires when the next process may scan the crawls
EXTRACTIONS_SEEN = f"{PREFIX}:extractions-seen"  # string with a short TTL: lost extractions were looked for just now
JOB_SIGNAL = f"{PREFIX}:bell"  # list with a short TTL, an item for each job that was sent: idle pollers block on it
PROBE = f"{PREFIX}:probe"  # string with a short TTL: Redis accepted a write
SHORT_DATABASE = f"{PREFIX}:short:database"  # string with a short TTL: which resource is short, see `frontier.capacity`
SHORT_STORAGE = f"{PREFIX}:short:storage"  # the same for the content storage
SHORT_LATELY = f"{PREFIX}:short-lately"  # string with a shorter TTL: the database was short just now


def lane_workers(lane: SlotLane) -> str:
    """hash: the workers of the lane and their slots, see `frontier.slots`"""
    return f"{PREFIX}:{lane.name}s"


def taken_slots(lane: SlotLane) -> str:
    """zset lease key -> when its batch took a slot of these workers; 0 = it was handed out"""
    return f"{PREFIX}:{lane.name}-places"


def lane_scale(lane: SlotLane) -> str:
    """The same as SCALE for these workers"""
    return f"{PREFIX}:{lane.name}-scale"


def shortage_notified(crawl: str) -> str:
    """string with a TTL of an hour: its users were notified that it is held for lack of capacity"""
    return f"{PREFIX}:told-short:{crawl}"


def end_channel(crawl: str) -> str:
    """channel, which stores nothing: the crawl is over"""
    return f"{PREFIX}:over:{crawl}"


def extraction_coming(crawl: str) -> str:
    """string with a short TTL: a job that extracts fields from the crawl's kept HTML is on its way"""
    return f"{PREFIX}:extraction:{crawl}"


def own_signal(name: str) -> str:
    """list with a short TTL: the idle poller of this name is to end, or the fetch jobs that share it are to look"""
    return f"{JOB_SIGNAL}:{name}"


UNNAMED_PROXY = f"{PREFIX}:unnamed-proxy"  # string with a TTL of a day: a proxy that is not named as trusted


def tries_of(what: str) -> str:
    """string with a TTL of a quarter of an hour: failed logins"""
    return f"{PREFIX}:tries:{what}"


def slow_call_of(user: int) -> str:
    """string with a TTL of two minutes: the user's preview or channel test is in progress, in some web process"""
    return f"{PREFIX}:slow-call:{user}"


def calls_of(who: str) -> str:
    """string with a TTL of a minute: calls of the API"""
    return f"{PREFIX}:calls:{who}"


class LaneKeys(msgspec.Struct, frozen=True):
    """The keys of the pages that wait in one slot lane, or in the base lane. They are kept apart, so that pages that
    wait for a slot do not delay others."""

    hosts: str  # zset lane -> epoch seconds when its next slice may be handed out; only lanes that may give one
    known_hosts: str  # set: every lane with pages that wait, so that all queues can be found
    weights: str  # zset lane -> slices left of it; of the same lanes as `hosts`
    waiting: str  # string with a TTL of a minute: how many pages wait in all queues


class CrawlKeys(msgspec.Struct, frozen=True):
    """The keys of one crawl. Each of its collectors has a results list, a mark and a lock of its own."""

    crawl: str  # UUID
    collector: int = 0

    def _key(self, name: str) -> str:
        return f"{PREFIX}:{self.crawl}:{name}"

    def _own_key(self, name: str) -> str:
        return self._key(f"{name}:{self.collector}" if self.collector else name)

    def of(self, name: str) -> str:
        """A key that a capability gives, see the seam "crawl_keys"."""
        return self._key(name)

    def of_all_collectors(self) -> list[CrawlKeys]:
        """The keys of every collector, whether it is used or not, by number."""
        return [CrawlKeys(self.crawl, number) for number in range(MAX_COLLECTORS)]

    @property
    def seen(self) -> str:
        """sets "...:0" to "...:16383": keys of URLs whose rows are committed, as numbers"""
        return self._key("seen")

    @property
    def watermark(self) -> str:
        """string "newest row, requests" with a TTL of a month: how far the table had come by a tick's last commit"""
        return self._key("watermark")

    @property
    def cursor(self) -> str:
        """hash "depth:priority" -> id of the last row of that level that was enqueued from the table"""
        return self._key("cursor")

    def queue(self, host: str) -> str:
        """zset member (see `ready_queue.encode_member`) -> due time"""
        return self._key(f"queue:{host}")

    @property
    def pace(self) -> str:
        """hash host -> "slices pages": what may be handed out of it, where that is not the default"""
        return self._key("pace")

    def of_suffix(self, suffix: str = "") -> LaneKeys:
        """The keys of the base lane, or of the slot lane with this suffix."""
        names = ("hosts", "known_hosts", "weights", "waiting")
        return LaneKeys(*(self._key(f"{name}:{suffix}" if suffix else name) for name in names))

    def of_suffixes(self) -> list[LaneKeys]:
        """The keys of the base lane and of every slot lane."""
        return [self.of_suffix(suffix) for suffix in suffixes()]

    def of_lane(self, lane: str) -> list[str]:
        """The keys that change when pages of a lane come or go, in the order the scripts take them."""
        kind = self.of_suffix(suffix_of(lane))
        return [
            kind.hosts,
            kind.known_hosts,
            self.queue(lane),
            self.active,
            self.rest,
            self.taken,
            self.pace,
            kind.weights,
            kind.waiting,
        ]

    @property
    def active(self) -> str:
        """hash host -> slices handed out and not yet complete"""
        return self._key("active")

    @property
    def rest(self) -> str:
        """hash host -> Retry-After deadline, epoch seconds"""
        return self._key("rest")

    @property
    def taken(self) -> str:
        """set: members of pages that are handed out"""
        return self._key("taken")

    @property
    def leases(self) -> str:
        """zset batch -> epoch seconds when the manager must check its lease"""
        return self._key("leases")

    def lease(self, batch: str) -> str:
        """hash: token, state, absent (since when RQ does not know the job), hand (the suspect being fetched, "page
        attempt"), and a field per slice: "lane member ..." """
        return self._key(f"lease:{batch}")

    @property
    def results(self) -> str:
        """list of encoded slice reports; one for each collector"""
        return self._own_key("results")

    @property
    def mark(self) -> str:
        """string "job time": the crawl is dirty, and this tick is on its way; one for each collector"""
        return self._own_key("mark")

    @property
    def tick(self) -> str:
        """string "time what was done": the end of the last tick"""
        return self._key("tick")

    @property
    def silent(self) -> str:
        """hash host -> "times since outcome": hosts that do not respond, see `frontier.host_state`"""
        return self._key("silent")

    @property
    def proxies(self) -> str:
        """hash "failures:number" -> connections in a row that failed, "until:number" -> epoch seconds until when that
        proxy is left out"""
        return self._key("proxies")

    @property
    def early_results(self) -> str:
        """string with a TTL of an hour: results decide which pages are requested, so slices are short"""
        return self._key("early-results")

    @property
    def met(self) -> str:
        """set: hosts whose throttle this crawl has helped to learn, or has tried without it"""
        return self._key("met")

    @property
    def slowed(self) -> str:
        """hash host -> JSON of a `Slowdown`: hosts that were slowed down during the crawl, at worst"""
        return self._key("slowed")

    @property
    def closing(self) -> str:
        """string "epoch seconds, pages discovered": when pages with a Retry-After close, while only those are left"""
        return self._key("closing")

    @property
    def paused(self) -> str:
        """string with a TTL of a minute: the crawl is paused, so batches that are handed out end early"""
        return self._key("paused")

    @property
    def dead(self) -> str:
        """zset page id -> epoch seconds when it failed; outlives the crawl for a while"""
        return self._key("dead")

    @property
    def deleted(self) -> str:
        """string with a TTL of a day: the crawl is being deleted ("1") or was ("done"), so nothing of it may be kept"""
        return self._key("deleted")

    @property
    def lock(self) -> str:
        """string: the token of the tick at work; one for each collector"""
        return self._own_key("lock")


def host(host: str) -> str:
    """hash: politeness state of a host, shared by all crawls, see `frontier.host_state`"""
    return f"{PREFIX}:host:{host}"


def host_slots(host: str) -> str:
    """zset holder -> expiry: the slices that hold a slot of this host, over all crawls"""
    return f"{PREFIX}:host:{host}:slots"


def host_policies(host: str) -> str:
    """hash crawl -> "delay connections until": the host policy of each crawl at work"""
    return f"{PREFIX}:host:{host}:wishes"


def robots(origin: str) -> str:
    """string: the cached robots.txt of an origin"""
    return f"{PREFIX}:robots:{origin}"


def robots_lock(origin: str) -> str:
    """string with a short TTL: a worker is fetching this robots.txt"""
    return f"{PREFIX}:robots-lock:{origin}"
