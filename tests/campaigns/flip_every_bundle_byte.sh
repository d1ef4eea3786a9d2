#!/bin/sh
# Changes each byte of an evidence bundle in several ways and asks for the verdict: refused, or the
# same in every line. Takes some minutes; bundle_tampering_test takes samples.
#
#   flip_every_bundle_byte.sh BUILD [STRIDE]      BUILD: a build folder
set -eu
build=${1:?usage: flip_every_bundle_byte.sh BUILD [STRIDE]}
cmake --build "$build" --target flip_every_bundle_byte
exec "$build/tests/verify/flip_every_bundle_byte" "${2:-1}"
