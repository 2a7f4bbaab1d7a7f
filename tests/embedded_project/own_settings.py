TEMPLATES[0]["DIRS"] = [BASE_DIR / "templates"]  # noqa: F821  # these lines are appended to the project's settings
CRAWLER_BASE_TEMPLATE = "shop.html"
