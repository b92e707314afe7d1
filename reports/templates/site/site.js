// The search: rows of kind, name, text and address, loaded when it is first used; no network.
const form = document.querySelector("form.search");
const hits = document.querySelector(".hits");
const input = form.elements.q;
const root = document.body.dataset.root;
const order = ["clause", "operation", "page", "vector", "fault"];
let loading = null;

function rows() {
  loading ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = `${root}search.js`;
    script.onload = () => resolve(SEARCH_ROWS);
    script.onerror = reject;
    document.head.append(script);
  });
  return loading;
}

function rank([kind, name, text], words) {
  const title = name.toLowerCase();
  const all = `${title} ${text.toLowerCase()}`;
  if (!words.every((word) => all.includes(word))) return -1;
  const exact = title === words.join(" ") ? 100 : 0;
  const inTitle = words.every((word) => title.includes(word)) ? 15 : 0;
  return exact + inTitle + 10 * (order.length - order.indexOf(kind));
}

function item([kind, name, text, address]) {
  const li = document.createElement("li");
  const label = document.createElement("span");
  label.className = "kind";
  label.textContent = kind;
  const link = document.createElement("a");
  link.href = root + address;
  link.textContent = name;
  const words = document.createElement("span");
  words.append(link, ` ${text.length > 140 ? `${text.slice(0, 139)}…` : text}`);
  li.append(label, words);
  return li;
}

async function search() {
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
  hits.hidden = words.length === 0;
  if (hits.hidden) return;
  const asked = input.value;
  const ranked = (await rows()).map((row) => [rank(row, words), row]).filter(([score]) => score >= 0);
  if (asked !== input.value) return;
  ranked.sort((a, b) => b[0] - a[0]);
  const list = document.createElement("ol");
  list.append(...ranked.slice(0, 50).map(([, row]) => item(row)));
  const count = document.createElement("p");
  count.className = "soft small";
  count.textContent = ranked.length > 50 ? `50 of ${ranked.length} shown` : `${ranked.length} found`;
  hits.replaceChildren(count, list);
}

form.hidden = false;
form.addEventListener("submit", (event) => {
  event.preventDefault();
  hits.querySelector("a")?.click();
});
input.addEventListener("input", search);
hits.addEventListener("click", (event) => {
  if (event.target.closest("a")) hits.hidden = true;
});
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && document.activeElement !== input) {
    event.preventDefault();
    input.focus();
  } else if (event.key === "Escape") {
    hits.hidden = true;
  }
});
input.value ||= new URLSearchParams(location.search).get("q") ?? "";
search();
