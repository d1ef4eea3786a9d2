// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/pages/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>

#include "tools/display_text.h"
#include "tools/run_output.h"
#include "tools/units.h"

namespace kernelindex::serve {
namespace {

// A drawing's measures, in pixels of its own.
struct Frame {
  std::string_view css_class;
  double width = 0;
  double height = 0;
  double left = 0;  // room for the words of the axes
  double right = 0;
  double top = 0;
  double bottom = 0;
  int ticks_x = 0;  // about so many

  double plot_left() const { return left; }
  double plot_right() const { return width - right; }
  double plot_top() const { return top; }
  double plot_bottom() const { return height - bottom; }
};
constexpr Frame kWide{"chart wide", 880, 300, 76, 20, 16, 34, 6};
constexpr Frame kNarrow{"chart narrow", 340, 230, 64, 12, 14, 30, 3};

constexpr double kLogarithmicFrom = 8;  // greatest to least

std::string number(double value) { return fmt::format("{:.1f}", value); }

// From values to pixels.
class Scale {
 public:
  Scale(double from, double to, double first_pixel, double last_pixel, bool logarithmic = false)
      : from_(logarithmic ? std::log(from) : from),
        to_(logarithmic ? std::log(to) : to),
        first_(first_pixel),
        last_(last_pixel),
        logarithmic_(logarithmic) {}

  double operator()(double value) const {
    const double at = logarithmic_ ? std::log(value) : value;
    return first_ + (at - from_) / (to_ - from_) * (last_ - first_);
  }

 private:
  double from_;
  double to_;
  double first_;
  double last_;
  bool logarithmic_;
};

// Round numbers between two values: 1, 2 or 5 times a power of ten apart.
std::vector<double> round_ticks(double from, double to, int about) {
  const double raw = (to - from) / about;
  const double power = std::pow(10, std::floor(std::log10(raw)));
  double step = power;
  for (const double factor : {1.0, 2.0, 5.0, 10.0}) {
    step = factor * power;
    if (step >= raw) break;
  }
  std::vector<double> ticks;
  const double first = std::ceil(from / step);
  const double last = std::floor(to / step);
  for (double i = first; i <= last && ticks.size() < 20; ++i) ticks.push_back(i * step);
  return ticks;
}

// 1, 2 and 5 times the powers of ten; powers alone when they are many.
std::vector<double> logarithmic_ticks(double from, double to) {
  std::vector<double> ticks;
  const double decades = std::log10(to / from);
  for (double power = std::pow(10, std::floor(std::log10(from))); power <= to; power *= 10) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      if (decades > 2.5 && factor != 1.0) continue;
      const double tick = power * factor;
      if (tick >= from && tick <= to) ticks.push_back(tick);
    }
  }
  return ticks;
}

void line(Html& svg, std::string_view css_class, double x1, double y1, double x2, double y2) {
  svg.add("line", {{"class", css_class},
                   {"x1", number(x1)},
                   {"y1", number(y1)},
                   {"x2", number(x2)},
                   {"y2", number(y2)}});
}

void words(Html& svg, std::string_view css_class, std::string_view anchor, double x, double y,
           std::string_view text) {
  svg.add("text",
          {{"class", css_class}, {"text-anchor", anchor}, {"x", number(x)}, {"y", number(y)}},
          text);
}

// What a scale of values spans: some room around them, and from zero when that costs little.
struct Span {
  double from = 0;
  double to = 1;
  bool logarithmic = false;
};
Span span_of(double least, double greatest) {
  if (greatest >= kLogarithmicFrom * least) {
    return {least / 1.25, greatest * 1.25, true};
  }
  if (least <= greatest * 0.6) return {0, greatest * 1.08, false};
  const double room = std::max((greatest - least) * 0.18, greatest * 0.005);
  return {std::max(0.0, least - room), greatest + room, false};
}

std::vector<double> ticks_of(const Span& span) {
  return span.logarithmic ? logarithmic_ticks(span.from, span.to)
                          : round_ticks(span.from, span.to, 4);
}

void value_axis(Html& svg, const Frame& frame, const Scale& y, const Span& span,
                std::string_view unit) {
  for (const double tick : ticks_of(span)) {
    const double at = y(tick);
    line(svg, "grid", frame.plot_left(), at, frame.plot_right(), at);
    words(svg, "tick", "end", frame.plot_left() - 8, at + 4,
          tick == 0 ? "0" : tools::format_quantity(tick, unit));
  }
}

void time_axis(Html& svg, const Frame& frame, UtcMicros from, UtcMicros to, const Scale& x) {
  const double base = frame.plot_bottom();
  line(svg, "axis", frame.plot_left(), base, frame.plot_right(), base);
  std::string last;
  for (int i = 0; i <= frame.ticks_x - 1; ++i) {
    const double part = frame.ticks_x == 1 ? 0 : static_cast<double>(i) / (frame.ticks_x - 1);
    const double at = static_cast<double>(from) + part * static_cast<double>(to - from);
    const std::string day = tools::day_text(static_cast<UtcMicros>(at));
    if (day == last) continue;
    last = day;
    const std::string_view anchor = i == 0 ? "start" : i == frame.ticks_x - 1 ? "end" : "middle";
    line(svg, "axis", x(at), base, x(at), base + 4);
    words(svg, "tick", anchor, x(at), base + 20, day);
  }
}

