"""Notices: messages to users and programs about the events of a crawl.

models         the tables of notices
outbox         writes deliveries in the transaction that makes them true; claims and results of attempts
delivery       sends due notices, and sends again on request
subscribers    what capabilities do after an event, delivered like notices
user_channels  channels of an account
webhook_secrets  what webhooks are signed with
send           sends one message: a POST request or an e-mail
"""
