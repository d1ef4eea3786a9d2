// SPDX-License-Identifier: Apache-2.0
// Charts as SVG, made here so that they need no script: how the record of a group moved, and how
// the values of its runs are spread.
//
// Colours come from the stylesheet and carry no meaning of their own: the record is a thick line
// with filled marks, other runs are hollow circles, so that a chart reads the same in print. Each
// says in <title> and <desc> what it shows, and the page has the same numbers in a table. A chart
// is drawn twice, for narrow and for wide pages, so that its words keep their size; the stylesheet
// shows one.
#pragma once

#include <string>
#include <vector>

#include "schema/utc_time.h"
#include "tools/serve/pages/html.h"

namespace kernelindex::serve {

struct ChartRun {
  UtcMicros at = 0;     // when it was observed
  double value = 0;     // in the chart's unit; above zero
  std::string name;     // of its implementation
  bool record = false;  // it moved the record
  bool late = false;    // and was recorded after one that it displaces
};

// The runs of one group and source.
struct RecordChart {
  std::string subject;         // what the values are of: "ImageNet 83.6 SSM … on NVIDIA B200"
  std::string unit;            // as rows have it: "ns"
  std::vector<ChartRun> runs;  // in order of observation
};

// Whether there is anything to draw: two instants at least.
bool worth_drawing(const RecordChart& chart);
// Lower is better: the line steps down. Requires: worth_drawing(). `id` keeps the element ids of
// several charts on one page apart.
void append_record_chart(Html& html, const RecordChart& chart, std::string_view id);

// Five numbers of sorted values. Quartiles by linear interpolation between order statistics.
struct FiveNumbers {
  double least = 0;
  double lower_quartile = 0;
  double median = 0;
  double upper_quartile = 0;
  double greatest = 0;
};
// Requires: `sorted` is not empty and ascending.
FiveNumbers five_numbers(const std::vector<double>& sorted);

struct Bin {
  double from = 0;
  double to = 0;  // exclusive but for the last
  std::size_t count = 0;
};
struct Histogram {
  bool logarithmic = false;  // bins of equal ratio: when the greatest is eight times the least
  std::vector<Bin> bins;
};
// Requires: `sorted` as above, all values above zero.
Histogram histogram(const std::vector<double>& sorted);

void append_histogram(Html& html, const Histogram& histogram, std::string_view subject,
                      std::string_view unit, std::string_view id);

}  // namespace kernelindex::serve
