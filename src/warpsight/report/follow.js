
// A run that goes on: ask whether it has moved, and put the new page in place of the old one, with what was open.
function follow() {
  const live = document.getElementById("live");
  if (!live) return;
  setTimeout(function () {
    fetch(live.dataset.from).then(function (answer) { return answer.json(); }).then(function (found) {
      return found.state === live.dataset.state ? null : fetch(location.pathname).then(function (answer) { return answer.text(); });
    }).then(function (text) { if (text) swap(text); follow(); }).catch(follow);
  }, 1000);
}
function swap(text) {
  const page = new DOMParser().parseFromString(text, "text/html");
  const known = new Map(Array.from(document.querySelectorAll("details[id]"), function (one) { return [one.id, one.open]; }));
  page.querySelectorAll("details[id]").forEach(function (one) { if (known.has(one.id)) one.open = known.get(one.id); });
  ["main", "header", "#live"].forEach(function (place) {
    const old = document.querySelector(place), now = page.querySelector(place);
    if (old && now) old.replaceWith(document.adoptNode(now)); else if (old) old.remove();
  });
}
follow();
