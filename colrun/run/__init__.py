"""Running: one function does a unit of work, and every backend calls it."""
