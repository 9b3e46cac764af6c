"""What spans kinds of experiments: figures and claims on rows of more than one, and the paper's two drawings."""
