"""Stored content of pages: objects in Django's `STORAGES["content"]` that consist of gzip members, one or two per page,
so that a page is found by object, offset and length, and concatenated objects are valid files.

options  its options
page_steps  writes the content of a page
storage  saves objects, reads a page's content, lists and deletes the objects of a crawl
shelf    buffers content in a fetch job until its results refer to it
copies   copies the content of cached responses for the crawl that reuses them
warc     an exchange as WARC records
"""
