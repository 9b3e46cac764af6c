"""Columnar networks: cells, lateral masks, readings, one forward step, and batches run forward."""
