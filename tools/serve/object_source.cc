// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/object_source.h"

#include "ledger/key_layout.h"
#include "ledger/stored_object.h"

namespace kernelindex::serve {
namespace {

std::unexpected<Error> damaged(const Digest& digest, std::string message) {
  return fail(ErrorKind::corrupt, "DAMAGED_OBJECT", digest.text(), std::move(message),
              "run `kernelindex audit`");
}

// The chunks of an object, one a call.
struct Chunks {
  const Reader& reader;
  Digest digest;
  std::uint64_t size = 0;
  std::uint64_t number = 0;
  std::uint64_t done = 0;
  std::shared_ptr<Sha256> hasher = std::make_shared<Sha256>();

  Result<std::string> operator()() {
    std::string chunk;
    if (done == size) return chunk;
    const Result<bool> found =
        reader.view().get(Space::evidence, key_layout::chunk(digest, number++), chunk);
    if (!found) return fail(found.error());
    if (!*found || chunk.empty() || chunk.size() > size - done) {
      return damaged(digest, "a piece of the object is lost");
    }
    done += chunk.size();
    hasher->update(chunk);
    if (done == size && hasher->finish() != digest) {
      return damaged(digest, "the stored bytes have another digest");
    }
    return chunk;
  }
};

}  // namespace

Result<std::optional<Response>> object_answer(const Reader& reader, const Digest& digest,
                                              std::string_view content_type) {
  std::string value;
  const Result<bool> found = reader.view().get(Space::evidence, key_layout::object(digest), value);
  if (!found) return fail(found.error());
  if (!*found || stored_object::is_withheld(value)) return std::nullopt;
  Response response;
  if (stored_object::is_chunked(value)) {
    response.content_type = content_type;
    response.cache = CachePolicy::immutable;
    response.source = Chunks{reader, digest, key_layout::from_big_endian(value.substr(1))};
  } else {
    Result<std::optional<std::string>> bytes = reader.object(digest);
    if (!bytes) return fail(bytes.error());
    if (!*bytes) return std::nullopt;
    response = answer(std::move(**bytes), content_type, CachePolicy::immutable);
  }
  response.etag = "\"" + digest.hex() + "\"";
  return response;
}

}  // namespace kernelindex::serve
