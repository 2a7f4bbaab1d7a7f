"""The settings of a single machine, with a hasher of passwords that takes no time: for servers that tests log in to."""

from crawler.settings.development import *  # noqa: F403

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
