// SPDX-License-Identifier: Apache-2.0
#include "schema/utc_time.h"

#include <array>
#include <chrono>
#include <cstdio>
#include <optional>

namespace kernelindex {
namespace {

using std::chrono::day;
using std::chrono::month;
using std::chrono::sys_days;
using std::chrono::year;
using std::chrono::year_month_day;

constexpr std::int64_t kMicrosPerSecond = 1'000'000;
constexpr std::int64_t kSecondsPerDay = 86'400;
constexpr int kFractionDigits = 6;  // what a UtcMicros can hold

// Eats text from the front; every step says whether it could.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  bool at_end() const { return rest_.empty(); }
  bool starts_with(char c) const { return rest_.starts_with(c); }

  bool take(char c) {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  // Exactly `digits` digits, with a value in [low, high].
  bool take_number(int digits, int low, int high, int& value) {
    value = 0;
    for (int i = 0; i < digits; ++i) {
      if (rest_.empty() || rest_[0] < '0' || rest_[0] > '9') return false;
      value = value * 10 + (rest_[0] - '0');
      rest_.remove_prefix(1);
    }
    return value >= low && value <= high;
  }

  // One digit or more; those beyond microseconds are cut.
  bool take_fraction(std::int64_t& micros) {
    micros = 0;
    int digits = 0;
    for (; !rest_.empty() && rest_[0] >= '0' && rest_[0] <= '9'; rest_.remove_prefix(1), ++digits) {
      if (digits < kFractionDigits) micros = micros * 10 + (rest_[0] - '0');
    }
    for (int i = digits; i < kFractionDigits; ++i) micros *= 10;
    return digits > 0;
  }

 private:
  std::string_view rest_;
};

bool take_date(Scanner& scanner, std::int64_t& days) {
  int y = 0;
  int m = 0;
  int d = 0;
  if (!scanner.take_number(4, 0, 9999, y) || !scanner.take('-')) return false;
  if (!scanner.take_number(2, 1, 12, m) || !scanner.take('-')) return false;
  if (!scanner.take_number(2, 1, 31, d)) return false;
  const year_month_day date{year(y), month(static_cast<unsigned>(m)),
                            day(static_cast<unsigned>(d))};
  days = sys_days(date).time_since_epoch().count();
  return date.ok();
}

// hh:mm, optional :ss, and after seconds optional .digits.
bool take_time_of_day(Scanner& scanner, int last_hour, std::int64_t& micros) {
  int hours = 0;
  int minutes = 0;
  int seconds = 0;
  std::int64_t fraction = 0;
  if (!scanner.take_number(2, 0, last_hour, hours) || !scanner.take(':')) return false;
  if (!scanner.take_number(2, 0, 59, minutes)) return false;
  if (scanner.take(':')) {
    if (!scanner.take_number(2, 0, 59, seconds)) return false;
    if (scanner.take('.') && !scanner.take_fraction(fraction)) return false;
  }
  micros = ((hours * 60 + minutes) * 60LL + seconds) * kMicrosPerSecond + fraction;
  return micros <= kSecondsPerDay * kMicrosPerSecond;  // 24:00:00 is the end of a day, no more
}

// Z, z, +hh:mm, -hh:mm, or nothing.
bool take_zone(Scanner& scanner, std::int64_t& offset_micros, bool& assumed) {
  offset_micros = 0;
  assumed = scanner.at_end();
  if (assumed || scanner.take('Z') || scanner.take('z')) return scanner.at_end();
  const bool west = scanner.starts_with('-');
  int hours = 0;
  int minutes = 0;
  if (!scanner.take(west ? '-' : '+')) return false;
  if (!scanner.take_number(2, 0, 23, hours) || !scanner.take(':')) return false;
  if (!scanner.take_number(2, 0, 59, minutes)) return false;
  offset_micros = (hours * 60 + minutes) * 60LL * kMicrosPerSecond * (west ? -1 : 1);
  return scanner.at_end();
}

struct Instant {
  UtcMicros micros = 0;
  bool zone_assumed = false;
};

std::optional<Instant> scan_source_time(std::string_view text) {
  Scanner scanner(text);
  std::int64_t days = 0;
  std::int64_t time = 0;
  std::int64_t offset = 0;
  bool assumed = false;
  if (!take_date(scanner, days)) return std::nullopt;
  if (scanner.take('T') || scanner.take(' ')) {
    if (!take_time_of_day(scanner, 24, time)) return std::nullopt;
    if (!take_zone(scanner, offset, assumed)) return std::nullopt;
  } else {
    assumed = true;
    if (!scanner.at_end()) return std::nullopt;
  }
  return Instant{days * kSecondsPerDay * kMicrosPerSecond + time - offset, assumed};
}

std::string format_utc(UtcMicros time, int fraction_digits) {
  using std::chrono::floor;
  const std::chrono::sys_time<std::chrono::microseconds> instant{std::chrono::microseconds(time)};
  const auto midnight = floor<std::chrono::days>(instant);
  const year_month_day date(midnight);
  const std::chrono::hh_mm_ss clock(instant - midnight);
  const auto fraction = static_cast<int>(clock.subseconds().count());
  std::array<char, 64> text;
  const int size = std::snprintf(
      text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02d.%06d", static_cast<int>(date.year()),
      static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
      static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
      static_cast<int>(clock.seconds().count()), fraction);
  std::string out(text.data(), static_cast<std::size_t>(size - kFractionDigits + fraction_digits));
  return out += 'Z';
}

}  // namespace

Result<UtcMicros> parse_utc_instant(std::string_view text) {
  Scanner scanner(text);
  std::int64_t days = 0;
  std::int64_t time = 0;
  if (!take_date(scanner, days) || !scanner.take('T') || !take_time_of_day(scanner, 23, time) ||
      !scanner.take('Z') || !scanner.at_end()) {
    return fail(ErrorKind::invalid, "BAD_INSTANT", {},
                "a UTC instant is written 2026-06-29T21:49:23.345Z: a date that exists, T, a time "
                "of day, Z");
  }
  return days * kSecondsPerDay * kMicrosPerSecond + time;
}

std::string format_utc_micros(UtcMicros time) { return format_utc(time, 6); }
std::string format_utc_millis(UtcMicros time) { return format_utc(time, 3); }

Result<SourceTime> parse_source_time(std::string_view text) {
  const std::optional<Instant> instant = scan_source_time(text);
  SourceTime out;
  if (instant) {
    out.text = format_utc_millis(instant->micros);
    out.zone_assumed = instant->zone_assumed;
  }
  // An offset can move the first and the last day of the calendar out of four digits.
  if (!instant || !parse_utc_instant(out.text)) {
    return fail(ErrorKind::invalid, "BAD_TIME", {},
                "a time stamp is written 2026-06-29T21:49:23.345, with Z, an offset +hh:mm or no "
                "zone");
  }
  return out;
}

}  // namespace kernelindex
