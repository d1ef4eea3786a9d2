#!/bin/sh
# Flips each byte of each covered file of a small ledger in turn and asks the audit. Takes about an
# hour; byte_flip_test takes samples.
#
#   flip_every_byte.sh BUILD [STRIDE]      BUILD: a build folder
set -eu
build=${1:?usage: flip_every_byte.sh BUILD [STRIDE]}
cmake --build "$build" --target flip_every_byte
exec "$build/tests/verify/flip_every_byte" "${2:-1}"
