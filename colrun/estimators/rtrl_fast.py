"""The fast form of rtrl is that of bptt: both are exact."""

from colrun.estimators.bptt_fast import BPTT

FAST = {"rtrl": BPTT()}
