"""Sweeps: from a TOML file to a validated grid, to jobs with an identity, to units of work. Imports no torch."""
