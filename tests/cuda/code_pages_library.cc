// SPDX-License-Identifier: Apache-2.0
// A library whose code a test changes while it is loaded. Its name is that of a library of timing.
extern "C" int kernelindex_test_answer() { return 42; }
