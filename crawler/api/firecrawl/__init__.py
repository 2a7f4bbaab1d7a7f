"""The API under the names that users of Firecrawl know.

routes   its operations
schemas  what they take and return
mapping  its options and states as ours
"""
