"""The settings of a clone by their short names; they are those of `crawler.settings`."""
