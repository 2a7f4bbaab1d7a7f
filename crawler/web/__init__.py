"""The pages people see: views, forms and their addresses."""
