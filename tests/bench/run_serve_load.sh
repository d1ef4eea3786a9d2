#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Imports the catalog, serves it, and loads the server; README.md says what is measured. Builds
# nothing.
#
#   tests/bench/run_serve_load.sh BUILD [CONNECTIONS [SECONDS [MINUTE]]]
#
# Needs the corpora ($KERNELINDEX_CORPUS, by default `shared` beside the checkout) and some 300 MiB
# under $TMPDIR. Exit 1 when a target is missed.
set -euo pipefail

[ $# -ge 1 ] || { sed -n '3,9s/^# \{0,1\}//p' "$0"; exit 2; }
build=$(cd "$1" && pwd)
shift
source=$(cd "$(dirname "$0")/../.." && pwd)
corpus=${KERNELINDEX_CORPUS:-$source/../shared}
program=$build/tools/kernelindex
catalog=$corpus/data/kernelindex-catalog-2026-08-16-0022af0b.jsonl.zst
for file in "$program" "$build/tests/bench/load_server" "$catalog"; do
  [ -e "$file" ] || { echo "$file is missing" >&2; exit 2; }
done

work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2> /dev/null || true; rm -rf "$work"' EXIT
export XDG_STATE_HOME=$work/state KERNELINDEX_LEDGER=$work/ledger
"$program" init --quiet > /dev/null
"$program" import kernelindex-catalog "$catalog" --quiet > /dev/null
"$program" checkpoint > /dev/null

mkfifo "$work/said"
"$program" serve --listen 127.0.0.1:0 2> "$work/said" &
server=$!
exec 3< "$work/said"
read -r line <&3
echo "load $(cut -d' ' -f1-3 /proc/loadavg); $line" >&2
status=0
"$build/tests/bench/load_server" "${line##*:}" "$@" || status=$?
kill "$server"
wait "$server" || { echo "the server ended with an error" >&2; exit 2; }
server=
exit "$status"
