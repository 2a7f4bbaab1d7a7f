"""Users: who they are, what they may see and do, and how much they may crawl.

account_changes  records changes of accounts in the audit log
audit            the audit log
login_links      one-time login links and invitations
logins           how often a login may fail, and how long sessions last
permissions      which crawls, schedules and channels a user may see and change
models           the tables of accounts
quotas           how much a user may crawl
tokens           API tokens
idempotency      stored responses of keyed calls
"""
