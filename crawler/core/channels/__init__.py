"""Notice channels: a file for each kind, from which form, API, command, masking and docs are derived.

kind       what an entry consists of, and the message a channel gets
catalogue  which kinds there are, one line each; receivers of notices: reading, checking and masking their addresses
email      e-mail
webhook    signed JSON
slack      Slack and compatible servers
discord    Discord
"""
