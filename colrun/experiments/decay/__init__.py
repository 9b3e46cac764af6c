"""Experiment `decay`: how fast untrained LSTM and GRU cells forget a state of ones."""
