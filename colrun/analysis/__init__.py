"""From rows to the numbers that figures and claims show: pure functions of DataFrames."""
