"""Telling people and programs what became of a crawl.

- `outbox`: which deliveries are due, and what came of trying them
- `transport`: what is sent, and the shape every transport has (`Message`, `TransportError`)
- `email`, `webhook`, `slack`, `discord`: the transports; a new one is a file of the same shape
- `posting`: what those that post have in common
"""
