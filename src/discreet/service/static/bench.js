// The workbench: the editor's marks, the slider beside its field, what to insert, when to explain again.
import { mark } from "./editor.js";
import { send } from "./live.js";

const form = document.getElementById("ask");
const sql = document.getElementById("sql");
const run = document.getElementById("run");
const explained = document.getElementById("explained");
const slide = document.getElementById("slide");
const spend = document.getElementById("spend");
const answer = document.getElementById("answer");
const builder = document.getElementById("builder");
const written = document.getElementById("written");
const own = document.getElementById("own");
const kept = new Set();

const explain = () => send(form, form.dataset.live, explained, "post");

/** Mark the refused clause in the editor, and turn off Run where the price exceeds what is left. */
function heed() {
  const place = explained.querySelector("[data-start]");
  mark(place ? [Number(place.dataset.start), Number(place.dataset.end)] : null);
  run.disabled = explained.querySelector('[data-kind="BudgetExceeded"]') !== null;
}

/** Turn off what does not apply to what is chosen, and say why beside it. */
function fit() {
  if (!builder) return;
  const want = document.getElementById("want").selectedOptions[0];
  const kinds = want.dataset.of.split(" ");
  const of = document.getElementById("of");
  for (const option of of.options) {
    option.disabled = !kinds.includes(option.dataset.kind);
    option.textContent = option.dataset.words + (option.disabled && option.value ? ` – ${want.dataset.why}` : "");
  }
  if (of.selectedOptions[0].disabled) of.value = [...of.options].find((option) => !option.disabled)?.value ?? "";
  for (const part of builder.querySelectorAll("[data-want]")) part.hidden = part.dataset.want !== want.value;
  for (const [field, before] of [["and", "by"], ["with", "and"]]) {
    const list = document.getElementById(field);
    if (list) list.parentElement.hidden = !document.getElementById(before).value;
  }
  for (const row of builder.querySelectorAll(".condition")) {
    const [column, test, value] = row.querySelectorAll("select, input");
    const kind = column.selectedOptions[0].dataset.kind ?? "";
    [...test.options].forEach((option, place) => { option.disabled = place > 2 && ["category", "boolean", "text"].includes(kind); });
    if (test.selectedOptions[0].disabled) test.value = "=";
    value.type = kind === "date" && !["in", "between"].includes(test.value) ? "date" : "text";
    value.setAttribute("list", `values-${column.value}`);
  }
}

/** Add a row for one more condition, as far as there may be more. */
function another() {
  const rows = builder.querySelectorAll(".condition");
  if (rows.length >= 6) return;
  const row = rows[rows.length - 1].cloneNode(true);
  for (const part of row.querySelectorAll("[id], [for]"))
    for (const name of ["id", "for", "name"])
      if (part.getAttribute(name)) part.setAttribute(name, part.getAttribute(name).replace(/\d$/, rows.length + 1));
  for (const label of row.querySelectorAll("label")) label.textContent = label.textContent.replace(/\d$/, rows.length + 1).replace("only where", "and where");
  row.querySelector("input").value = "";
  rows[rows.length - 1].after(row);
  row.querySelector("select").value = "";
  row.querySelector("select").focus();
  fit();
}

/** Put the SQL of the choices into the editor, unless a person has written there. */
function show() {
  const said = explained.querySelector("[data-written]");
  if (!said || !own) return;
  own.hidden = !said.dataset.own;
  if (said.dataset.own || sql.value !== written.value) return;
  sql.value = written.value = said.dataset.written;
}

/** Keep question and answer in the address, so that a page that is loaded again has them still. */
function remember() {
  const fields = new URLSearchParams(new FormData(form));
  for (const name of ["csrf", "mark", "name", "written"]) fields.delete(name);
  if (builder && sql.value === written.value) fields.delete("sql");
  for (const [name, value] of [...fields]) if (!value) fields.delete(name);
  const job = answer.querySelector("[data-job]")?.dataset.job;
  if (job) fields.set("answer", job);
  if (fields.toString().length < 6000) history.replaceState(null, "", `?${fields}`);
}

/** Put a word where the cursor stands. */
function insert(word) {
  const before = sql.value.slice(0, sql.selectionStart);
  const space = before && !/[\s(,.]$/.test(before) ? " " : "";
  sql.setRangeText(space + word, sql.selectionStart, sql.selectionEnd, "end");
  sql.focus();
  sql.dispatchEvent(new Event("input", { bubbles: true }));
}

const steps = slide.dataset.steps.split("|");
function say() {
  slide.setAttribute("aria-valuetext", `${slide.dataset.symbol} = ${spend.value}`);
}

/** Move the slider to the step nearest to the number in the field. */
function follow() {
  const value = Number(spend.value);
  const far = steps.map((step) => Math.abs(Math.log(Number(step) / value)));
  if (value > 0) slide.value = String(far.indexOf(Math.min(...far)));
  say();
}

function modes() {
  const chosen = new FormData(form).get("mode");
  for (const part of form.querySelectorAll("[data-mode]")) part.hidden = part.dataset.mode !== chosen;
}

slide.closest("[data-script]").hidden = false;
slide.addEventListener("input", () => {
  spend.value = steps[Number(slide.value)];
  say();
});
spend.addEventListener("input", follow);
form.addEventListener("change", modes);
builder?.addEventListener("input", () => {
  sql.value = written.value; // what is chosen last counts
  fit();
});
document.getElementById("more-where")?.addEventListener("click", another);
form.addEventListener("input", () => {
  run.disabled = false; // until the server has said what the new question costs
  remember();
});
sql.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) run.click();
});
document.addEventListener("click", (event) => {
  const column = event.target.closest("[data-insert]");
  const example = event.target.closest("[data-example]");
  if (column) {
    sql.closest("details").open = true;
    insert(column.dataset.insert);
  }
  if (example) {
    sql.value = example.dataset.example;
    sql.closest("details").open = true;
    sql.focus();
    sql.dispatchEvent(new Event("input", { bubbles: true }));
  }
});
explained.addEventListener("toggle", (event) => {
  const name = event.target.dataset.keep;
  if (name) event.target.open ? kept.add(name) : kept.delete(name);
}, true);
explained.addEventListener("placed", () => {
  for (const part of explained.querySelectorAll("[data-keep]")) part.open = kept.has(part.dataset.keep);
  show();
  heed();
});
answer.addEventListener("placed", () => {
  const fresh = answer.querySelector("[data-mark]")?.dataset.mark;
  if (fresh) form.elements.mark.value = fresh;
  remember();
  if (!answer.querySelector("[data-poll]")) explain();
});

fit();
follow();
modes();
heed();
