// SPDX-License-Identifier: Apache-2.0
#include "tools/fetch/fetch_sol_execbench.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>

#include "schema/json_reader.h"
#include "schema/limits.h"

namespace kernelindex::tools {
namespace {

using json::Value;

constexpr std::size_t kPageSize = 50;
constexpr std::uint64_t kMaxItems = 1'000'000;  // of one list
constexpr int kAttempts = 4;                    // to read a list that does not move

std::unexpected<Error> malformed(const std::string& url, std::string message) {
  return fail(ErrorKind::invalid, "ANSWER_MALFORMED", url, std::move(message),
              "The interface of the source may have changed");
}

// What a page says of itself.
struct Page {
  std::size_t items = 0;
  std::optional<std::uint64_t> total;
};

struct KernelName {
  std::string id;
  std::string name;
};

// One list of the API, "kernels" or "submissions", all pages of it.
class ListReader {
 public:
  using Url = std::function<std::string(std::uint64_t offset)>;
  using ItemSink = std::function<Status(const std::string& url, const Value& item)>;

  ListReader(Fetcher& fetcher, std::string_view member, std::string path, Url url)
      : fetcher_(fetcher), member_(member), path_(std::move(path)), url_(std::move(url)) {}

  Status read(const ItemSink& item) {
    for (int attempt = 1; attempt <= kAttempts; ++attempt) {
      const Result<bool> stood_still =
          read_once(attempt == 1 ? Fetcher::Again::no : Fetcher::Again::yes, item);
      if (!stood_still) return fail(stood_still.error());
      if (*stood_still) return {};
    }
    return fail(ErrorKind::system, "PAGES_MOVED", url_(0),
                "the list changed while its pages were read, " + std::to_string(kAttempts) +
                    " times in a row",
                "Try again later; what was fetched is kept");
  }

 private:
  // "submissions/79.json", then "submissions/79_50.json".
  std::string path_of(std::uint64_t offset) const {
    return path_ + (offset == 0 ? "" : "_" + std::to_string(offset)) + ".json";
  }

  // False when the list moved.
  Result<bool> read_once(Fetcher::Again again, const ItemSink& item) {
    std::optional<std::uint64_t> total;
    for (std::uint64_t offset = 0;;) {
      const std::string url = url_(offset);
      const Result<std::optional<std::string>> bytes = fetcher_.file(url, path_of(offset), again);
      if (!bytes) return fail(bytes.error());
      if (!*bytes) return true;  // the source says that there is no such list
      const Result<Page> page = read_page(url, **bytes, item);
      if (!page) return fail(page.error());
      if (offset > 0 && page->total != total) return false;
      total = page->total;
      offset += page->items;
      if (page->items == 0 || !total || offset >= *total) return true;
      if (offset > kMaxItems) return malformed(url, "the list does not end");
    }
  }

  Result<Page> read_page(const std::string& url, const std::string& bytes, const ItemSink& item) {
    json::Arena arena;
    std::vector<json::Defect> spoilt;  // items for the import to set aside
    const Result<Value> answer = json::parse_collecting_defects(
        bytes, arena, {limits::kSourceJsonBytes, limits::kJsonDepth}, spoilt);
    if (!answer) return malformed(url, "the answer is not JSON: " + answer.error().message);
    const Value* data = answer->find("data");
    const Value& body = data != nullptr ? *data : *answer;
    const Value* list = body.find(member_);
    if (list == nullptr || !list->is_array()) {
      return malformed(url, "the answer has no list of " + std::string(member_));
    }
    Page page;
    page.items = list->array().size();
    if (const Value* total = body.find("total"); total != nullptr && total->is_number()) {
      const double number = total->number();
      if (!(number >= 0) || number > static_cast<double>(kMaxItems)) {
        return malformed(url, "the list has an impossible total");
      }
      page.total = static_cast<std::uint64_t>(number);
    }
    if (item) {
      for (const Value& value : list->array()) {
        if (Status taken = item(url, value); !taken) return fail(taken.error());
      }
    }
    return page;
  }

  Fetcher& fetcher_;
  std::string_view member_;
  std::string path_;
  Url url_;
};

Result<std::vector<KernelName>> list_kernels(const std::string& api, Fetcher& fetcher) {
  std::vector<KernelName> kernels;
  ListReader list(fetcher, "kernels", "kernels", [&](std::uint64_t offset) {
    return api + "/kernels" + (offset == 0 ? "" : "?offset=" + std::to_string(offset));
  });
  const Status read = list.read([&](const std::string& url, const Value& item) -> Status {
    const Value* id = item.find("id");
    const bool whole =
        id != nullptr && id->is_number() && id->number() >= 0 &&
        id->number() <= limits::kSafeInteger &&
        id->number() == static_cast<double>(static_cast<std::uint64_t>(id->number()));
    if (!whole) return malformed(url, "a kernel of the list has no id");
    KernelName kernel{std::to_string(static_cast<std::uint64_t>(id->number())),
                      std::string(item.text("name"))};
    const bool known = std::ranges::find(kernels, kernel.id, &KernelName::id) != kernels.end();
    if (!known) kernels.push_back(std::move(kernel));
    return {};
  });
  if (!read) return fail(read.error());
  return kernels;
}

// Those that were asked for, in the order of the list.
Result<std::vector<KernelName>> choose(std::vector<KernelName> kernels,
                                       const std::vector<std::string>& wanted) {
  if (wanted.empty()) return kernels;
  for (const std::string& name : wanted) {
    const bool found = std::ranges::any_of(kernels, [&](const KernelName& kernel) {
      return kernel.id == name || kernel.name == name;
    });
    if (!found) {
      return fail(ErrorKind::not_found, "NO_SUCH_KERNEL", name, "the source lists no such kernel");
    }
  }
  std::erase_if(kernels, [&](const KernelName& kernel) {
    return std::ranges::find(wanted, kernel.id) == wanted.end() &&
           std::ranges::find(wanted, kernel.name) == wanted.end();
  });
  return kernels;
}

}  // namespace

Status fetch_sol_execbench(const SolExecbenchFetch& what, Fetcher& fetcher) {
  Result<std::vector<KernelName>> listed = list_kernels(what.api, fetcher);
  if (!listed) return fail(listed.error());
  const Result<std::vector<KernelName>> kernels = choose(std::move(*listed), what.kernels);
  if (!kernels) return fail(kernels.error());
  for (const KernelName& kernel : *kernels) {
    const Result<std::optional<std::string>> detail =
        fetcher.file(what.api + "/kernels/" + kernel.id, "kernels/" + kernel.id + ".json");
    if (!detail) return fail(detail.error());
    ListReader submissions(
        fetcher, "submissions", "submissions/" + kernel.id, [&](std::uint64_t offset) {
          return what.api + "/submissions?kernel_id=" + kernel.id +
                 "&offset=" + std::to_string(offset) + "&limit=" + std::to_string(kPageSize);
        });
    if (Status read = submissions.read({}); !read) return fail(read.error());
  }
  return {};
}

}  // namespace kernelindex::tools
