// SPDX-License-Identifier: Apache-2.0
// The settings of jemalloc (jemalloc(3), TUNING), for programs that link it; linking is all it takes.
//
// An import hands documents from thread to thread, which glibc answers with contention in one arena
// or with fragments in many. One arena behind caches of each thread needs neither; freed pages go
// back within a second, so that the greatest use of an import does not grow with its file.
extern "C" {
extern const char* malloc_conf;
const char* malloc_conf = "narenas:1,dirty_decay_ms:500,muzzy_decay_ms:0";
}
