#!/usr/bin/env bash
# Runs the sweep learning with GNU Parallel. Made by: colrun script parallel learning
#
# Run it in the folder that holds (or shall hold) the results, with colrun on the PATH. Stop it and run it again as you
# like, also on several machines at once: colrun says what is missing, and only that runs.
#
#   JOBS=4             jobs at once on each machine; 100% is one per core
#   HOSTS=hosts.txt    run on these machines: one ssh login per line, such as user@server, or 8/user@server to have it
#                      count as 8 cores. They must see this folder and colrun under the same paths
#   BATCH=60           seconds of work, by colrun's estimate, for which Python is started once
#   --retry-failed     an argument of this script: run jobs that failed as well
set -euo pipefail

JOBS=${JOBS:-100%}
BATCH=${BATCH:-60}
hosts=
hosts=${HOSTS:-$hosts}
results=results
sweep=(--results results -- learning)

# One thread per job: the cores are shared out by GNU Parallel.
export OMP_NUM_THREADS=1 MKL_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1

options=(--jobs "$JOBS" --retries 3)
case $JOBS in
*[!0-9]*) slots=$(nproc 2>/dev/null || echo 4) ;;
*) slots=$JOBS ;;
esac
if [ -n "$hosts" ]; then
  machines=$(grep -Evc '^[[:space:]]*(#|$)' "$hosts") || { echo "there is no login in $hosts" >&2; exit 2; }
  slots=$((slots * machines))
  # A batch that fails on one machine, which may be down, is tried on the others. No machine asks for a password.
  options+=(--sshloginfile "$hosts" --workdir "$PWD" --retries "$((machines + 3))")
  export PARALLEL_SSH=${PARALLEL_SSH:-ssh -o BatchMode=yes -o ConnectTimeout=20}
  for name in PATH PYTHONPATH LD_LIBRARY_PATH NUMBA_CACHE_DIR COLRUN_UNIT_SECONDS \
    OMP_NUM_THREADS MKL_NUM_THREADS OPENBLAS_NUM_THREADS; do
    if [ -n "${!name:-}" ]; then options+=(--env "$name"); fi
  done
fi
if [ -t 2 ]; then options+=(--bar); fi

# What is missing, one batch of jobs per line. Large batches come first, so that all cores end together.
list=$(mktemp)
trap 'rm -f "$list"' EXIT
colrun job --list --seconds "$BATCH" --slots "$slots" "$@" "${sweep[@]}" >"$list"
if [ ! -s "$list" ]; then
  echo "nothing is missing"
  colrun status "${sweep[@]}"
  exit
fi

# The joblog is for people: the results say what is done. Readers of results skip folders that begin with _.
mkdir -p "$results/learning/_logs"
joblog=$results/learning/_logs/parallel-$({ sha256sum 2>/dev/null || shasum -a 256; } <"$list" | cut -c1-12).joblog
options+=(--joblog "$joblog")
echo "learning: $(wc -l <"$list") batches; joblog: $joblog"

code=0
parallel "${options[@]}" 'colrun job --results results -- learning {}' <"$list" || code=$?

colrun status "${sweep[@]}" || code=1
if [ -n "$(colrun job --list "${sweep[@]}")" ]; then
  echo "not all is done; run this script again to go on. Do all machines see the same $results?" >&2
  code=1
fi
exit "$((code > 0))"
