// SPDX-License-Identifier: Apache-2.0
// Forwards to the shim.
#include <ki_torch_shim.h>
