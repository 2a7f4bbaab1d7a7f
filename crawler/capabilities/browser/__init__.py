"""Pages rendered by Chromium. Playwright, which drives it, is optional: only `types`, `driver`, `tab`, `page*` and
`recorder` import it.

options         its options
lanes           the lane of rendered pages
page_rows       how pages loaded, as rows
receipt_parts   how many pages were rendered, in the receipt
page_steps      renders a page with the manners of its crawl; finds pages that need it
renderer        renders a page for a fetch job, whose task answers what the page asks
tab             a browser context with one page after the other
kept_tabs       tabs that wait for another page of their site
types           what the modules about a page hand to each other
page            one page: when it is ready, what it becomes
page_requests   its requests: which of them go out, what became of them
recorder        the responses to its requests with their bodies, for a WARC
page_reader     what is read from it: the DOM, the Web Vitals
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
