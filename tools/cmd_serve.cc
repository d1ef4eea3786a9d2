// SPDX-License-Identifier: Apache-2.0
// serve: pages, API and log over HTTP, from a ledger that is only read.
#include <charconv>
#include <thread>

#include "ledger/witness_state_file.h"
#include "tools/cosigning.h"
#include "tools/display_text.h"
#include "tools/ledger_access.h"
#include "tools/log_keys.h"
#include "tools/serve/access_log.h"
#include "tools/serve/api.h"
#include "tools/serve/envelope_inbox.h"
#include "tools/serve/log_routes.h"
#include "tools/serve/pages/pages.h"
#include "tools/serve/server.h"
#include "tools/serve/service.h"
#include "tools/serve/witness_routes.h"
#include "tools/verbs.h"

namespace kernelindex::tools {
namespace {

constexpr OptionSpec kOptions[] = {
    {.name = "--listen",
     .value = "HOST:PORT",
     .help = "a numeric address and a port, 0 for any; by default 127.0.0.1:8080"},
    {.name = "--base-url",
     .value = "URL",
     .help = "how others reach this server, without a slash at the end: for feeds and citations"},
    {.name = "--name", .value = "TEXT", .help = "a title; by default the origin of the log"},
    {.name = "--ranking",
     .value = "POLICY",
     .help = "how runs are ranked; by default ranking-v1",
     .kind = ValueKind::choice,
     .choices = "ranking-v0|ranking-v1"},
    {.name = "--tls-cert",
     .value = "FILE",
     .help = "a PEM file with the chain of certificates; with --tls-key",
     .kind = ValueKind::file},
    {.name = "--tls-key", .value = "FILE", .help = "its private key, PEM", .kind = ValueKind::file},
    {.name = "--status-key",
     .value = "FILE",
     .help = "a status key: bundles then say that nothing was left out; no other key is read",
     .kind = ValueKind::file},
    {.name = "--accept-envelopes",
     .value = "DIR",
     .help = "take signed attestations of enrolled contributors by POST, into this folder; 'attest "
             "--envelope' records them",
     .kind = ValueKind::folder},
    {.name = "--witness-key",
     .value = "FILE",
     .help = "be a witness of other logs at /add-checkpoint, with this key; needs --witness-log "
             "and --witness-state",
     .kind = ValueKind::file},
    {.name = "--witness-name",
     .value = "NAME",
     .help = "the name of the cosignatures; by default the owner of the key"},
    {.name = "--witness-log",
     .value = "VKEY",
     .help = "a key of a log that is cosigned, name+hex+base64",
     .repeated = true},
    {.name = "--witness-state",
     .value = "DIR",
     .help = "where the witness remembers what it cosigned",
     .kind = ValueKind::folder},
    {.name = "--access-log",
     .value = "FILE",
     .help = "append a JSON line for each answer; - is standard output; by default none",
     .kind = ValueKind::output},
    {.name = "--threads",
     .value = "N",
     .help = "threads that move bytes; by default 1",
     .kind = ValueKind::count},
    {.name = "--workers",
     .value = "N",
     .help = "threads that make answers; by default 2",
     .kind = ValueKind::count},
    {.name = "--connections",
     .value = "N",
     .help = "open at a time; by default 16384, with TLS 2048",
     .kind = ValueKind::count},
    {.name = "--cache",
     .value = "MIB",
     .help = "memory for answers; by default 48",
     .kind = ValueKind::count},
};
constexpr std::string_view kExamples[] = {
    "serve",
    "serve --listen 0.0.0.0:8443 --tls-cert chain.pem --tls-key key.pem --access-log -",
};

constexpr std::size_t kWitnessLogKeys = 63;  // C2SP signed notes

std::unexpected<Error> usage(std::string message) {
  return fail(ErrorKind::usage, "USAGE", "", std::move(message), "Try 'kernelindex serve --help'");
}

// "127.0.0.1:8080", "[::1]:0"
Status read_listen(const std::string& text, serve::ServerOptions& options) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos) return usage("--listen is written like 127.0.0.1:8080");
  options.address = text.substr(0, colon);
  if (options.address.starts_with('[') && options.address.ends_with(']')) {
    options.address = options.address.substr(1, options.address.size() - 2);
  }
  const std::string port = text.substr(colon + 1);
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), options.port);
  if (error != std::errc() || end != port.data() + port.size()) {
    return usage("--listen: the port is a number from 0 to 65535");
  }
  return {};
}

