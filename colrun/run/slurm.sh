#!/usr/bin/env bash
#SBATCH --job-name=colrun-@NAME@
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=1
#SBATCH --mem=@MEMORY@
#SBATCH --time=@TIME@
#SBATCH --signal=B:USR1@@SIGNAL@
#SBATCH --requeue
#SBATCH --open-mode=append
@SBATCH@
# Runs the sweep @NAME@ as a Slurm job array. Made by: @MADE@
#
# Run it on the login node with `bash THIS-FILE` (not with sbatch: it submits itself), in the folder that holds (or
# shall hold) the results, with colrun on the PATH. Run it again to go on: colrun says what is missing, and only that
# is submitted.
#
#   MAX_ARRAY=1001     tasks of one array at most; by default what the cluster allows (its MaxArraySize)
#   RESTARTS=5         of a task that reached its time limit or was killed, after which somebody should look
#   FORCE=1            submit although tasks of this sweep are in the queue: some work is then done twice, no row is
#   --retry-failed     an argument of this script: run jobs that failed as well
set -euo pipefail

results=@RESULTS@
sweep=(@SWEEP@)
logs=$results/@NAME@/_logs
RESTARTS=${RESTARTS:-5}

@SETUP@
# One thread per task: each has one core.
export OMP_NUM_THREADS=1 MKL_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1

# Pack what is missing into tasks, and submit them: lines OFFSET+1 to OFFSET+MAX_ARRAY of the list are one array.
submit() {
  local me=${BASH_SOURCE[0]:-} list pattern total most offset size id running=@RUNNING@ ids=() options=(--parsable)
  if [ -n "${SLURM_JOB_ID:-}" ] || [ ! -f "$me" ]; then
    echo "start this script from a file on the login node, with bash and not with sbatch: it submits itself" >&2
    exit 2
  fi
  total=$(squeue --noheader --user "$(id -un)" --name "colrun-@NAME@" --format %i | wc -l)
  if [ "$total" -gt 0 ] && [ -z "${FORCE:-}" ]; then
    echo "colrun-@NAME@ is in the queue already; wait, or: scancel --name colrun-@NAME@" >&2
    exit 1
  fi

  list=$(mktemp)
  colrun job --list --seconds @SECONDS@ "$@" "${sweep[@]}" >"$list"
  total=$(wc -l <"$list")
  if [ "$total" -eq 0 ]; then
    rm -f "$list"
    echo "nothing is missing"
    colrun status "${sweep[@]}"
    exit
  fi
  # In the results folder, which compute nodes see. Readers of results skip folders that begin with _.
  mkdir -p "$logs"
  id=$logs/slurm-$(sha256sum <"$list" | cut -c1-12)
  cp "$list" "$id.list"
  rm -f "$list"
  list=$id.list
  pattern=${id//%/%%} # sbatch puts numbers for %

  most=${MAX_ARRAY:-$(scontrol show config | sed -n 's/^MaxArraySize *= *//p')}
  for ((offset = 0; offset < total; offset += most)); do
    size=$((total - offset < most ? total - offset : most))
    id=$(sbatch "${options[@]}" --array="0-$((size - 1))$running" --output="$pattern-%A_%a.out" \
      "$me" task "$list" "$offset") || break
    ids+=("${id%%;*}") # a federation adds its cluster's name
    # Arrays of which only some tasks may run at once follow one another.
    if [ -n "$running" ]; then options=(--parsable --dependency="afterany:${id%%;*}"); fi
  done
  if [ "${#ids[@]}" -eq 0 ]; then exit 1; fi
  id=$(IFS=: && echo "${ids[*]}")
  sbatch --parsable --dependency="afterany:$id" --output="$pattern.report" "$me" finish >/dev/null

  echo "@NAME@: tasks 1 to $((offset < total ? offset : total)) of $total submitted as array ${ids[*]}"
  if [ "$offset" -lt "$total" ]; then
    echo "the rest was refused (a limit of the cluster?); run this script again when these are done" >&2
  fi
  echo "  follow  squeue --me --name colrun-@NAME@"
  echo "          colrun status$(printf ' %q' "${sweep[@]}")"
  echo "  stop    scancel --name colrun-@NAME@     (what is done is kept)"
  echo "  resume  bash $(printf %q "$me")"
  echo "  report  ${list%.list}.report     (written by the last task, which also compacts the results)"
  echo "  trouble ${list%.list}-*.out      (only tasks that failed leave one)"
}

# One task of an array: a line of the list.
task() {
  local list=$1 line=$(($2 + SLURM_ARRAY_TASK_ID + 1)) child='' asked='' code=0
  local self=${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID
  # Slurm's word that time is short, or that it is over. colrun then keeps what is done and ends with a code above 128.
  trap 'asked=${asked:-requeue}; [ -z "$child" ] || kill -TERM "$child" 2>/dev/null || true' USR1
  trap 'asked=end; [ -z "$child" ] || kill -TERM "$child" 2>/dev/null || true' TERM
  colrun job "${sweep[@]}" "$(sed -n "${line}p" "$list")" &
  child=$!
  if [ -n "$asked" ]; then kill -TERM "$child" || true; fi
  while :; do # a signal ends `wait`, but not what it waits for
    code=0
    wait "$child" || code=$?
    kill -0 "$child" 2>/dev/null || break
  done
  if [ "$code" -gt 128 ] && [ "$asked" != end ]; then # stopped before the limit, or killed by somebody
    if [ "${SLURM_RESTART_COUNT:-0}" -lt "$RESTARTS" ]; then
      echo "task $self is not done (code $code) and goes back into the queue"
      scontrol requeue "$self"
      sleep 300 # Slurm ends this process
      exit
    fi
    echo "task $self was started $((RESTARTS + 1)) times; give it more time or memory" >&2
  fi
  if [ "$code" -eq 0 ]; then rm -f "${list%.list}-$self.out"; fi # a file per task is hard on inode quotas
  exit "$code"
}

# When all tasks have ended, however they did.
finish() {
  local code=0
  colrun compact --results "$results" @NAME@ || code=1
  colrun status "${sweep[@]}" || code=1
  if [ -n "$(colrun job --list "${sweep[@]}")" ]; then
    echo "not all is done; run the script again to go on"
    code=1
  fi
  exit "$code"
}

case ${1:-} in
task | finish) "$@" ;;
*) submit "$@" ;;
esac
