"""Two commits, one machine, the same sweeps: are their rows equal to the last bit?

Bits depend on the CPU, so rows are never compared with stored ones. This runs a sample of every sweep file by the code
of another commit and by the code here, one after the other, and compares all columns that both have.

    python -m tests.yardstick                      against the commit before
    python -m tests.yardstick --base v0.1 --sweeps rnn-alignment,cost
    python -m tests.yardstick --within 1e-6        tolerates differences up to that, and says how large they are
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

ROOT = Path(__file__).parents[1]
SEEDS = {"cost": "0:1"}
"""Of a sample; two networks in the others."""
UNCOMPARED = ["seconds"]
"""Columns that no two runs share."""


def run(code: Path, sweep: str, results: Path) -> pd.DataFrame:
    """The rows of a sample of one sweep, computed by the code in a folder."""
    command = [sys.executable, "-m", "colrun", "sweep", str(ROOT / "sweeps" / f"{sweep}.toml"), "--quiet"]
    command += ["--seeds", SEEDS.get(sweep, "0:2"), "--out", str(results)]
    subprocess.run(command, env={**os.environ, "PYTHONPATH": str(code)}, cwd=results, check=True)
    parts = sorted((results / sweep / "rows").resolve().glob("*.parquet"))
    return pd.concat([pd.read_parquet(part) for part in parts], ignore_index=True)


def compare(before: pd.DataFrame, after: pd.DataFrame) -> dict[str, float]:
    """Of every column that differs the largest relative difference (of `mae`, to the truth); infinite for words."""
    key = [name for name in ("job", "estimator", "window", "step", "quantity") if name in before]
    one, other = (frame.sort_values(key, ignore_index=True) for frame in (before, after))
    if len(one) != len(other) or not one[key].equals(other[key]):
        return {"rows": float("inf")}
    found = {}
    for name in one.columns.intersection(other.columns).difference(UNCOMPARED):
        if one[name].equals(other[name]):
            continue
        if not pd.api.types.is_float_dtype(one[name]) or not (one[name].isna() == other[name].isna()).all():
            found[str(name)] = float("inf")
            continue
        old, new = one[name].to_numpy(), other[name].to_numpy()
        scale = one["mean_abs_truth"].to_numpy() if name == "mae" else np.maximum(np.abs(old), np.abs(new))
        share = np.abs(new - old) / scale.clip(min=1e-300)
        found[str(name)] = float(np.nanmax(share))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", default="HEAD~1", help="the commit to compare with (default: the one before)")
    parser.add_argument("--sweeps", default="", help="names, with commas; default: all that both have")
    parser.add_argument("--within", type=float, default=0.0, help="relative differences up to this are no failure")
    options = parser.parse_args()
    names = (
        options.sweeps.split(",") if options.sweeps else sorted(path.stem for path in (ROOT / "sweeps").glob("*.toml"))
    )
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        base, results = Path(folder, "base"), [Path(folder, "before"), Path(folder, "after")]
        for each in results:
            each.mkdir()
        git = ["git", "-C", str(ROOT)]
        subprocess.run([*git, "worktree", "add", "--quiet", "--detach", str(base), options.base], check=True)
        try:
            for name in names:
                if not (base / "sweeps" / f"{name}.toml").exists():
                    print(f"{name}: not there before")
                    continue
                before, after = (run(code, name, out) for code, out in zip((base, ROOT), results, strict=True))
                found = compare(before, after)
                failed |= any(size > options.within for size in found.values())
                differ = ", ".join(f"{column} by {size:.1e}" for column, size in sorted(found.items()))
                print(
                    f"{name}: {len(after)} rows, " + (f"differ: {differ}" if found else "equal bit for bit"), flush=True
                )
        finally:
            subprocess.run([*git, "worktree", "remove", "--force", str(base)], check=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