Result<unsigned> read_count(const Arguments& arguments, std::string_view option, unsigned absent,
                            unsigned max) {
  const std::uint64_t value = arguments.count(option).value_or(absent);
  if (value == 0 || value > max) {
    return usage(std::string(option) + " is from 1 to " + std::to_string(max));
  }
  return static_cast<unsigned>(value);
}

Result<serve::ServerOptions> server_options(const Arguments& arguments) {
  constexpr unsigned kThreadsMax = 256;
  constexpr unsigned kConnectionsMax = 1'000'000;
  constexpr unsigned kPlainConnections = 16'384;
  constexpr unsigned kTlsConnections = 2'048;  // some 50 KiB each
  serve::ServerOptions options;
  const std::string listen = arguments.text("--listen");
  if (Status status = read_listen(listen.empty() ? "127.0.0.1:8080" : listen, options); !status) {
    return fail(status.error());
  }
  if (arguments.given("--tls-cert") != arguments.given("--tls-key")) {
    return usage("--tls-cert and --tls-key belong together");
  }
  options.certificate_file = arguments.text("--tls-cert");
  options.key_file = arguments.text("--tls-key");
  const Result<unsigned> threads = read_count(arguments, "--threads", 1, kThreadsMax);
  if (!threads) return fail(threads.error());
  const Result<unsigned> workers = read_count(arguments, "--workers", 2, kThreadsMax);
  if (!workers) return fail(workers.error());
  const Result<unsigned> connections = read_count(
      arguments, "--connections",
      options.certificate_file.empty() ? kPlainConnections : kTlsConnections, kConnectionsMax);
  if (!connections) return fail(connections.error());
  options.threads = *threads;
  options.workers = *workers;
  options.limits.connections = *connections;
  options.stop_on_signals = true;
  return options;
}

Result<std::optional<KeyFile>> status_key(const Session& session, const Arguments& arguments) {
  if (!arguments.given("--status-key")) return std::nullopt;
  const Result<LedgerOptions> options = ledger_options(session);
  if (!options) return fail(options.error());
  Result<KeyFile> key = read_key_file(arguments.text("--status-key"), options->passphrase);
  if (!key) return fail(key.error());
  if (key->role != Role::status) {
    return fail(ErrorKind::refused, "WRONG_ROLE", arguments.text("--status-key"),
                "this is no status key", "A server is given no other private key");
  }
  return std::move(*key);
}

// Null when this server is no witness.
Result<std::shared_ptr<serve::WitnessDesk>> witness_desk(const Session& session,
                                                         const Arguments& arguments) {
  if (!arguments.given("--witness-key")) {
    if (arguments.given("--witness-log") || arguments.given("--witness-state")) {
      return usage("--witness-log and --witness-state need --witness-key");
    }
    return nullptr;
  }
  if (!arguments.given("--witness-log") || !arguments.given("--witness-state")) {
    return usage("--witness-key needs --witness-log and --witness-state");
  }
  Result<std::vector<VerifierKey>> logs = read_log_keys(arguments, "--witness-log");
  if (!logs) return fail(logs.error());
  if (logs->size() > kWitnessLogKeys) return usage("--witness-log is given at most 63 times");
  Result<WitnessKey> key =
      read_witness_key(session, arguments, "--witness-key", "--witness-name", *logs);
  if (!key) return fail(key.error());
  Result<WitnessStateFile> state =
      WitnessStateFile::open(arguments.text("--witness-state"), key->identity().verifier());
  if (!state) return fail(state.error());
  const Clock clock = session.fixed_now() ? fixed_clock(*session.fixed_now()) : system_clock();
  return std::make_shared<serve::WitnessDesk>(
      serve::WitnessDesk{std::move(key->name), std::move(key->key), std::move(*logs),
                         std::make_unique<WitnessStateFile>(std::move(*state)),
                         [clock] { return witness_time(clock()); }});
}

Result<std::unique_ptr<serve::LedgerFollower>> open_follower(const Session& session,
                                                             const Arguments& arguments) {
  constexpr unsigned kCacheMib = 48;
  constexpr unsigned kCacheMibMax = 65'536;
  const Result<unsigned> cache = read_count(arguments, "--cache", kCacheMib, kCacheMibMax);
  if (!cache) return fail(cache.error());
  Result<LedgerOptions> ledger = ledger_options(session);
  if (!ledger) return fail(ledger.error());
  serve::FollowerOptions options;
  options.ledger = std::move(*ledger);
  options.site.name = arguments.text("--name");
  options.site.base_url = arguments.text("--base-url");
  while (options.site.base_url.ends_with('/')) options.site.base_url.pop_back();
  options.site.ranking = policy_from_name(arguments.text("--ranking")).value_or(RankingPolicy::v1);
  options.cache_bytes = std::size_t{*cache} << 20u;
  return serve::LedgerFollower::open(std::move(options));
}