// The line of the record: level until the next record, then straight down, on to the right edge.
std::string record_path(const RecordChart& chart, const Scale& x, const Scale& y, double end) {
  std::string path;
  for (const ChartRun& run : chart.runs) {
    if (!run.record) continue;
    const double at = x(static_cast<double>(run.at));
    if (path.empty()) {
      path = fmt::format("M{:.1f} {:.1f}", at, y(run.value));
    } else {
      path += fmt::format("H{:.1f}V{:.1f}", at, y(run.value));
    }
  }
  if (!path.empty()) path += fmt::format("H{:.1f}", end);
  return path;
}

std::string point_title(const ChartRun& run, std::string_view unit) {
  return tools::format_quantity(run.value, unit) + ", " + run.name + ", " +
         tools::day_text(run.at) + (run.late ? ", recorded late" : "");
}

void append_points(Html& svg, const RecordChart& chart, const Scale& x, const Scale& y) {
  for (const bool records : {false, true}) {  // records lie above
    for (const ChartRun& run : chart.runs) {
      if (run.record != records) continue;
      const Html::Element circle = svg.in("circle", {{"class", !records   ? "run"
                                                               : run.late ? "record late"
                                                                          : "record"},
                                                     {"cx", number(x(static_cast<double>(run.at)))},
                                                     {"cy", number(y(run.value))},
                                                     {"r", records ? "4.5" : "3.5"}});
      svg.add("title", point_title(run, chart.unit));
    }
  }
}

std::string record_summary(const RecordChart& chart) {
  const ChartRun* first = nullptr;
  const ChartRun* best = nullptr;
  std::size_t moves = 0;
  for (const ChartRun& run : chart.runs) {
    if (!run.record) continue;
    if (first == nullptr) first = &run;
    best = &run;
    ++moves;
  }
  if (first == nullptr) return tools::counted(chart.runs.size(), "run") + ", no record.";
  std::string text = tools::counted(chart.runs.size(), "run") + ". The record began at " +
                     point_title(*first, chart.unit);
  if (moves > 1) {
    text += ", moved " + tools::counted(moves - 1, "time") + ", and stands at " +
            point_title(*best, chart.unit);
  }
  return text + ". The same numbers are in the table below.";
}

void start_text(Html& svg, std::string_view title, std::string_view summary, std::string_view id) {
  svg.add("title", {{"id", std::string(id) + "-title"}}, title);
  svg.add("desc", {{"id", std::string(id) + "-desc"}}, summary);
}

Html::Element open_drawing(Html& html, const Frame& frame, const std::string& labelled) {
  return html.in("svg", {{"class", frame.css_class},
                         {"viewBox", fmt::format("0 0 {:.0f} {:.0f}", frame.width, frame.height)},
                         {"role", "img"},
                         {"aria-labelledby", labelled}});
}

void draw_record(Html& html, const RecordChart& chart, const Frame& frame, const std::string& id) {
  double least = chart.runs.front().value;
  double greatest = least;
  for (const ChartRun& run : chart.runs) {
    least = std::min(least, run.value);
    greatest = std::max(greatest, run.value);
  }
  const Span span = span_of(least, greatest);
  const UtcMicros from = chart.runs.front().at;
  const UtcMicros to = chart.runs.back().at;
  constexpr double kInset = 10;  // so that the first and last mark are whole
  const Scale x(static_cast<double>(from), static_cast<double>(to), frame.plot_left() + kInset,
                frame.plot_right() - kInset);
  const Scale y(span.from, span.to, frame.plot_bottom(), frame.plot_top(), span.logarithmic);

  const std::string labelled = id + "-title " + id + "-desc";
  const Html::Element svg = open_drawing(html, frame, labelled);
  start_text(html,
             "Record over time, " + chart.subject + (span.logarithmic ? ", logarithmic scale" : ""),
             record_summary(chart), id);
  value_axis(html, frame, y, span, chart.unit);
  time_axis(html, frame, from, to, x);
  html.add("path", {{"class", "record-line"}, {"d", record_path(chart, x, y, frame.plot_right())}});
  append_points(html, chart, x, y);
}

