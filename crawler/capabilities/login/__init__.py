"""Logging in: one form, sent once for all workers.

options  its options
"""
