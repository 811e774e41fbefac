// The workbench: the editor's marks, the slider beside its field, what to insert, when to explain again.
import { send } from "./live.js";

const form = document.getElementById("ask");
const sql = document.getElementById("sql");
const mirror = document.getElementById("mirror");
const explained = document.getElementById("explained");
const slide = document.getElementById("slide");
const spend = document.getElementById("spend");
const answer = document.getElementById("answer");
const kept = new Set();

const explain = () => send(form, form.dataset.live, explained, "post");

/** Show what is refused where it stands: a copy of the text lies under the editor, with the clause marked. */
function mark() {
  const place = explained.querySelector("[data-start]");
  const text = sql.value;
  mirror.replaceChildren();
  if (!place) return;
  const [start, end] = [Number(place.dataset.start), Number(place.dataset.end)];
  const points = [...text]; // the server counts characters, not halves of them
  const marked = document.createElement("mark");
  marked.textContent = points.slice(start, end).join("");
  mirror.append(points.slice(0, start).join(""), marked, `${points.slice(end).join("")}\n`);
  mirror.scrollTop = sql.scrollTop;
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
sql.addEventListener("scroll", () => {
  mirror.scrollTop = sql.scrollTop;
});
sql.addEventListener("input", () => mirror.replaceChildren());
sql.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit(document.getElementById("run"));
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
  mark();
});
answer.addEventListener("placed", () => {
  const fresh = answer.querySelector("[data-mark]")?.dataset.mark;
  if (fresh) form.elements.mark.value = fresh;
  if (!answer.querySelector("[data-poll]")) explain();
});

follow();
modes();
mark();
