"""The content of pages: objects in Django's `STORAGES["content"]` that consist of gzip members, one or two per page, so
that a page is found by object, offset and length, and concatenated objects are valid files.

objects  saves, reads and deletes objects
kept     the content of a page in a format
shelf    buffers content in a fetch job until its results refer to it
copies   copies the content of cached responses for the crawl that reuses them
warc     an exchange as WARC records
"""
