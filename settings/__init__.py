"""Django settings: `environment` reads what is given from outside, `base` is common, then one module a place."""
