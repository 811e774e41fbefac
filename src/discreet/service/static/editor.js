// The editor: a copy of the text lies under the transparent one, with words coloured and what is refused marked; names that
// begin like the word before the cursor are offered below it.

const sql = document.getElementById("sql");
const mirror = document.getElementById("mirror");
const list = document.getElementById("names");
const names = sql.dataset.names.split(" ");
const known = new Map(names.map((name) => [name.toLowerCase(), name === name.toUpperCase() ? "word" : "known"]));
const PART = /--[^\n]*|'(?:[^']|'')*'?|[\p{L}_][\p{L}\p{N}_]*|[^]/gu;
let refused = null; // where the clause of a refusal begins and ends, in characters
let offered = [];
let chosen = 0;

function kind(part) {
  if (part.startsWith("--")) return "remark";
  if (part.startsWith("'")) return "text";
  return known.get(part.toLowerCase()) ?? "";
}

/** Return the text in coloured pieces; `from` counts the characters before it. */
function coloured(text) {
  const pieces = [];
  for (const [part] of text.matchAll(PART)) {
    const look = kind(part);
    if (!look) pieces.push(part);
    else {
      const piece = document.createElement("span");
      piece.className = look;
      piece.textContent = part;
      pieces.push(piece);
    }
  }
  return pieces;
}

function paint() {
  const points = [...sql.value]; // the server counts characters, not halves of them
  const [start, end] = refused ?? [points.length, points.length];
  const marked = document.createElement("mark");
  marked.append(...coloured(points.slice(start, end).join("")));
  mirror.replaceChildren(...coloured(points.slice(0, start).join("")), ...(refused ? [marked] : []),
    ...coloured(points.slice(end).join("")), "\n");
  mirror.scrollTop = sql.scrollTop;
}

/** Mark a clause, or none. */
function mark(place) {
  refused = place;
  paint();
}

function before() {
  return /[\p{L}_][\p{L}\p{N}_]*$/u.exec(sql.value.slice(0, sql.selectionStart))?.[0] ?? "";
}

function close() {
  offered = [];
  list.hidden = true;
  sql.removeAttribute("aria-activedescendant");
}

/** Offer the names that begin like the word before the cursor; all of them if `always` and there is none. */
function offer(always = false) {
  const begun = before().toLowerCase();
  offered = begun || always
    ? names.filter((name) => name.toLowerCase().startsWith(begun) && name.toLowerCase() !== begun).slice(0, 8)
    : [];
  if (!offered.length || (!always && begun.length < 2)) return close();
  chosen = 0;
  list.replaceChildren(...offered.map((name, place) => {
    const item = document.createElement("li");
    item.id = `name-${place}`;
    item.setAttribute("role", "option");
    item.textContent = name;
    return item;
  }));
  list.hidden = false;
  stand();
  choose(0);
}

/** Put the list below the cursor: a copy of the text before it says where that is. */
function stand() {
  const copy = mirror.cloneNode();
  const end = document.createElement("span");
  copy.removeAttribute("id");
  copy.append(sql.value.slice(0, sql.selectionStart), end);
  end.textContent = "\u200b";
  mirror.after(copy);
  list.style.setProperty("top", `${end.offsetTop + end.offsetHeight - sql.scrollTop}px`);
  list.style.setProperty("left", `${Math.max(0, Math.min(end.offsetLeft, sql.clientWidth - list.offsetWidth))}px`);
  copy.remove();
}

function choose(place) {
  chosen = (place + offered.length) % offered.length;
  for (const [k, item] of [...list.children].entries()) item.setAttribute("aria-selected", String(k === chosen));
  sql.setAttribute("aria-activedescendant", `name-${chosen}`);
}

function take(place) {
  const name = offered[place];
  const begun = before();
  sql.setRangeText(name, sql.selectionStart - begun.length, sql.selectionStart, "end");
  close();
  sql.focus();
  sql.dispatchEvent(new Event("input", { bubbles: true }));
  close();
}

const KEYS = {
  ArrowDown: () => choose(chosen + 1),
  ArrowUp: () => choose(chosen - 1),
  Enter: () => take(chosen),
  Tab: () => take(chosen),
  Escape: close,
};

sql.setAttribute("aria-autocomplete", "list");
sql.setAttribute("aria-controls", "names");
sql.closest(".editor").classList.add("lit");
sql.addEventListener("keydown", (event) => {
  if (event.key === " " && event.ctrlKey) {
    event.preventDefault();
    offer(true);
  } else if (!list.hidden && KEYS[event.key] && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
    event.preventDefault();
    KEYS[event.key]();
  }
});
sql.addEventListener("input", (event) => {
  refused = null;
  paint();
  if (event.inputType === "insertText") offer();
  else close();
});
sql.addEventListener("scroll", () => {
  mirror.scrollTop = sql.scrollTop;
  close();
});
sql.addEventListener("blur", close);
list.addEventListener("mousedown", (event) => {
  event.preventDefault();
  const item = event.target.closest("li");
  if (item) take([...list.children].indexOf(item));
});

export { mark };
