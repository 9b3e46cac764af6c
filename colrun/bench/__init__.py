"""Speed, measured as ratios in one run: the engine against two plain references and against the machine's peak."""
