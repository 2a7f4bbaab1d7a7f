"""Pages rendered by Chromium. Playwright, which drives it, is optional: only `types`, `driver`, `tab`, `page*` and
`recorder` import it.

options         its options
conf            its settings
hints           that pages need their scripts
page_fields     the fields of a page that say how it loaded
page_parts      how a page loaded, as JSON values and as text
result_fields   how a page loaded, in the results of fetch jobs
reports         pages that had errors while they loaded
lanes           the lane of rendered pages
page_rows       how pages loaded, as rows
page_tables     the table of these rows
receipt_parts   how many pages were rendered, in the receipt
page_steps      renders a page with the manners of its crawl; finds pages that need it
rules           when pages are rendered, which requests are blocked, when the browser is replaced
shells          pages that cannot be read without running their scripts
page_load       how a page loaded: its requests, console errors, Web Vitals
renderer        renders a page for a fetch job, whose task answers what the page asks
tab             a browser context with one page after the other
kept_tabs       tabs that wait for another page of their site
types           what the modules about a page hand to each other
page            one page: when it is ready, what it becomes
page_requests   its requests: which of them go out, what became of them
recorder        the responses to its requests with their bodies, for a WARC
page_reader     reads a page: the DOM, the Web Vitals
page_pictures   its screenshot, and the page as a PDF
result          what a browser made of a page
driver          the running Chromium of this process
install         installs it, for the tests
chromium        where Chromium is, how it is started, its sandbox
proxy           the proxy that all of Chromium's traffic goes through
admission       what a page may do by it: credentials, limits, counters, turns at a host
proxy_relay     one connection: bytes both ways, or one request and its response
proxy_request   the heads of requests and responses that pass it
page_clock      the virtual time of a tab
memory          how much memory Chromium uses
"""

SEAMS = (
    "options",
    "hints",
    "lanes",
    "page_steps",
    "page_rows",
    "page_tables",
    "page_fields",
    "page_parts",
    "result_fields",
    "reports",
    "receipt_parts",
)
