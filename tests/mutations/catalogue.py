"""The mutations: what is replaced in which file, and the narrowest test that fails then.

A change that moves or rewrites one of these lines changes its entry too: `test_catalogue` says which.
"""

from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent

# The files, each named once.
WRITER_SQL = "crawler/storage/sql.py"
QUERIES = "crawler/storage/queries.py"
COLLECT = "crawler/manager/collect.py"
RESTORED = "crawler/manager/restored.py"
TICK = "crawler/manager/tick.py"
FINISH = "crawler/manager/finish.py"
DISPATCH = "crawler/manager/dispatch.py"
REACH = "crawler/manager/reach.py"
PAGE_LIMITS = "crawler/manager/limits.py"
IDLE_POLLER = "crawler/manager/idle_poller.py"
COMPLETION = "crawler/core/protocol/completion.py"
DISCOVERY = "crawler/core/protocol/discovery.py"
SCALING = "crawler/core/politeness/scaling.py"
LEASES = "crawler/frontier/leases.py"
LUA = "crawler/frontier/lua/"
GUARD = "crawler/http/guard.py"
CONNECTOR = "crawler/http/connector.py"
BROWSER_DRIVER = "crawler/capabilities/browser/driver.py"
PAGE_REQUESTS = "crawler/capabilities/browser/page_requests.py"
CURL_TRANSFER = "crawler/http/transports/curl_transfer.py"
CURL_TRANSPORT = "crawler/http/transports/curl_transport.py"
REQUEST = "crawler/http/request.py"
COOKIES = "crawler/http/cookies.py"
BODY = "crawler/http/body.py"
HTTP_ROBOTS = "crawler/http/robots.py"
ROBOTS_CHECK = "crawler/fetcher/robots_check.py"
HOST_SLOT = "crawler/fetcher/host_slot.py"
SLICE = "crawler/fetcher/slice.py"
CONFIGURATION = "crawler/management/configuration.py"
OUTBOX = "crawler/notices/outbox.py"
LOGINS = "crawler/accounts/logins.py"
PERMISSIONS = "crawler/accounts/permissions.py"
API_CALLERS = "crawler/api/callers.py"
CSV = "crawler/exports/csv.py"
JOB_GUARD = "crawler/queueing/job_guard.py"
WEB_FORWARDED = "crawler/web/forwarded.py"
WEB_UPLOADS = "crawler/web/uploads.py"
WEB_HEADERS = "crawler/web/headers.py"
TRAP_BRANCHES = "crawler/capabilities/traps/branches.py"
TRAP_FILTERS = "crawler/capabilities/traps/page_filters.py"
THROTTLE = "crawler/core/politeness/throttle.py"
PAGE_ROW_TEMPLATE = "crawler/templates/crawler/rows/page.html"


@dataclass(frozen=True)
class Mutation:
    name: str
    rule: str  # what it breaks, in words
    file: str  # below ROOT
    old: str  # occurs exactly once in the file
    new: str
    test: str  # the narrowest that fails then

    @property
    def test_file(self) -> Path:
        return ROOT / self.test.partition("::")[0]

    def applied(self, source: str) -> str:
        number = source.count(self.old)
        assert number == 1, f"{self.name}: {self.file} has {number} times what is to be replaced"
        return source.replace(self.old, self.new)