void draw_histogram(Html& html, const Histogram& data, std::string_view subject,
                    std::string_view unit, const Frame& frame, const std::string& id) {
  std::size_t most = 0;
  std::size_t all = 0;
  for (const Bin& bin : data.bins) {
    most = std::max(most, bin.count);
    all += bin.count;
  }
  const Scale x(data.bins.front().from, data.bins.back().to, frame.plot_left(), frame.plot_right(),
                data.logarithmic);
  const Scale y(0, static_cast<double>(most) * 1.08, frame.plot_bottom(), frame.plot_top());
  const std::string labelled = id + "-title " + id + "-desc";
  const Html::Element svg = open_drawing(html, frame, labelled);
  start_text(html,
             "Distribution of values, " + std::string(subject) +
                 (data.logarithmic ? ", logarithmic scale" : ""),
             tools::counted(all, "run") + " from " +
                 tools::format_quantity(data.bins.front().from, unit) + " to " +
                 tools::format_quantity(data.bins.back().to, unit) +
                 ". The same numbers are in the table below.",
             id);
  for (const double tick : round_ticks(0, static_cast<double>(most), 3)) {
    if (tick != std::floor(tick)) continue;
    line(html, "grid", frame.plot_left(), y(tick), frame.plot_right(), y(tick));
    words(html, "tick", "end", frame.plot_left() - 8, y(tick) + 4, fmt::format("{:.0f}", tick));
  }
  for (const Bin& bin : data.bins) {
    if (bin.count == 0) continue;
    const double left = x(bin.from) + 1;
    const double top = y(static_cast<double>(bin.count));
    const Html::Element rect =
        html.in("rect", {{"class", "bin"},
                         {"x", number(left)},
                         {"y", number(top)},
                         {"width", number(std::max(1.0, x(bin.to) - 1 - left))},
                         {"height", number(frame.plot_bottom() - top)}});
    html.add("title", tools::format_quantity(bin.from, unit) + " to " +
                          tools::format_quantity(bin.to, unit) + ": " +
                          tools::counted(bin.count, "run"));
  }
  const double base = frame.plot_bottom();
  line(html, "axis", frame.plot_left(), base, frame.plot_right(), base);
  const std::size_t every =
      std::max<std::size_t>(1, (data.bins.size() + static_cast<std::size_t>(frame.ticks_x) - 1) /
                                   static_cast<std::size_t>(frame.ticks_x));
  for (std::size_t i = 0; i < data.bins.size(); i += every) {
    const double at = x(data.bins[i].from);
    line(html, "axis", at, base, at, base + 4);
    words(html, "tick", i == 0 ? "start" : "middle", at, base + 20,
          tools::format_quantity(data.bins[i].from, unit));
  }
}

double quantile(const std::vector<double>& sorted, double part) {
  const double at = part * static_cast<double>(sorted.size() - 1);
  const std::size_t below = static_cast<std::size_t>(at);
  if (below + 1 >= sorted.size()) return sorted.back();
  const double rest = at - static_cast<double>(below);
  return sorted[below] + rest * (sorted[below + 1] - sorted[below]);
}

}  // namespace

bool worth_drawing(const RecordChart& chart) {
  return chart.runs.size() >= 2 && chart.runs.front().at < chart.runs.back().at;
}

void append_record_chart(Html& html, const RecordChart& chart, std::string_view id) {
  assert(worth_drawing(chart));
  draw_record(html, chart, kWide, std::string(id) + "-wide");
  draw_record(html, chart, kNarrow, std::string(id) + "-narrow");
}

FiveNumbers five_numbers(const std::vector<double>& sorted) {
  assert(!sorted.empty());
  return {sorted.front(), quantile(sorted, 0.25), quantile(sorted, 0.5), quantile(sorted, 0.75),
          sorted.back()};
}

Histogram histogram(const std::vector<double>& sorted) {
  assert(!sorted.empty());
  Histogram out;
  const double least = sorted.front();
  const double greatest = sorted.back();
  out.logarithmic = greatest >= kLogarithmicFrom * least;
  // Sturges' number of bins, within what a narrow page can show.
  const double wanted = std::ceil(std::log2(static_cast<double>(sorted.size()))) + 1;
  const std::size_t count =
      least == greatest ? 1 : static_cast<std::size_t>(std::clamp(wanted, 4.0, 16.0));
  const auto edge = [&](std::size_t i) {
    if (i == 0) return least;
    if (i == count) return greatest;
    const double part = static_cast<double>(i) / static_cast<double>(count);
    return out.logarithmic ? least * std::pow(greatest / least, part)
                           : least + part * (greatest - least);
  };
  for (std::size_t i = 0; i < count; ++i) out.bins.push_back({edge(i), edge(i + 1), 0});
  std::size_t bin = 0;
  for (const double value : sorted) {
    while (bin + 1 < count && value >= out.bins[bin].to) ++bin;
    ++out.bins[bin].count;
  }
  return out;
}

void append_histogram(Html& html, const Histogram& histogram, std::string_view subject,
                      std::string_view unit, std::string_view id) {
  assert(!histogram.bins.empty());
  draw_histogram(html, histogram, subject, unit, kWide, std::string(id) + "-wide");
  draw_histogram(html, histogram, subject, unit, kNarrow, std::string(id) + "-narrow");
}

}  // namespace kernelindex::serve
