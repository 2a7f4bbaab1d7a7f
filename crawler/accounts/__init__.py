"""Users: login, permissions, quotas, tokens, the audit log.

account_changes  records changes of accounts in the audit log
audit            the audit log
login_links      one-time login links and invitations
logins           limits of failed logins, sessions
permissions      which crawls, schedules and channels a user may see and change
models           the tables of accounts
quotas           how much a user may crawl
slow_calls       limits calls that wait for another server
tokens           API tokens
idempotency      stored responses of keyed calls
"""
