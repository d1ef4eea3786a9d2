#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The packed runner starts where there is nothing but the C library: in a root of its own that holds
# the folder and glibc. tests/cuda/carry_runner.sh PACK PROGRAM
set -euo pipefail

if ((EUID != 0)); then
  echo "SKIPPED: only root can change the root"
  exit 77
fi
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
chmod 0755 "$root"
"$1" "$2" "$root/runner"
copy() { mkdir -p "$root$(dirname "$1")" && cp -L "$1" "$root$1"; }
copy "$(readelf -l "$2" | sed -n 's/.*interpreter: \(.*\)]/\1/p')"
for name in libc.so.6 libm.so.6 libdl.so.2 libpthread.so.0; do
  path=$(ldconfig -p | awk -v n="$name" '$1 == n && /x86-64|AArch64/ {print $NF; exit}')
  [[ -z $path ]] || copy "$path"
done
mkdir -p "$root/tmp" "$root/proc"
# The loader finds the program's own folder through /proc. In a mount namespace: gone with this script.
in_root() {
  # shellcheck disable=SC2016
  unshare --mount bash -c 'mount --rbind /proc "$0/proc" && exec chroot "$0" "${@}"' "$root" "$@"
}
in_root /runner/kernelindex-runner --help | grep calibrate > /dev/null
# doctor starts too, and says what is not there.
in_root /runner/kernelindex-runner doctor > "$root/doctor.txt" || true
grep -q 'driver *MISSING' "$root/doctor.txt"
grep -q 'nvcc *MISSING' "$root/doctor.txt"
