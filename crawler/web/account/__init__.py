"""Pages of an account: profile and invitations, login, API tokens, channels."""
