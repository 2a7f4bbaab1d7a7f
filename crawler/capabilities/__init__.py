"""What a crawl may do besides being exact: a folder each, found by its line in `crawler.registry`.

browser     pages rendered in Chromium
scrapy      pages run through Scrapy, and spiders
hooks       the operator's own classes
extraction  fields read from pages
content     kept content: HTML, text, Markdown, WARC, pictures
cache       responses that are reused
login       logging in with a form
traps       endless series of pages
telemetry   traces for OpenTelemetry, errors for Sentry
"""
