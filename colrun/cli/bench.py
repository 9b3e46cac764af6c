"""`colrun bench`."""

import json
from typing import Any

import click

from colrun.errors import InvalidValueError

ESTIMATORS = "master-user,tbptt-1,tbptt-3,tbptt-5,tbptt-20,tbptt-40"


@click.command("bench")
@click.option("--columns", type=int, default=20, show_default=True)
@click.option("--width", type=int, default=50, show_default=True)
@click.option("--cell", default="additive", show_default=True)
@click.option("--reading", default="text", show_default=True)
@click.option("--lateral", default="10%", show_default=True)
@click.option("--step-size", type=float, help="let w learn")
@click.option("--steps", type=int, default=50, show_default=True)
@click.option("--dtype", type=click.Choice(["float32", "float64"]), default="float32", show_default=True)
@click.option("--estimators", default=ESTIMATORS, show_default=True)
@click.option("--no-plain", is_flag=True, help="leave out the plain reference, which takes a quarter of a minute")
@click.option("--no-growth", is_flag=True, help="leave out how cost grows, which takes a minute")
@click.option("--json", "as_json", is_flag=True, help="print JSON")
def command(no_plain: bool, no_growth: bool, as_json: bool, **shape: Any) -> None:
    """Measure speed on one core, against two plain references and against the machine's matrix-product peak.

    \b
    Examples:
      colrun bench
      colrun bench --columns 100 --width 100 --no-plain --json
    """
    from colrun.run.threads import one_thread

    one_thread()
    from colrun.bench.report import measure_all
    from colrun.bench.show import lines
    from colrun.estimators import parse_estimator
    from colrun.networks.architecture import Architecture
    from colrun.testbed import check_step_size

    names = tuple(parse_estimator(name.strip()) for name in shape["estimators"].split(","))
    if any(name.family not in ("master-user", "master-user-no-meta", "tbptt") for name in names):
        raise InvalidValueError("bench has references for master-user, master-user-no-meta and tbptt-k only.")
    architecture = Architecture.of(
        shape["cell"], shape["columns"], shape["width"], shape["lateral"], reading=shape["reading"]
    )
    for name in ("steps", "width"):
        if shape[name] < 1:
            raise InvalidValueError(f"{name} is {shape[name]}; it must be a whole number, 1 or more.")
    found = measure_all(
        architecture, names, check_step_size(shape["step_size"]), shape["steps"], shape["dtype"],
        plain=not no_plain, growth=not no_growth,
    )  # fmt: skip
    click.echo(json.dumps(found, indent=1) if as_json else "\n".join(lines(found)))
