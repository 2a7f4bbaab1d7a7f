"""Keeps the content of pages. Where it is stored, and read again, is `crawler.storage.content`.

options     its options
page_steps  writes the content of a page, in each format
"""
