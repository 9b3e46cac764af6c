"""Networks that learn while they run: an estimator, an optimiser and step sizes make a learner."""
