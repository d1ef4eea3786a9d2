// SPDX-License-Identifier: Apache-2.0
// Comfort only: every page says and does the same without it. Shows the buttons that copy, and
// writes today's date into citations.
"use strict";

for (const button of document.querySelectorAll("button[data-copy]")) {
  const target = document.getElementById(button.dataset.copy);
  if (!target || !navigator.clipboard) continue;
  button.hidden = false;
  button.addEventListener("click", async () => {
    const words = button.textContent;
    try {
      await navigator.clipboard.writeText(target.textContent);
      button.textContent = "Copied";
    } catch {
      button.textContent = "Not copied";
    }
    setTimeout(() => (button.textContent = words), 1500);
  });
}

const today = new Date().toISOString().slice(0, 10);
for (const time of document.querySelectorAll("time[data-today]")) {
  time.dateTime = today;
  time.textContent = today;
}

document.addEventListener("keydown", (event) => {
  const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
  if (event.key !== "/" || typing || event.ctrlKey || event.metaKey || event.altKey) return;
  const search = document.getElementById("site-search");
  if (!search) return;
  event.preventDefault();
  search.focus();
});
