// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/log_routes.h"

#include "ledger/checkpoint.h"
#include "ledger/static_log.h"
#include "ledger/tile.h"
#include "tools/serve/object_source.h"

namespace kernelindex::serve {
namespace {

std::unexpected<Error> not_there(std::string code, std::string message) {
  return fail(ErrorKind::not_found, std::move(code), "", std::move(message));
}

// Programs of other places may read the public log from a browser.
void allow_all_origins(Response& response) {
  response.headers.push_back({"Access-Control-Allow-Origin", "*"});
}

Result<Response> checkpoint(const Site& site, const Request&, const Captures&) {
  if (site.checkpoint == nullptr) {
    return not_there("NO_CHECKPOINT", "no checkpoint of this log was released yet");
  }
  Response response = answer(site.checkpoint->format(), kText, CachePolicy::brief);
  allow_all_origins(response);
  return response;
}

Result<std::string> bundle_bytes(const Site& site, const TilePath& path) {
  std::vector<std::string> leaves;
  for (unsigned i = 0; i < path.width; ++i) {
    Result<std::string> leaf = site.reader.leaf(path.index * kTileWidth + i);
    if (!leaf) return leaf;
    leaves.push_back(std::move(*leaf));
  }
  return encode_bundle(std::vector<std::string_view>(leaves.begin(), leaves.end()));
}

Result<Response> tile(const Site& site, const Request&, const Captures& captures) {
  std::string text = "tile";
  for (const std::string_view segment : captures) text.append("/").append(segment);
  const Result<TilePath> path = parse_tile_path(text);
  if (!path) return not_there("NO_SUCH_TILE", "this is no path of a tile");
  const std::uint64_t size = site.checkpoint == nullptr ? 0 : site.checkpoint->checkpoint.head.size;
  const unsigned width = tile_width(path->level, path->index, size);
  // A full tile is asked for by its full path alone.
  if (width == 0 || path->width > width) {
    return not_there("NO_SUCH_TILE", "the log has no such tile at size " + std::to_string(size));
  }
  Result<std::string> bytes = path->entries
                                  ? bundle_bytes(site, *path)
                                  : site.reader.tiles()(path->level, path->index, path->width);
  if (bytes && !path->entries) {
    bytes = cut_tile(std::move(*bytes), path->level, path->index, path->width);
  }
  if (!bytes) return fail(bytes.error());
  Response response = answer(std::move(*bytes), kBytes, CachePolicy::immutable);
  allow_all_origins(response);
  return response;
}

Result<Response> object(const Site& site, const Request&, const Captures& captures) {
  const Result<Digest> digest =
      Digest::parse_hex(std::string(captures[0]) + std::string(captures[1]));
  if (!digest || captures[0].size() != 2) {
    return not_there("NO_SUCH_OBJECT", "an object lies at /object/<2 hex>/<62 hex>");
  }
  Result<std::optional<Response>> response = object_answer(site.reader, *digest, kBytes);
  if (!response) return fail(response.error());
  if (!*response) {
    const Result<bool> withheld = site.reader.object_withheld(*digest);
    if (!withheld) return fail(withheld.error());
    return *withheld ? not_there("WITHHELD", "the bytes of this object are withheld")
                     : not_there("NO_SUCH_OBJECT", "no such object is held");
  }
  allow_all_origins(**response);
  return std::move(**response);
}

}  // namespace

void register_log(Router& router) {
  router.for_programs("checkpoint");
  router.for_programs("tile");
  router.for_programs("object");
  router.get("/checkpoint", checkpoint);
  router.get("/tile/{path...}", tile);
  router.get("/object/{first}/{rest}", object);
}

}  // namespace kernelindex::serve
