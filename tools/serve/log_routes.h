// SPDX-License-Identifier: Apache-2.0
// The log over HTTP for whoever judges it himself (C2SP tlog-tiles), with the objects that entries
// name:
//
//   /checkpoint   /tile/<L>/<N>[.p/<W>]   /tile/entries/<N>[.p/<W>]   /object/<2 hex>/<62 hex>
//
// Tiles are given up to the size of the served checkpoint, as wide as that or any smaller size
// needs them; nothing is given that no checkpoint speaks of.
#pragma once

#include "tools/serve/router.h"

namespace kernelindex::serve {

void register_log(Router& router);

}  // namespace kernelindex::serve
