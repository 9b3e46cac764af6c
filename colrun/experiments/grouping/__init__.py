"""Experiment `grouping`: Master-User with columns and with random groups, also on a dense RNN of the same size."""
