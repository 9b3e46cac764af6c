"""Experiment `alignment`: how close an estimator's gradient is to the true one."""
