"""The kinds of channel. Adding one is a file of the same shape, and its line in `notices.delivery`.

transport  what is sent (`Message`), the shape of a channel, and what those that POST have in common
"""
