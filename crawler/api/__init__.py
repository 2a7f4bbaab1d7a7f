"""The HTTP API at /api/v1: what the web pages can do, for programs. docs/api.md is for its users.

v1           the API as django-ninja knows it: routers, errors, addresses
middleware   login, rate limit, idempotency, headers
callers      who calls (a token or a session), and how often they may
idempotency  calls with an Idempotency-Key
lookups      what a caller may see
problems     errors as application/problem+json (RFC 9457), reading JSON bodies
paging       keyset paging
openapi      operations and their description, and the page that shows it
routes/      operations
schemas/     what they take and return
python       what code in the same project can do with crawls
firecrawl/   the same under the names that users of Firecrawl know
"""
