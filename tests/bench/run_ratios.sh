#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Measures what README.md promises, as ratios of two things measured here and now, and prints a
# table. Builds nothing.
#
#   tests/bench/run_ratios.sh BUILD [REPEATS] [short]
#
# REPEATS is 5 unless given; `short` leaves the catalog out that is ten times as long.
# Needs node and zstd, the corpora ($KERNELINDEX_CORPUS, by default `shared` beside the checkout),
# and some 2 GiB under $TMPDIR. Each figure is the least of the repeats; "processor" columns count
# processor seconds of all threads, which other work on the machine disturbs less. Exit 1 when a
# target is missed.
set -euo pipefail

[ $# -ge 1 ] || { sed -n '3,13s/^# \{0,1\}//p' "$0"; exit 2; }
build=$(cd "$1" && pwd)
repeats=${2:-5}
short=${3:-}
source=$(cd "$(dirname "$0")/../.." && pwd)
corpus=${KERNELINDEX_CORPUS:-$source/../shared}
bench=$build/tests/bench
program=$build/tools/kernelindex
compressed=$corpus/data/kernelindex-catalog-2026-08-16-0022af0b.jsonl.zst
dump=$corpus/data/sol-dump
node_check=$corpus/peers/check_catalog.mjs

for file in "$program" "$bench/measure_child" "$compressed" "$node_check"; do
  [ -e "$file" ] || { echo "$file is missing" >&2; exit 2; }
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_STATE_HOME=$work/state
zstd -dqf "$compressed" -o "$work/catalog.jsonl"
chmod u+w "$work/catalog.jsonl"

# The least of each column of "wall processor MiB" lines.
least() { awk 'NR == 1 { for (i = 1; i <= 3; i++) m[i] = $i }
               { for (i = 1; i <= 3; i++) if ($i < m[i]) m[i] = $i }
               END { print m[1], m[2], m[3] }'; }
greatest_memory() { awk '$3 > m { m = $3 } END { print m }'; }
measure() { "$bench/measure_child" "$@"; }
repeat() { for _ in $(seq "$repeats"); do measure "$@"; done; }
say() { echo "$*" >&2; }

fresh_ledger() {
  rm -rf "$1"
  "$program" init --ledger "$1" --quiet > "$work/said" 2>&1 || { cat "$work/said" >&2; exit 1; }
}
import_fresh() {  # LEDGER SOURCE...
  local ledger=$1
  shift
  for _ in $(seq "$repeats"); do
    fresh_ledger "$ledger"
    sync -f "$work"
    measure "$program" import --ledger "$ledger" --quiet "$@"
  done
}

say "load $(cut -d' ' -f1-3 /proc/loadavg); the check in Node"
read -r node node_cpu _ < <(repeat node "$node_check" "$work/catalog.jsonl" | least)
say "the same check here"
read -r plain plain_cpu _ < <(repeat "$bench/check_catalog" "$work/catalog.jsonl" | least)
read -r schema schema_cpu _ < <(repeat "$bench/check_catalog" "$work/catalog.jsonl" --schema | least)

say "importing the catalog"
import_fresh "$work/ledger" kernelindex-catalog "$compressed" > "$work/import"
read -r import import_cpu _ < <(least < "$work/import")
memory=$(greatest_memory < "$work/import")
say "putting the same keys and values"
"$bench/replay_store" "$work/ledger" "$work" "$repeats" > "$work/replay"
read -r _ keys keys_cpu pairs bytes batches < <(grep '^everything' "$work/replay")
read -r _ documents documents_cpu _ < <(grep '^documents' "$work/replay")

say "the audit"
read -r audit audit_cpu _ < <(repeat "$bench/audit_ledger" "$work/ledger" | least)
say "history and show"
"$bench/time_queries" "$work/ledger" "$((repeats * 4))" > "$work/queries"
read -r _ groups history_median history_worst history_us < <(grep '^history' "$work/queries")
read -r _ runs show_median show_worst show_us < <(grep '^show' "$work/queries")

say "importing the dump"
read -r sol sol_cpu _ < <(import_fresh "$work/sol" sol-execbench "$dump" --top 3 | least)
before=$("$program" status --ledger "$work/sol" --json)
read -r again again_cpu _ < <(repeat "$program" import --ledger "$work/sol" --quiet \
  sol-execbench "$dump" --top 3 | least)
[ "$before" = "$("$program" status --ledger "$work/sol" --json)" ] \
  || { echo "importing the dump again added something" >&2; exit 1; }

longer=0 longer_cpu=0 longer_memory=0
if [ -z "$short" ]; then
  say "importing ten times the catalog"
  "$bench/write_longer_catalog" "$work/catalog.jsonl" 10 "$work/longer.jsonl"
  fresh_ledger "$work/longer"
  read -r longer longer_cpu longer_memory < <(measure "$program" import --ledger "$work/longer" \
    --quiet kernelindex-catalog "$work/longer.jsonl")
fi

echo "$(uname -sr), $(nproc) processors, $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1)," \
  "load $(cut -d' ' -f1-3 /proc/loadavg)"
echo "ledger of the catalog: $pairs keys, $((bytes / 1024 / 1024)) MiB of keys and values," \
  "$batches batches; $groups groups, $runs runs"
awk -v node="$node" -v node_cpu="$node_cpu" -v plain="$plain" -v plain_cpu="$plain_cpu" \
  -v schema="$schema" -v schema_cpu="$schema_cpu" -v import="$import" -v import_cpu="$import_cpu" \
  -v keys="$keys" -v keys_cpu="$keys_cpu" -v documents="$documents" \
  -v documents_cpu="$documents_cpu" -v sol="$sol" -v sol_cpu="$sol_cpu" -v again="$again" \
  -v again_cpu="$again_cpu" -v audit="$audit" -v audit_cpu="$audit_cpu" \
  -v history_worst="$history_worst" -v history_median="$history_median" \
  -v history_us="$history_us" -v show_worst="$show_worst" -v show_median="$show_median" \
  -v show_us="$show_us" -v memory="$memory" -v longer_memory="$longer_memory" \
  -v longer="$longer" -v longer_cpu="$longer_cpu" '
  function row(what, target, wall, cpu, good, detail) {
    printf "%-46s %-9s %9.2f %9s  %-4s %s\n", what, target, wall, cpu, good ? "ok" : "MISS", detail
    if (!good) missed = 1
  }
  function two(cpu) { return sprintf("%.2f", cpu) }
  BEGIN {
    printf "%-46s %-9s %9s %9s\n", "", "target", "measured", "processor"
    row("digests and keys, times as fast as Node", ">= 6", node / plain, two(node_cpu / plain_cpu),
        node / plain >= 6, sprintf("%.3f s against %.3f s", plain, node))
    row("  with every schema checked", ">= 4", node / schema, two(node_cpu / schema_cpu),
        node / schema >= 4, sprintf("%.3f s", schema))
    row("catalog import, of putting its keys and values", "<= 1.5", import / keys,
        two(import_cpu / keys_cpu), import / keys <= 1.5,
        sprintf("%.3f s against %.3f s", import, keys))
    row("  of putting the bare documents", "<= 5", import / documents,
        two(import_cpu / documents_cpu), import / documents <= 5, sprintf("%.3f s", documents))
    forerunner = 4.5 / 1.7 * node
    row("dump import, times as fast as the forerunner", ">= 12", forerunner / sol, "",
        forerunner / sol >= 12, sprintf("%.3f s against %.3f s", sol, forerunner))
    row("  again, times as fast as the first", ">= 1", sol / again, two(sol_cpu / again_cpu),
        sol / again >= 1, sprintf("%.3f s", again))
    row("audit of the catalog, times as fast as Node", ">= 3", node / audit,
        two(node_cpu / audit_cpu), node / audit >= 3, sprintf("%.3f s", audit))
    row("history, of 50 us + 1 us a run, worst group", "<= 1", history_worst, "",
        history_worst <= 1, sprintf("median %.2f, %.1f us", history_median, history_us))
    row("show by digest, of 20 us, worst run", "<= 1", show_worst, "", show_worst <= 1,
        sprintf("median %.2f, %.1f us", show_median, show_us))
    row("catalog import, MiB at its peak", "< 400", memory, "", memory < 400, "")
    if (longer_memory > 0)
      row("  ten times as long, of that", "<= 1.2", longer_memory / memory, "",
          longer_memory / memory <= 1.2,
          sprintf("%.0f MiB, %.1f s, %.1f s of processor", longer_memory, longer, longer_cpu))
    exit missed
  }'