MUTATIONS = (
    Mutation(
        "close-unconditionally",
        "R2: a page is closed only while it is open",
        WRITER_SQL,
        "    WHERE id = {{page}} AND status = 0",
        "    WHERE id = {{page}}",
        "tests/storage/test_writer.py::test_a_closed_row_is_not_closed_again",
    ),
    Mutation(
        "count-closed-pages-again",
        "R2: counters change by the number of rows that changed",
        QUERIES,
        'rows = _open_rows(crawl, ids).values_list("id", "kind", "fetched_at", "url")',
        'rows = Page.objects.filter(id__in=ids).values_list("id", "kind", "fetched_at", "url")',
        "tests/storage/test_writer.py::test_applying_the_same_result_twice_changes_nothing",
    ),
    Mutation(
        "seen-before-commit",
        "R2b: a URL is in the seen-set only after its row is committed",
        COLLECT,
        "    applied = writer.apply(context.id, closings,",
        "    context.frontier.seen.add(new_facts)\n    applied = writer.apply(context.id, closings,",
        "tests/manager/test_manage.py::test_reports_are_acknowledged_only_once_they_are_committed",
    ),
    Mutation(
        "seen-after-cancel",
        "R2b: of a crawl that was cancelled before the commit, nothing enters the seen-set",
        COLLECT,
        "    if applied.is_over:\n        return  #",
        "    if False:\n        return  #",
        "tests/manager/test_manage.py::test_a_result_that_comes_after_a_cancel_leaves_nothing_in_the_seen_set",
    ),
    Mutation(
        "restored-database-not-noticed",
        "R2b: if the database is replaced by an older one, the seen-set is built again",
        RESTORED,
        "    if noted is None or not queries.watermark(context.id).is_behind(noted):\n",
        "    if True:\n",
        "tests/manager/test_restored.py::test_the_crawl_goes_on_from_the_older_one_and_misses_nothing",
    ),
    Mutation(
        "lost-results-not-noticed",
        "R2b: also if it has all rows and lacks results",
        "crawler/core/protocol/counters.py",
        " or self.requests < noted.requests",
        "",
        "tests/manager/test_restored.py::test_a_page_that_is_open_again_is_noticed_too",
    ),
    Mutation(
        "ids-used-again",
        "R2b: the result of a row that a restored database has lost closes no other page",
        RESTORED,
        "    sql.skip_ids(noted.newest_row, between)\n",
        "",
        "tests/manager/test_restored.py::test_the_result_of_a_lost_row_closes_no_other_page",
    ),
    Mutation(
        "deleted-twice",
        "a crawl that was deleted and is in a backup that is restored stays",
        "crawler/frontier/frontier.py",
        "            pipe.set(self.keys.deleted, _DELETED, ex=DELETED_TTL_S)\n",
        "",
        "tests/manager/test_restored.py::test_a_crawl_that_was_deleted_and_is_back_stays",
    ),
    Mutation(
        "announced-under-another-id",
        "the end of a round that comes twice because a backup was restored has one id",
        OUTBOX,
        '        notice.id = uuid5(crawl.id, f"{crawl.round} {crawl.round_began_at.isoformat()} {event}")\n',
        "        pass\n",
        "tests/manager/test_restored.py::test_a_crawl_that_finishes_again_is_announced_under_the_same_id",
    ),
    Mutation(
        "newer-report-dropped",
        "two versions: the slice of a report that is not understood is over, and no worker is taken for dead",
        COLLECT,
        "        head = decode_head(line)\n",
        "        raise msgspec.DecodeError\n        head = decode_head(line)\n",
        "tests/manager/test_newer_reports.py::test_its_slice_is_over_at_once",
    ),
    Mutation(
        "newer-batch-not-handed-back",
        "two versions: the pages of a batch that is not understood go back at once",
        "crawler/fetcher/hand_back.py",
        "        _hand_back(head)\n",
        "",
        "tests/fetcher/test_hand_back.py::test_its_pages_are_fetched_by_a_later_batch",
    ),
    Mutation(
        "acknowledge-before-commit",
        "R3: read, commit, then acknowledge",
        COLLECT,
        "    raw, reports = _decode_reports(oldest)\n",
        "    raw, reports = _decode_reports(oldest)\n    results.acknowledge(raw)\n",
        "tests/manager/test_manage.py::test_reports_are_acknowledged_only_once_they_are_committed",
    ),
    Mutation(
        "lease-not-renewed",
        "R4: a fetch job renews its lease while it works",
        LUA + "lease_renew.lua",
        "redis.call('ZADD', KEYS[1], 'XX', ARGV[3], ARGV[1])\n",
        "",
        "tests/frontier/test_leases.py::test_a_claim_runs_out_unless_renewed",
    ),
    Mutation(
        "lease-never-expires",
        "R4: the pages of a worker that died return to the frontier",
        LEASES,
        'zrangebyscore(self._keys.leases, "-inf", now)',
        'zrangebyscore(self._keys.leases, "-inf", 0)',
        "tests/frontier/test_leases.py::test_a_claim_runs_out_unless_renewed",
    ),
    Mutation(
        "stale-token-completes",
        "R4: a result under a stale token is harmless",
        LUA + "complete.lua",
        "if redis.call('HGET', lease, 'token') ~= token then return 0 end\n",
        "",
        "tests/frontier/test_leases.py::test_settling_with_a_stale_token_changes_nothing",
    ),
    Mutation(
        "mark-cleared-after-draining",
        "R5: a tick clears the mark before it drains",
        TICK,
        "taken_in, is_drained = _drain(context, token)",
        "taken_in, is_drained = _drain(context, token)\n        results.clear_mark()",
        "tests/manager/test_manage.py::test_a_report_left_while_a_tick_works_is_taken_in_by_that_tick",
    ),
    Mutation(
        "lock-released-with-mark-set",
        "R5: the lock is released only if the mark is clear",
        LUA + "lock_release_if_clean.lua",
        "if redis.call('EXISTS', KEYS[2]) == 1 then return 0 end\n",
        "",
        "tests/frontier/test_results.py::test_the_lock_is_kept_while_the_mark_is_set",
    ),
    Mutation(
        "finish-with-open-pages",
        "R6: a crawl is finished only where no page is open",
        FINISH,
        "            .filter(~Exists(open_page))\n",
        "",
        "tests/manager/test_manage.py::test_a_crawl_with_an_open_page_cannot_finish",
    ),
    Mutation(
        "disagreement-not-noticed",
        "R6: where queue and table disagree, the frontier is rebuilt from the table",
        COMPLETION,
        "return CompletionCheck.DISAGREE if open_pages else CompletionCheck.FINISH",
        "return CompletionCheck.FINISH",
        "tests/core/protocol/test_completion.py::test_an_empty_queue_with_open_pages_is_a_disagreement",
    ),
    Mutation(
        "forgotten-crawl-not-woken",
        "R7: reconcile wakes a running crawl with no sign of life",
        COMPLETION,
        "return signs.leases == 0  #",
        "return False  #",
        "tests/core/protocol/test_completion.py::test_a_crawl_is_woken_when_nobody_else_will",
    ),
    Mutation(
        "idle-poller-blocks",
        "R8: no job of the manager blocks a worker while fetch work is queued",
        IDLE_POLLER,
        "if queues.has_work():",
        "if False:",
        "tests/manager/test_idle_poller.py::test_it_gives_way_to_a_fetch_job_at_once",
    ),
    Mutation(
        "guard-checks-first-address-only",
        "every address of a host must be allowed",
        GUARD,
        "        for endpoint in endpoints:\n",
        "        for endpoint in endpoints[:1]:\n",
        "tests/http/test_guard.py::test_one_private_address_among_several_refuses_the_host",
    ),
    Mutation(
        "connect-by-name",
        "the address that was checked is the one connected to",
        CONNECTOR,
        "sock.connect_ex(endpoint.sockaddr)",
        "sock.connect_ex((self._exchange.url.split('/')[2].split(':')[0], endpoint.sockaddr[1]))",
        "tests/http/test_guard.py::test_the_checked_address_is_the_one_connected_to",
    ),
    Mutation(
        "socks-to-another-address",
        "a SOCKS5 proxy is given the address that was checked",
        "crawler/http/socks.py",
        "host, port = endpoint.sockaddr[:2]",
        'host, port = "127.0.0.9", endpoint.sockaddr[1]',
        "tests/http/test_socks.py::test_it_is_given_the_address_that_was_checked_and_not_the_name",
    ),
    Mutation(
        "browser-proxy-for-anyone",
        "the browser's proxy serves those who know a page's password",
        "crawler/capabilities/browser/proxy.py",
        "if not secrets.compare_digest(known, password) or admission is None:",
        "if admission is None:",
        "tests/capabilities/browser/guard_proxy/test_refusals.py::test_without_the_password_of_a_page_it_is_asked_for",
    ),
    Mutation(
        "browser-proxy-tells-its-password",
        "a page's password for the browser's proxy goes to no server",
        "crawler/capabilities/browser/proxy_request.py",
        '"proxy-authenticate", "proxy-authentication-info", "proxy-authorization",',
        '"proxy-authenticate", "proxy-authentication-info",',
        "tests/capabilities/browser/guard_proxy/test_forwarding.py::test_a_request_is_forwarded_without_what_belongs_to_the_proxy",
    ),
    Mutation(
        "browser-connects-after-its-page",
        "no connection is begun for a page that has ended",
        "crawler/capabilities/browser/proxy.py",
        "        if self._admission.is_closed or self._admission.is_paused:\n            raise RequestAborted\n",
        "",
        "tests/capabilities/browser/guard_proxy/test_limits.py::test_no_connection_is_begun_for_a_page_that_has_ended",
    ),
    Mutation(
        "libcurl-connects-itself",
        "libcurl gets a socket that was opened for it, and no second one",
        CURL_TRANSPORT,
        "line, self._given = self._given, None",
        "line = self._given",
        "tests/http/test_transports.py::test_libcurl_that_asks_for_a_socket_gets_the_one_that_was_opened_and_no_second",
    ),
    Mutation(
        "frames-without-end",
        "what TLS and HTTP/2 add to a response is limited",
        CURL_TRANSFER,
        "if self._line.received > self._may_receive:",
        "if self._line.received < 0:",
        "tests/http/test_http2.py::test_frames_without_end_are_not_read_for_ever",
    ),
    Mutation(
        "cut-stream-is-whole",
        "a body of HTTP/2 ends with its frame, not with the connection",
        CURL_TRANSFER,
        "if error is None and self._is_multiplexed:",
        "if False:",
        "tests/http/test_http2.py::test_a_body_cut_short_is_not_taken_for_whole",
    ),
    Mutation(
        "redirect-leaves-the-scope",
        "the target of a redirect has to be within the crawl's scope",
        DISCOVERY,
        "    if side is not Side.INSIDE:\n        return\n",
        "",
        "tests/core/protocol/test_discovery.py::test_a_redirect_that_leaves_the_site_is_recorded",
    ),
    Mutation(
        "credentials-to-any-host",
        "credentials go to the crawl's own hosts only",
        REQUEST,
        "= is_own(url, self._own_hosts)",
        "= True",
        "tests/http/test_outgoing.py::test_no_other_host_is_sent_any",
    ),
    Mutation(
        "credentials-with-robots-txt",
        "robots.txt is fetched without credentials, and so are the targets of its redirects",
        HTTP_ROBOTS,
        "truncate_at=MAX_BYTES + 1, anonymous=True)",
        "truncate_at=MAX_BYTES + 1)",
        "tests/http/test_outgoing.py::test_robots_txt_is_asked_for_without_any_wherever_it_leads",
    ),
    Mutation(
        "robots-txt-ignored",
        "a page that robots.txt forbids is not fetched",
        ROBOTS_CHECK,
        "return None if rule is None or rule.allow else",
        "return None if rule is None or rule else",
        "tests/fetcher/test_robots_check.py::test_a_page_that_is_forbidden_names_the_rule_and_its_line",
    ),
    Mutation(
        "robots-txt-unreachable-allows",
        "RFC 9309, 2.3.1.4: while robots.txt is unreachable, nothing is fetched",
        ROBOTS_CHECK,
        "return _unreachable(entry)",
        "return RobotsDecision(reachable=True)",
        "tests/fetcher/test_robots_check.py::test_a_robots_txt_that_is_unreachable_closes_pages_by_name",
    ),
    Mutation(
        "retry-after-ignored",
        "a host that answers 429 or 503 with Retry-After is left alone for that long",
        HOST_SLOT,
        "if status not in BUSY_STATUSES or not retry_after:\n            return",
        "return",
        "tests/manager/test_manage.py::test_a_host_that_asks_for_peace_gets_it_for_all_its_pages_and_from_all_crawls",
    ),
    Mutation(
        "slot-valid-from-the-answer",
        "a slot is valid from when it was asked for, however late Redis answers",
        "crawler/fetcher/connection_slot.py",
        "until = asked_at + self._limiter.slot_seconds",
        "until = self._monotonic() + self._limiter.slot_seconds",
        "tests/fetcher/test_host_slot.py::test_a_slot_is_valid_from_when_it_was_asked_for_however_late_the_answer_comes",
    ),
    Mutation(
        "request-outlasts-its-slot",
        "a request ends before its slot expires",
        SLICE,
        "            fetcher.abort()\n",
        "            pass\n",
        "tests/fetcher/test_slot_watch.py::test_so_does_one_for_robots_txt",
    ),
    Mutation(
        "late-call-believed",
        "a call that Redis gets late takes no slot from a holder",
        LUA + "shared/late_call.lua",
        "return late > 2 and late < 3600 and now + late or now",
        "return now",
        "tests/frontier/test_host_limiter.py::test_a_call_that_comes_late_does_not_take_the_slot_of_another_holder",
    ),
    Mutation(
        "crawl-delay-forgotten",
        "the delay that robots.txt asks for holds for later slices and other crawls",
        HOST_SLOT,
        "self._host_states.note_crawl_delay(self._host, seconds)\n",
        "\n",
        "tests/fetcher/test_robots_check.py::test_the_pace_it_asks_for_is_known_to_all_crawls",
    ),
    Mutation(
        "page-limit-off-by-one",
        "a page limit is never exceeded",
        PAGE_LIMITS,
        "limits.max_pages - asked - handed_out",
        "limits.max_pages + 1 - asked - handed_out",
        "tests/manager/test_manage.py::test_a_page_limit_is_never_exceeded",
    ),
    Mutation(
        "lower-limit-closes-what-is-out",
        "a lower page limit closes nothing that is handed out",
        PAGE_LIMITS,
        " and not handed_out:",
        ":",
        "tests/crawls/test_change.py::test_a_lower_page_limit_closes_nothing_that_is_handed_out",
    ),
    Mutation(
        "early-page-handed-out",
        "a page is not handed out before the time a user chose",
        DISPATCH,
        "row.not_before > now}",
        "False}",
        "tests/manager/test_add.py::test_the_time_a_user_chose_outlasts_the_end_of_a_wait_for_the_host",
    ),
    Mutation(
        "kept-open-crawl-finished",
        "a crawl that is kept open finishes only when a user says so",
        "crawler/manager/finish.py",
        "locked.chosen.stay_open",
        "False",
        "tests/manager/test_stay_open.py::test_with_no_page_open_it_says_that_it_waits",
    ),
    Mutation(
        "crashed-browser-ends-its-page",
        "a page whose browser crashed is tried again",
        "crawler/core/protocol/retries.py",
        "(result.outcome is Outcome.CRASHED and has_another)",
        "(result.outcome is Outcome.CRASHED and result.process_ended)",
        "tests/manager/test_state_machine.py::test_a_page_whose_browsers_crash_has_three_attempts_and_then_holds_no_place",
    ),
    Mutation(
        "place-kept-by-its-batch",
        "a place of a browser worker is free once its batch is complete",
        LUA + "take_slots.lua",
        "if redis.call('EXISTS', taken[i]) == 1 or is_coming",
        "if redis.call('EXISTS', taken[i]) == 1 or since == 0 or is_coming",
        "tests/manager/test_state_machine.py::test_a_page_whose_browsers_crash_has_three_attempts_and_then_holds_no_place",
    ),
    Mutation(
        "kept-open-crawl-ticks",
        "a crawl that waits for pages costs no ticks",
        COMPLETION,
        "signs.waits_for_slot or signs.waits_for_pages",
        "signs.waits_for_slot",
        "tests/manager/test_stay_open.py::test_while_it_waits_no_tick_is_sent",
    ),
    Mutation(
        "body-limit-not-unpacked",
        "the limit of a body counts its unpacked bytes",
        BODY,
        "        if len(body) > limit:\n",
        "        if False:\n",
        "tests/http/test_body.py::test_a_compressed_bomb_is_never_unpacked",
    ),
    Mutation(
        "login-throttle-off",
        "after some wrong passwords none is checked for a while",
        LOGINS,
        "    if counted.wait:\n",
        "    if False:\n",
        "tests/web/test_tries.py::test_after_some_wrong_passwords_no_password_is_looked_at",
    ),
    Mutation(
        "every-crawl-visible",
        "users see their own crawls and those shared with their groups",
        PERMISSIONS,
        "return rows.filter(Q(owner=user.pk) | Q(group__in=",
        "return rows.filter(~Q(pk=None) | Q(group__in=",
        "tests/accounts/test_permissions.py::test_one_sees_exactly_what_one_may_see",
    ),
    Mutation(
        "token-scope-unchecked",
        "a token may do what its scopes say",
        API_CALLERS,
        "if self.scope is not None and self.scope not in request.caller.scopes:",
        "if False:",
        "tests/api/test_routes.py::test_a_token_without_the_scope_is_refused_with_its_name",
    ),
    Mutation(
        "csv-formulas",
        "no cell of a CSV file is a formula",
        CSV,
        "isinstance(cell, str) and _FORMULA.match(cell)",
        "False",
        "tests/exports/test_cells.py::test_every_way_to_begin_a_formula_is_defused",
    ),
    Mutation(
        "csp-dropped",
        "every response has its Content-Security-Policy",
        WEB_HEADERS,
        'response.headers.setdefault("Content-Security-Policy", PAGE_POLICY if is_page else FILE_POLICY)',
        "pass",
        "tests/web/test_middleware.py::test_a_page_may_run_our_files_and_nothing_else_may_run_anything",
    ),
    Mutation(
        "template-unescaped",
        "what a site says is text in our pages, never markup",
        PAGE_ROW_TEMPLATE,
        "{{ row.note }}",
        "{{ row.note|safe }}",
        "tests/web/crawl/test_crawls.py::test_what_a_site_says_cannot_become_markup",
    ),
    Mutation(
        "notice-sent-twice",
        "an attempt at a delivery is claimed by one process",
        OUTBOX,
        "state=Delivery.PENDING, due_at=delivery.due_at)",
        "state=Delivery.PENDING)",
        "tests/notices/test_delivery.py::test_two_processes_do_not_try_the_same_delivery",
    ),
    Mutation(
        "webrtc-past-the-proxy",
        "WebRTC of a rendered page sends nothing past the proxy",
        BROWSER_DRIVER,  # both switches: the headless shell reads one of them, and the browser with windows the other
        "args=chromium.FLAGS,",
        'args=[flag for flag in chromium.FLAGS if "webrtc" not in flag],',
        "tests/capabilities/browser/test_page.py::test_a_page_reaches_no_network_but_by_its_proxy",
    ),
    Mutation(
        "rendered-redirect-unasked",
        "robots.txt and the host's turn hold for what a rendered page's request is redirected to",
        PAGE_REQUESTS,
        "if is_hop and (why := await self._take(",
        "if False and (why := await self._take(",
        "tests/capabilities/browser/test_page.py::test_a_redirect_is_asked_for_and_counted_like_a_request",
    ),
    Mutation(
        "rendered-page-leaves",
        "a rendered page's request for another document is not sent",
        PAGE_REQUESTS,
        "elif request.is_navigation_request() and frame.parent_frame is None:",
        "elif request.is_navigation_request() and not self._has_document:",
        "tests/capabilities/browser/test_page.py::test_where_a_page_goes_is_told_and_not_requested",
    ),
    Mutation(
        "cookies-to-other-hosts",
        "only the crawl's own hosts get cookies",
        COOKIES,
        "if not is_own(url, self._own_hosts):",
        "if False:",
        "tests/http/test_cookies.py::test_a_cookie_of_the_domain_goes_to_hosts_below_it_that_are_the_crawls_own",
    ),
    Mutation(
        "cookies-from-other-hosts",
        "only the crawl's own hosts set cookies",
        COOKIES,
        "if headers and is_own(url, self._own_hosts) and self._take(url, headers):",
        "if headers and self._take(url, headers):",
        "tests/http/test_cookies.py::test_no_other_host_sets_one_or_gets_one",
    ),
    Mutation(
        "login-again-and-again",
        "a page that shows the form right after the log-in for it pauses the crawl",
        "crawler/capabilities/login/lua/login_shown.lua",
        "if times <= tonumber(ARGV[4]) then",
        "if times <= 3 then",
        "tests/capabilities/login/test_login.py::test_a_page_that_only_others_may_see_pauses_it_and_no_other_is_lost",
    ),
    Mutation(
        "ended-session-used",
        "while one worker logs in again, the others request nothing in the session that has ended",
        "crawler/capabilities/login/keeper.py",
        "if state.may_request:",
        "if state.session:",
        "tests/capabilities/login/test_login.py::"
        "test_while_another_worker_logs_in_again_no_page_is_requested_in_the_session_that_has_ended",
    ),
    Mutation(
        "earlier-password-sent-again",
        "a batch with a password that a user has changed does not log in",
        "crawler/capabilities/login/lua/login_forget.lua",
        "redis.call('HSET', KEYS[2], 'outdated:' .. ARGV[1], 1)\n",
        "",
        "tests/capabilities/login/test_login.py::test_a_batch_with_the_earlier_password_does_not_send_it_any_more",
    ),
    Mutation(
        "another-collector-at-work-ignored",
        "R6: while another collector holds its lock, nothing is taken for idle",
        "crawler/frontier/frontier.py",
        "chain.from_iterable((keys.mark, keys.lock) for keys in others)",
        "(keys.mark for keys in others)",
        "tests/manager/test_collectors.py::test_finished_is_not_said_while_another_has_something_to_do",
    ),
    Mutation(
        "first-collector-not-woken",
        "what another collector has stored is handed out by a tick of the first",
        TICK,
        "            if taken_in:\n                _wake_first(context)",
        "            pass",
        "tests/manager/test_collectors.py::test_the_first_is_sent_a_tick_before_the_other_has_released_its_lock",
    ),
    Mutation(
        "first-collector-not-woken-at-the-end",
        "a tick of the first that found another at work is followed by one",
        TICK,
        "    if collector:\n        _wake_first(context)",
        "    if False:\n        _wake_first(context)",
        "tests/manager/test_collectors.py::"
        "test_a_tick_of_the_first_that_came_before_another_had_released_its_lock_is_followed_by_one",
    ),
    Mutation(
        "wanted-workers-fall-at-once",
        "the number of wanted workers falls only when less was wanted for a while",
        SCALING,
        "    if now - known.lower_since < lower_after_s:",
        "    if False:",
        "tests/core/politeness/test_scaling.py::test_it_falls_only_after_a_while_of_less",
    ),
    Mutation(
        "delay-asks-for-no-fewer-workers",
        "a host with a delay is requested once in it, however many workers there are",
        SCALING,
        "        pages_per_s = min(pages_per_s, 1 / work.delay)\n",
        "",
        "tests/core/politeness/test_scaling.py::test_a_host_of_two_crawls_counts_once_by_the_strictest_policy",
    ),
    Mutation(
        "handed-back-page-counts-an-attempt",
        "a page that a worker hands back when it is asked to end has no attempt counted",
        "crawler/fetcher/slice.py",
        "except (RedisError, BaseTimeoutException, RequestAborted):",
        "except (RedisError, BaseTimeoutException):",
        "tests/fetcher/test_stopping.py::test_a_page_that_takes_too_long_is_given_up_and_asked_for_again",
    ),
    Mutation(
        "newer-batch-handed-back-twice",
        "a batch that another job has claimed is not handed back",
        "crawler/fetcher/hand_back.py",
        " or lease.token != head.token or lease.held:",
        " or lease.token != head.token:",
        "tests/fetcher/test_hand_back.py::test_one_that_another_job_has_claimed_is_left_to_it",
    ),
    Mutation(
        "no-page-is-given-up",
        "a worker that was asked to end gives pages up after the grace",
        "crawler/core/installation/deployment.py",
        "    if stopping_for < page_grace:",
        "    if stopping_for < STOP_SECONDS:",
        "tests/core/installation/test_deployment.py::test_it_begins_nothing_new_then_gives_pages_up_then_leaves_threads_behind",
    ),
    Mutation(
        "private-addresses-for-added-pages",
        "Security: what a user adds who may not allow private addresses reaches none",
        DISPATCH,
        "policies[part.public_only] for draft_id",
        "(policies[False] if False in policies else fetch_policy(context)) for draft_id",
        "tests/manager/test_reach.py::test_what_resolves_to_a_private_address_later_is_not_requested",
    ),
    Mutation(
        "private-addresses-for-their-links",
        "Security: nor does what is found on such a page",
        REACH,
        "    if public_only:\n",
        "    if False:\n",
        "tests/manager/test_reach.py::test_links_and_redirects_of_an_added_page_are_no_further",
    ),
    Mutation(
        "run-foreign-jobs",
        "A worker runs the crawler's own jobs only",
        JOB_GUARD,
        "if job.instance is not None or job.func_name not in PERMITTED:",
        "if job.instance is not None:",
        "tests/queueing/test_job_guard.py::test_a_worker_refuses_them_and_goes_on",
    ),
    Mutation(
        "believe-any-proxy",
        "X-Forwarded-Proto counts from trusted proxies alone",
        WEB_FORWARDED,
        "            request.META.pop(SCHEME, None)\n",
        "",
        "tests/web/test_forwarded.py::test_only_a_trusted_proxy_says_that_a_request_came_by_https",
    ),
    Mutation(
        "store-what-strangers-send",
        "A body is refused by its length before it is read",
        WEB_UPLOADS,
        "        if length <= limit:\n",
        "        if length <= limit or scopes is None:\n",
        "tests/web/test_uploads.py::test_a_stranger_stores_nothing",
    ),
    Mutation(
        "trap-without-growth",
        "A branch that comes to an end by itself is no trap",
        TRAP_BRANCHES,
        "return counted.pages >= pages and counted.grown * 10 >= counted.pages * in_ten and is_growing_still",
        "return counted.pages >= pages",
        "tests/capabilities/traps/test_page_filters.py::test_an_honest_site_is_crawled_whole[one form]",
    ),
    Mutation(
        "lively-paths-lost",
        "Honest pages are not lost with a host that is silent as a whole",
        TRAP_BRANCHES,
        "if path.is_spared and _is_path_within(each, pattern)",
        "if False",
        "tests/capabilities/traps/test_page_filters.py::test_an_honest_path_among_many_small_traps_is_crawled_whole",
    ),
    Mutation(
        "path-lost-with-a-parameter",
        "Honest pages are not lost with a trap at their path that has a parameter which they lack",
        TRAP_BRANCHES,
        "0 < rest <= new * 2",
        "False",
        "tests/capabilities/traps/test_page_filters.py::"
        "test_honest_pages_at_the_path_of_a_trap_are_crawled_if_they_lack_its_parameter",
    ),
    Mutation(
        "trap-for-ever",
        "A trap that says something new after all is released by itself",
        TRAP_FILTERS,
        "                self._open_again(trap)\n",
        "                pass\n",
        "tests/capabilities/traps/test_page_filters.py::test_a_false_alarm_is_taken_back_by_the_crawl_itself",
    ),
    Mutation(
        "each-rest-kept-out",
        "One page for each rest of a URL is requested, though its parameter makes no difference",
        TRAP_FILTERS,
        "        if hashes is not None and self._memory.take(hashes[1:]):\n            return True\n",
        "",
        "tests/capabilities/traps/test_page_filters.py::"
        "test_pages_that_are_first_found_with_the_parameter_of_a_trap_are_requested",
    ),
    Mutation(
        "slow-by-the-clock",
        "A host is compared with itself, not with a second",
        THROTTLE,
        "min(lower, key=lambda level: (level.responses < FEW_RESPONSES, level.mean))",
        "Level(1, 0.0, 0.0, FEW_RESPONSES, now)",
        "tests/core/politeness/test_throttle.py::test_a_steady_host_gets_every_connection_at_any_response_time",
    ),
    Mutation(
        "each-failure-counts",
        "Failures of requests that were under way together are one sign",
        THROTTLE,
        "return began >= max(throttle.changed_at, throttle.failed_at)",
        "return True",
        "tests/core/politeness/test_throttle.py::test_failures_of_requests_that_were_under_way_count_once",
    ),
    Mutation(
        "limit-not-kept",
        "When the limit of a host falls, slices at work keep it",
        "crawler/frontier/lua/host_grant.lua",
        "return i > limit",
        "return false",
        "tests/frontier/test_host_limiter.py::"
        "test_of_holders_that_are_too_many_by_now_some_wait_until_others_have_left",
    ),
    Mutation(
        "export-without-its-package",
        "An export whose package is missing is refused before a byte of it is sent",
        "crawler/exports/formats.py",
        "        self.check_installed()\n",
        "",
        "tests/extras/test_surfaces.py::test_the_page_of_exports_says_it_and_sends_no_file",
    ),
    Mutation(
        "lane-without-its-packages",
        "A crawl whose pages no worker can have is refused at its start",
        "crawler/crawls/start.py",
        "            _check_installed(lane)\n",
        "            pass\n",
        "tests/extras/test_surfaces.py::test_the_api_refuses_it_with_a_problem",
    ),
    Mutation(
        "config-file-with-a-credential",
        "A config file names credentials and does not have them",
        CONFIGURATION,
        "        if _is_secret(options[key]) and not all(_REFERENCE.fullmatch(str(one)) for one in _listed(value)):\n",
        "        if False:\n",
        "tests/management/test_configuration.py::test_a_credential_in_a_file_only_names_a_variable",
    ),
    Mutation(
        "config-file-of-a-stranger",
        "The config file of a project has no other file read or written",
        CONFIGURATION,
        "        if self._is_confined and not path.resolve().is_relative_to(folder.resolve()):\n",
        "        if False:\n",
        "tests/management/test_configuration.py::test_the_file_of_a_project_names_no_file_outside_of_its_folder",
    ),
    Mutation(
        "config-file-above-flags",
        "A flag is above a config file",
        CONFIGURATION,
        "    left_out = {*typed, *off, *_excluded_by(typed, options)}\n",
        "    left_out = {*off, *_excluded_by(typed, options)}\n",
        "tests/management/test_configuration.py::test_a_flag_is_above_the_environment_above_the_profile_above_the_file",
    ),
    Mutation(
        "worker-without-the-packages-keeps-nothing",
        "A worker without the packages of a format leaves the page to another",
        "crawler/capabilities/content/page_steps.py",
        "                raise MissingHere(missing)\n",
        "                return None\n",
        "tests/extras/test_surfaces.py::test_a_worker_without_it_leaves_the_page_to_another",
    ),
)
