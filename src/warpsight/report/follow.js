
// The local page: ask whether anything was stored, and put the new page in place of the old one, with what was open,
// ticked and typed. The search of the home page also works while one types.
function follow() {
  const live = document.getElementById("live");
  if (!live) return;
  setTimeout(function () {
    fetch(live.dataset.from).then(function (answer) { return answer.json(); }).then(function (found) {
      return found.state === live.dataset.state ? null : fetch(location.href).then(function (answer) { return answer.text(); });
    }).then(function (text) { if (text) swap(text); follow(); }).catch(follow);
  }, Number(live.dataset.every || 1000));
}
function swap(text) {
  const page = new DOMParser().parseFromString(text, "text/html");
  const known = new Map(Array.from(document.querySelectorAll("details[id]"), function (one) { return [one.id, one.open]; }));
  page.querySelectorAll("details[id]").forEach(function (one) { if (known.has(one.id)) one.open = known.get(one.id); });
  const ticked = new Set(Array.from(document.querySelectorAll("main input:checked"), function (one) { return one.value; }));
  page.querySelectorAll("main input[type=checkbox]").forEach(function (one) { one.checked = ticked.has(one.value); });
  ["main", "header", "#live"].forEach(function (place) {
    const old = document.querySelector(place), now = page.querySelector(place);
    if (old && now) old.replaceWith(document.adoptNode(now)); else if (old) old.remove();
  });
  search();
}
function search() {
  const box = document.querySelector("input[name=words]");
  const words = box ? box.value.toLowerCase().split(/\s+/) : [];
  document.querySelectorAll("li[data-words]").forEach(function (card) {
    card.hidden = !words.every(function (word) { return card.dataset.words.includes(word); });
  });
}
addEventListener("input", function (event) { if (event.target.name === "words") search(); });
follow();
