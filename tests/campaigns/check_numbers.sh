#!/bin/sh
# Compares our number texts with Node's String(x) for random doubles, and the published number
# sequence with its published hash. Takes minutes; the unit tests take samples of both.
#
#   check_numbers.sh BUILD [COUNT [SEED]]      BUILD: a build folder; COUNT: 10000000 by default
set -eu
build=${1:?usage: check_numbers.sh BUILD [COUNT [SEED]]}
count=${2:-10000000}
seed=${3:-8785}
numbers=$build/tests/schema/es6_numbers
corpus=${KERNELINDEX_CORPUS:-$(dirname "$0")/../../../shared}
sequence=$corpus/vectors/jcs/es6_numbers_sequence.json

echo "random: $count doubles, seed $seed, against $(node --version)"
"$numbers" random "$seed" "$count" | node -e '
  const view = new DataView(new ArrayBuffer(8));
  let rest = "", seen = 0, wrong = 0;
  const check = (line) => {
    view.setUint32(0, parseInt(line.slice(0, 8), 16));
    view.setUint32(4, parseInt(line.slice(8, 16), 16));
    ++seen;
    if (String(view.getFloat64(0)) !== line.slice(17) && ++wrong <= 20) {
      console.log(`differs: ${line}, Node prints ${view.getFloat64(0)}`);
    }
  };
  process.stdin.setEncoding("latin1");
  process.stdin.on("data", (chunk) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop();
    lines.forEach(check);
  });
  process.stdin.on("end", () => {
    console.log(`${seen} checked, ${wrong} differ`);
    process.exit(wrong === 0 && rest === "" && seen === Number(process.argv[1]) ? 0 : 1);
  });' "$count"

if [ ! -f "$sequence" ]; then
  echo "sequence: skipped, no $sequence"
  exit 0
fi
# "lines sha256" of the longest published prefix that is not longer than COUNT.
set -- $(node -e '
  const rows = JSON.parse(require("fs").readFileSync(process.argv[1])).checkpoints;
  const row = rows.filter((r) => r.lines <= Number(process.argv[2])).pop();
  console.log(row ? `${row.lines} ${row.sha256}` : "0 none");' "$sequence" "$count")
found=$("$numbers" sequence "$sequence" "$1" | sha256sum | cut -d' ' -f1)
echo "sequence: $1 lines, published $2, ours $found"
[ "$1" = 0 ] || [ "$found" = "$2" ]
