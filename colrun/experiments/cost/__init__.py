"""Experiment `cost`: operations, memory and time per step of an estimator's online form."""
