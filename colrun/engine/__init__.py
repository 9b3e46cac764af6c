"""The fast engine: networks of one shape computed together by compiled kernels, with θ fixed over a sequence."""
