// SPDX-License-Identifier: Apache-2.0
// Libraries that are there or not when the program runs: the driver, NVRTC, NVML, CUPTI. The runner
// links none of them, so the same binary starts everywhere and says what is missing.
#pragma once

#include <dlfcn.h>

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace kernelindex::runner {

// Stays loaded: these libraries do not survive being closed.
class DynamicLibrary {
 public:
  DynamicLibrary() = default;
  // The first of the names that can be loaded.
  explicit DynamicLibrary(std::initializer_list<std::string> names) {
    for (const std::string& name : names) {
      if (name.empty()) continue;
      handle_ = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
      if (handle_ != nullptr) {
        name_ = name;
        return;
      }
      if (const char* why = ::dlerror()) fault_ = why;
    }
  }
  bool loaded() const { return handle_ != nullptr; }
  const std::string& name() const { return name_; }
  const std::string& fault() const { return fault_; }
  const std::vector<std::string>& missing() const { return missing_; }

  // Fills a pointer of a table; remembers the symbols that are not there.
  template <typename F>
  void bind(F*& function, const char* symbol) {
    function = handle_ == nullptr ? nullptr : reinterpret_cast<F*>(::dlsym(handle_, symbol));
    if (function == nullptr) missing_.push_back(symbol);
  }
  template <typename F>
  void bind_optional(F*& function, const char* symbol) {
    function = handle_ == nullptr ? nullptr : reinterpret_cast<F*>(::dlsym(handle_, symbol));
  }

 private:
  void* handle_ = nullptr;
  std::string name_;
  std::string fault_;
  std::vector<std::string> missing_;
};

}  // namespace kernelindex::runner
