"""Source code as listings: differences, costs by line, expected errors."""
