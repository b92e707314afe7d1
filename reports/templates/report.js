const filters = document.querySelector(".filters");
const rows = document.querySelectorAll("tr[data-subject]");
const shown = filters.querySelector("output");
function apply() {
  const subject = filters.elements.subject.value;
  const result = filters.elements.result.value;
  let count = 0;
  for (const row of rows) {
    row.hidden = Boolean(
      (subject && row.dataset.subject !== subject) || (result && row.dataset.result !== result)
    );
    count += row.hidden ? 0 : 1;
  }
  shown.textContent = `${count} of ${rows.length} clauses shown`;
}
filters.hidden = false;
filters.addEventListener("change", apply);
filters.addEventListener("submit", (event) => event.preventDefault());
apply();
