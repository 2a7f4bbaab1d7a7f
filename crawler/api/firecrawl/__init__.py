"""The API under the names that users of Firecrawl know.

routes   its operations
schemas  what they take and return, and its options and states as ours
"""
