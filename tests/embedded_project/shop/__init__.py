"""The app of another Django project, with a job of its own; its `apps.py` is the one of docs/howto/django.md."""
