"""Django settings: `environment` reads variables, `base` is common; one module for each kind of installation."""
