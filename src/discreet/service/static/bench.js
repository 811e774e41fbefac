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
const kept = new Set();

const explain = () => send(form, form.dataset.live, explained, "post");

/** Mark what is refused where it stands, and stop what does not fit from being run. */
function heed() {
  const place = explained.querySelector("[data-start]");
  mark(place ? [Number(place.dataset.start), Number(place.dataset.end)] : null);
  run.disabled = explained.querySelector('[data-kind="BudgetExceeded"]') !== null;
}

/** Keep question and answer in the address, so that a page that is loaded again has them still. */
function remember() {
  const fields = new URLSearchParams(new FormData(form));
  for (const name of ["csrf", "mark", "name"]) fields.delete(name);
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

/** Stand at the step nearest to what the field says. */
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
  if (column) insert(column.dataset.insert);
  if (example) {
    sql.value = example.dataset.example;
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
  heed();
});
answer.addEventListener("placed", () => {
  const fresh = answer.querySelector("[data-mark]")?.dataset.mark;
  if (fresh) form.elements.mark.value = fresh;
  remember();
  if (!answer.querySelector("[data-poll]")) explain();
});

follow();
modes();
heed();
