// Small helpers that make server-rendered pages live. Every page also works without them.

const underway = new WeakMap(); // the request under way for each place of the page, so that a newer one replaces it

/** Ask the server for a piece of a page; a lost session leads to the sign-in page. */
async function piece(url, options = {}) {
  const reply = await fetch(url, { ...options, headers: { "X-Piece": "1", ...options.headers }, credentials: "same-origin" });
  if (reply.redirected && new URL(reply.url).pathname === "/sign-in") {
    location.assign(reply.url);
    return null;
  }
  return reply.text();
}

/** Put a piece into its place, and tell whoever depends on it. */
function put(target, html) {
  target.innerHTML = html;
  target.removeAttribute("aria-busy");
  reveal(target);
  target.dispatchEvent(new CustomEvent("placed", { bubbles: true }));
  poll(target);
}

/** Send a form and place the answer; a newer request for the same place cancels this one. */
async function send(form, url, target, method) {
  underway.get(target)?.abort();
  const control = new AbortController();
  underway.set(target, control);
  target.setAttribute("aria-busy", "true");
  const fields = new URLSearchParams(new FormData(form));
  try {
    const html =
      method === "post"
        ? await piece(url, { method, body: fields, signal: control.signal })
        : await piece(`${url}?${fields}`, { signal: control.signal });
    if (html !== null) put(target, html);
  } catch (problem) {
    if (problem.name !== "AbortError") lost(target);
  }
}

function lost(target) {
  target.removeAttribute("aria-busy");
  target.innerHTML = '<div class="refusal"><p><strong>The server cannot be reached.</strong></p><p>Nothing was sent twice. Try again in a moment.</p></div>';
}

/** Ask again for every part of a page that says it is not finished. */
function poll(root) {
  for (const part of root.querySelectorAll("[data-poll]")) {
    setTimeout(async () => {
      if (!part.isConnected) return;
      try {
        const html = await piece(part.dataset.poll);
        if (html !== null && part.isConnected) put(part.parentElement, html);
      } catch {
        lost(part.parentElement);
      }
    }, Number(part.dataset.wait ?? 400));
  }
}

/** Show what needs a script, and take away what is there for those without. */
function reveal(root) {
  for (const only of root.querySelectorAll("[data-script]")) only.hidden = false;
  for (const only of root.querySelectorAll("[data-without-script]")) only.remove();
}

/** Make a PNG of a picture of ours, twice as large, and hand it over as a download. */
async function paint(url) {
  const drawn = new Image();
  drawn.src = url;
  await drawn.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [2 * drawn.naturalWidth, 2 * drawn.naturalHeight];
  canvas.getContext("2d").drawImage(drawn, 0, 0, canvas.width, canvas.height);
  const blob = await new Promise((done) => canvas.toBlob(done, "image/png"));
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = `${new URL(url, location).pathname.split("/").slice(-2).join("-").replace(/\.svg$/, "")}.png`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** Write the value of a slider beside it. */
function speak(slider) {
  const words = slider.dataset.words?.split("\n");
  if (!words) return;
  const said = words[Number(slider.value)];
  slider.setAttribute("aria-valuetext", said);
  const output = slider.form?.querySelector(`output[for="${slider.id}"]`);
  if (output) output.value = said;
}

/** Put what a lesson shows into the address, as its form would without a script. */
function remember(form, lesson) {
  const fields = new URLSearchParams(new FormData(form));
  fields.set("lesson", lesson);
  history.replaceState(null, "", `?${fields}#${lesson}`);
}

let waiting;
document.addEventListener("input", (event) => {
  if (event.target.matches("input[type=range]")) speak(event.target);
  const form = event.target.form;
  if (!form?.dataset.live) return;
  clearTimeout(waiting);
  const target = document.getElementById(form.dataset.target);
  if (form.dataset.address) remember(form, form.dataset.address);
  waiting = setTimeout(() => send(form, form.dataset.live, target, form.method), Number(form.dataset.wait ?? 90));
});

document.addEventListener("submit", (event) => {
  const form = event.target;
  const sure = event.submitter?.dataset.sure ?? form.dataset.sure;
  if (sure && !confirm(sure)) {
    event.preventDefault();
    return;
  }
  const into = event.submitter?.dataset.into ?? form.dataset.into;
  if (!into) return;
  event.preventDefault();
  const action = event.submitter?.getAttribute("formaction") ?? form.getAttribute("action");
  send(form, action, document.getElementById(into), form.method);
});

document.addEventListener("click", async (event) => {
  const copy = event.target.closest("[data-copy]");
  if (copy) {
    await navigator.clipboard.writeText(document.getElementById(copy.dataset.copy).textContent.trim());
    copy.textContent = "Copied";
  }
  const picture = event.target.closest("[data-png]");
  if (picture) await paint(picture.dataset.png);
});

/** Turn off the button that pays where the price exceeds what is left. */
function hold(form) {
  const pay = form.querySelector("[data-pay]");
  if (pay) pay.disabled = document.getElementById(form.dataset.target).querySelector('[data-kind="BudgetExceeded"]') !== null;
}

document.addEventListener("placed", () => document.querySelectorAll("form[data-target]").forEach(hold));
document.querySelectorAll("form[data-target]").forEach(hold);
for (const slider of document.querySelectorAll("input[type=range]")) speak(slider);
reveal(document);
poll(document);

export { piece, put, send, speak };
