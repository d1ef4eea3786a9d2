#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Takes an example kernel the whole way: a ledger, a calibration, a job, the runner, the verdict.
#
#   measure_example.sh KERNELINDEX RUNNER EXAMPLE FOLDER [--simulate]
#
# EXAMPLE is a folder like docs/example-kernel. FOLDER, which must not be there, gets the ledger and
# the signed results. Exit 0: the runner measured and its result counts; with --simulate: every path
# of acceptance refused it as simulated, and no level rose.
set -euo pipefail

if (($# < 4 || $# > 5)) || [[ ${5:---simulate} != --simulate ]]; then
  echo "usage: measure_example.sh KERNELINDEX RUNNER EXAMPLE FOLDER [--simulate]" >&2
  exit 2
fi
program=$1
runner=$2
example=$3
folder=$4
simulate=${5:-}
mkdir "$folder"
export KERNELINDEX_LEDGER=$folder/ledger XDG_STATE_HOME=$folder/state

kernelindex() { "$program" --quiet "$@"; }
fail() {
  echo "$*"
  exit 1
}

# A run on another device than the claimed one is measured too: its verdict is not_comparable.
device=()
if [[ -z $simulate ]]; then
  # Spelled as importers and the runner do: "NVIDIA H100" of "NVIDIA H100 80GB HBM3".
  name=$(nvidia-smi --query-gpu=name --format=csv,noheader -i 0 |
    sed -E 's/^(NVIDIA (H200|H100|B200|A100)).*/\1/')
  capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader -i 0)
  device=(--product "$name" --architecture "sm_${capability/./}")
fi

kernelindex init > /dev/null
kernelindex add "$example/operation.json" "$example"/*.yaml \
  --artifact "$example/kernel.cu" --artifact "$example/run.log" > /dev/null
run=$(kernelindex manifest digest "$example/run.yaml")
before=$(kernelindex evidence "$run" | sed -n 's/^level *\([a-z]*\):.*/\1/p')
key=$(kernelindex key new runner -o "$folder/runner.key" | sed -n 's/^public key *//p')
kernelindex key enrol runner "$key" --owner gpu-check > /dev/null
# The job says which digests the root has to approve.
order=(job new "$run" --source "$example/kernel.cu" --recipe "$example/kernelindex.build.json"
  --source-reviewed --runner-program "$runner" "${device[@]}" -o "$folder/job.json")
for what in protocol harness; do
  digest=$(kernelindex "${order[@]}" 2>&1 | grep -o "approve $what sha256:[0-9a-f]\{64\}" | head -1 || true)
  [[ -n $digest ]] || fail "the job did not ask for the approval of a $what"
  kernelindex key approve "$what" "${digest##* }" > /dev/null
done

started=(--runner-program "$runner" --key "$folder/runner.key" $simulate)
kernelindex calibrate --sessions 3 --repetitions 10 "${started[@]}" -o "$folder/calibration"
code=0
kernelindex accept "$folder/calibration" || code=$?
[[ $code == "${simulate:+5}" || ($code == 0 && -z $simulate) ]] || fail "the calibration: exit $code"

kernelindex "${order[@]}"
kernelindex rerun "$folder/job.json" "${started[@]}" -o "$folder/result"
code=0
kernelindex accept "$folder/result" --accept-provisional | tee "$folder/verdict.txt" || code=$?
after=$(kernelindex evidence "$run" | sed -n 's/^level *\([a-z]*\):.*/\1/p')
kernelindex audit --reimport | tail -1
if [[ -n $simulate ]]; then
  grep -q '^codes .*SIMULATED_DEVICE' "$folder/verdict.txt" || fail "it was not refused as simulated"
  [[ $code == 1 && $after == "$before" ]] || fail "exit $code, level $before to $after"
  echo "seen: refused as simulated, the level stays $after"
else
  ((code == 0)) || fail "$(sed -n 's/^codes *//p' "$folder/verdict.txt")"
  echo "seen: $(sed -n 's/^verdict *//p' "$folder/verdict.txt"), the level is $after"
fi