// Looks for what a writer wrote, some four times a second, longer after a state that took long to
// open: a writer that commits all the time does not keep a core busy here.
void follow(serve::LedgerFollower& follower, serve::Metrics& metrics, const Session& session,
            const std::stop_token& stop) {
  using std::chrono::milliseconds;
  using std::chrono::steady_clock;
  constexpr milliseconds kLeast{250};
  constexpr milliseconds kMost{800};
  std::string told;
  milliseconds pause = kLeast;
  while (!stop.stop_requested()) {
    std::this_thread::sleep_for(pause);
    const auto begin = steady_clock::now();
    const Result<bool> moved = follower.refresh();
    pause = std::clamp(4 * std::chrono::duration_cast<milliseconds>(steady_clock::now() - begin),
                       kLeast, kMost);
    if (moved && *moved) ++metrics.reloads;
    if (!moved) ++metrics.reload_faults;
    const std::string fault = moved ? "" : moved.error().text();
    if (!fault.empty() && fault != told) {
      session.note("kernelindex: the ledger cannot be read again: " + escape_text(fault));
    }
    told = fault;
  }
}

Result<ExitCode> run(Session& session, const Arguments& arguments) {
  const Result<serve::ServerOptions> options = server_options(arguments);
  if (!options) return fail(options.error());
  const Result<std::optional<KeyFile>> key = status_key(session, arguments);
  if (!key) return fail(key.error());
  const Result<std::unique_ptr<serve::LedgerFollower>> follower = open_follower(session, arguments);
  if (!follower) return fail(follower.error());
  std::unique_ptr<serve::AccessLog> log;
  if (arguments.given("--access-log")) {
    Result<std::unique_ptr<serve::AccessLog>> opened =
        serve::AccessLog::open(arguments.text("--access-log"));
    if (!opened) return fail(opened.error());
    log = std::move(*opened);
  }
  const Result<std::shared_ptr<serve::WitnessDesk>> witness = witness_desk(session, arguments);
  if (!witness) return fail(witness.error());
  serve::Router router;
  if (*witness) serve::register_witness(router, *witness);
  if (arguments.given("--accept-envelopes")) {
    serve::InboxOptions inbox;
    inbox.folder = arguments.text("--accept-envelopes");
    inbox.clock = (*follower)->state()->ledger->options().clock;
    Result<std::shared_ptr<serve::EnvelopeInbox>> opened =
        serve::EnvelopeInbox::open(std::move(inbox));
    if (!opened) return fail(opened.error());
    serve::register_inbox(router, std::move(*opened));
  }
  serve::register_log(router);
  serve::register_api(router, {.status_key = *key ? &(*key)->key : nullptr});
  serve::register_pages(router);
  serve::Metrics metrics;
  serve::Service service(**follower, metrics, std::move(router),
                         {.tls = !options->certificate_file.empty()});
  const Result<std::unique_ptr<serve::Server>> server =
      serve::Server::listen(*options, service, log.get());
  if (!server) return fail(server.error());
  const bool v6 = options->address.find(':') != std::string::npos;
  session.note("kernelindex: serving size " +
               std::to_string((*follower)->state()->reader.head().size) + " at " +
               (options->certificate_file.empty() ? "http://" : "https://") +
               (v6 ? "[" + options->address + "]" : options->address) + ":" +
               std::to_string((*server)->port()));
  const std::jthread following(
      [&](const std::stop_token& stop) { follow(**follower, metrics, session, stop); });
  (*server)->run();
  session.note("kernelindex: stopped");
  return ExitCode::done;
}

}  // namespace

constexpr Verb kServeVerb{
    .name = "serve",
    .summary = "show the ledger as pages, API and log over HTTP",
    .details =
        "The ledger is opened for reading alone and followed while others write. Nothing is "
        "written,\n"
        "and no private key is read but a status key or a witness's that is named.\n"
        "\n"
        "  /               pages\n"
        "  /api/v1         the documents that verbs print with --json; /api/v1/openapi.json\n"
        "  /checkpoint     the log for strangers (C2SP tlog-tiles), with /tile and /object\n"
        "  /healthz        200 while all is well\n"
        "  /metrics        counters, for Prometheus\n"
        "\n"
        "SIGTERM or an interrupt ends it after what is in work was sent.",
    .options = kOptions,
    .examples = kExamples,
    .run = run,
};

}  // namespace kernelindex::tools
