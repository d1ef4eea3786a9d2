# SPDX-License-Identifier: Apache-2.0
# Debian packages that the build and the tests need; sourced by tools/quickstart and tools/test.
# shellcheck shell=bash disable=SC2034

kernelindex_build_packages=(
  g++ cmake ninja-build pkg-config
  librocksdb-dev libflatbuffers-dev flatbuffers-compiler flatbuffers-compiler-dev
  libsimdjson-dev libssl-dev libsodium-dev libboost1.81-dev
  libzstd-dev zlib1g-dev libjemalloc-dev libfyaml-dev libfmt-dev libcli11-dev
)
kernelindex_test_packages=(
  libgtest-dev libgmock-dev libbenchmark-dev nodejs python3-jsonschema
  golang-go golang-golang-x-mod-dev zsh groff-base
)

say() { printf '== %s\n' "$*"; }

# install_missing PACKAGE...: installs those that are not there, says which, never asks.
install_missing() {
  local package missing=()
  if ! command -v apt-get > /dev/null; then
    say "no apt-get here: these packages, or the same by other names, must be there: $*"
    return
  fi
  for package in "$@"; do
    if [[ $(dpkg-query -W -f='${db:Status-Status}' "$package" 2> /dev/null) != installed ]]; then
      missing+=("$package")
    fi
  done
  if ((${#missing[@]} == 0)); then
    say "all ${#} packages are installed"
    return
  fi
  local as_root=()
  if ((EUID != 0)); then
    if ! command -v sudo > /dev/null; then
      say "missing, and neither root nor sudo to install them: ${missing[*]}" >&2
      return 1
    fi
    as_root=(sudo)
  fi
  say "installing ${missing[*]}"
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -q
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -q -y --no-install-recommends "${missing[@]}"
}
