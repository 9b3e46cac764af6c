"""Experiment `decay`: mean absolute state of an untrained torch.nn.LSTM or GRU, from a state of ones at zero input."""

import torch

from colrun.experiments.decay import DecayConfig
from colrun.experiments.declare import Row
from colrun.streams import unit_uniform


def run(config: DecayConfig, seeds: list[int], estimators: list[str]) -> dict[int, list[Row]]:  # noqa: ARG001
    return {seed: _run(config, seed) for seed in seeds}


def _run(config: DecayConfig, seed: int) -> list[Row]:
    hidden, dtype = config.hidden, getattr(torch, config.dtype)
    kind = {"lstm": torch.nn.LSTM, "gru": torch.nn.GRU}[config.cell]
    network = kind(config.inputs, hidden, bias=config.bias, dtype=dtype)
    # PyTorch's own initial distribution, ±1/√hidden for weights and biases, drawn from streams that a seed fixes.
    with torch.no_grad():
        for name, value in network.named_parameters():
            drawn = unit_uniform(seed, f"decay.{config.cell}.{name}", *value.shape)
            value.copy_(torch.from_numpy((2 * drawn - 1) / hidden**0.5))
        zero = torch.zeros(1, 1, config.inputs, dtype=dtype)
        h = memory = torch.ones(1, 1, hidden, dtype=dtype)
        rows = []
        for step in range(config.steps + 1):
            if step > 0 and config.cell == "lstm":
                _, (h, memory) = network(zero, (h, memory))
            elif step > 0:
                _, h = network(zero, h)
            quantities = {"h": h, "memory": memory} if config.cell == "lstm" else {"h": h}
            for quantity, value in quantities.items():
                mean = float(value.double().abs().mean())
                rows.append(
                    {"step": step, "quantity": quantity, "value": mean, "diverged": not torch.isfinite(value).all()}
                )
    return [{**row, "diverged": bool(row["diverged"])} for row in rows]
