
"use strict";
// Keys, and opening what a link points into. Nothing here is needed to read the page.
function steps() { return Array.from(document.querySelectorAll("details.step")); }
function show(found) { if (found) { found.open = true; const head = found.querySelector("summary"); head.focus(); found.scrollIntoView({ block: "start" }); } }
function target() {
  let found = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const wanted = found;
  while (found) { if (found.tagName === "DETAILS") found.open = true; found = found.parentElement; }
  if (wanted) wanted.scrollIntoView({ block: "start" });
}
addEventListener("hashchange", target);
target();
addEventListener("keydown", function (event) {
  if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
  const all = steps();
  const at = all.indexOf(document.activeElement && document.activeElement.closest("details.step"));
  if (event.key === "j") show(all[Math.min(at + 1, all.length - 1)]);
  else if (event.key === "k") show(all[Math.max(at - 1, 0)]);
  else if (event.key === "o") { const open = all.some(function (step) { return !step.open; }); all.forEach(function (step) { step.open = open; }); }
});
