// Randomize answers on this device and send the reports; see local/device/discreet-device.js.

import { load } from "/device/discreet-device.js";
import { piece, put } from "/static/live.js";

const form = document.getElementById("telemetry");
const shown = document.getElementById("telemetry-shown");
const sent = document.getElementById("sent");
const metric = await load(JSON.parse(form.dataset.envelope));
const CROWD = [["on foot", 0.4], ["by bicycle", 0.3], ["by bus or train", 0.2], ["by car", 0.1]];

async function send(lines) {
  const body = new URLSearchParams({ csrf: form.elements.csrf.value, reports: lines.join("\n") });
  sent.textContent = lines.length === 1 ? lines[0] : `${lines.length} lines such as ${lines[0]}`;
  const html = await piece("/telemetry/reports", { method: "POST", body });
  if (html !== null) put(shown, html);
}

/** The answer of somebody made up; no secret, so any random number will do. */
function somebody() {
  let left = Math.random();
  return (CROWD.find(([, share]) => (left -= share) < 0) ?? CROWD[0])[0];
}

document.getElementById("send-one").addEventListener("click", () => send([metric.line(form.elements.answer.value)]));
document.getElementById("send-crowd").addEventListener("click", () =>
  send(Array.from({ length: 200 }, () => metric.line(somebody()))));
