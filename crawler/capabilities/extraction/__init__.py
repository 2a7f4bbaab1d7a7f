"""Fields read from pages by the rules of a user.

xpath  XPath in a process of its own
"""
