"""The app of another Django project, which hears of crawls and has a job of its own."""
