"""Pages of an account.

account   the user's own page, password, invitations
login     name and password, one-time links
sign_in   second factor, passkeys and single sign-on by django-allauth
tokens    API tokens
channels  notice channels, and the secrets of webhooks
"""
