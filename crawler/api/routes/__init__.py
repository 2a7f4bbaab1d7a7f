"""The operations of the API: each loads, checks, calls one function and returns a schema."""
