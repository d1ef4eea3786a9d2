// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/pages/attempts_part.h"

#include "tools/attempt_output.h"
#include "tools/display_text.h"
#include "tools/serve/pages/layout.h"

namespace kernelindex::serve {
namespace {

void append_job(Html& html, const ControlledJob& job, std::size_t number) {
  const auto& asked = std::get<MeasurementJob>(job.job.said.predicate);
  const std::string_view verdict = tools::job_verdict(job);
  {
    const Html::Element text = html.in("p");
    html.add("code", verdict.empty() ? tools::job_state(job) : verdict).text(" on ");
    html.name(asked.device.product).text(" by ");
    html.name(job.owner.empty() ? "a runner that is not enrolled" : job.owner);
    if (job.by_operator) html.text(" ").add("code", "OPERATOR_RAN_IT");
  }
  if (job.judged) {
    const std::string compared = tools::comparison_text(*job.judged);
    if (!compared.empty()) html.add("p", compared);
    if (!job.judged->codes.empty()) {
      const Html::Element text = html.in("p", {{"class", "small"}});
      for (const std::string& code : job.judged->codes) html.add("code", code).text(" ");
    }
    if (!job.judged->source_covered) {
      const Html::Element text = html.in("p", {{"class", "small"}});
      html.text("Files were compiled that no digest of the implementation covers: ");
      html.add("code", "SOURCE_PARTIAL");
    }
  }
  const Html::Element text = html.in("div", {{"class", "small soft"}});
  html.text("entry " + tools::grouped(job.job.index) + ", " +
            (job.result ? "answered by entry " + tools::grouped(job.result->index)
                        : "until " + format_utc_micros(asked.expires_at)) +
            " ");
  append_digest(html, job.job.id, "digest-job-" + std::to_string(number));
}

}  // namespace

void append_attempts(Html& html, const RunMeasurements& measured) {
  if (measured.own) {
    html.add("h3", "Measured under control");
    append_job(html, *measured.own, 0);
  }
  if (measured.about.empty()) return;
  html.add("h3", "Controlled attempts");
  html.add("p", {{"class", "soft"}},
           "Every job that was issued, answered or not. What does not confirm counts against the "
           "number; inconclusive and not comparable results count for neither side.");
  const Html::Element list = html.in("ul", {{"class", "list"}});
  std::size_t number = 0;
  for (const ControlledJob& job : measured.about) {
    const Html::Element item = html.in("li");
    append_job(html, job, ++number);
  }
}

}  // namespace kernelindex::serve
