// "Test now": send one probe, wait for it, show what it measured.

import { drawTimeline } from "./charts.js";
import { make, setText } from "./dom.js";
import { FIGURES, figure } from "./format.js";

const POLL_MS = 400;
const panel = document.getElementById("trial");
const byId = (id) => document.getElementById(id);
let drawn = null;

function errorOf(form, name) {
  return form.querySelector(`[data-error="${name}"]`);
}

/** Put each message with its field, as a page that came back from the server does. */
function showErrors(form, errors) {
  for (const element of form.querySelectorAll("[data-error]")) setText(element, "");
  for (const field of form.querySelectorAll("[aria-invalid]")) field.removeAttribute("aria-invalid");
  for (const [name, messages] of Object.entries(errors)) {
    const place = errorOf(form, name);
    if (!place) continue;
    setText(place, messages.join(" "));
    const field = form.elements[name];
    field.setAttribute("aria-invalid", "true");
    field.setAttribute("aria-describedby", place.id);
  }
  form.querySelector("[aria-invalid]")?.focus();
}

function tell(text, problem = false) {
  panel.hidden = false;
  setText(byId("trial-told"), text);
  panel.toggleAttribute("data-problem", problem);
  panel.scrollIntoView({ block: "nearest" });
}

async function send(url, form) {
  const response = await fetch(url, { method: "POST", body: new FormData(form), redirect: "manual" });
  if (response.type === "opaqueredirect") location.reload();
  if (response.status === 400) {
    const { errors } = await response.json();
    showErrors(form, errors);
    const elsewhere = Object.entries(errors).filter(([name]) => !errorOf(form, name));
    tell(["Not sent: see the marked fields.", ...elsewhere.flatMap(([, messages]) => messages)].join(" "), true);
    return null;
  }
  if (!response.ok) {
    const { told } = await response.json().catch(() => ({}));  // a proxy answers with a page
    if (!told) throw new Error(`HTTP ${response.status}`);
    tell(told, true);
    return null;
  }
  showErrors(form, {});
  return response.json();
}

async function wait(url) {
  for (;;) {
    const response = await fetch(url, { cache: "no-store" });
    if (!response.ok) throw new Error(`HTTP ${response.status}`);
    const trial = await response.json();
    tell(trial.told);
    if (trial.status === "finished") return trial;
    if (trial.status === "lost") return null;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

function show({ result, told }) {
  tell(told, result.outcome !== "ok");
  const list = Object.keys(FIGURES).map((name) => [FIGURES[name].name, figure(name, result[name])]);
  list.push(["tokens", String(result.output_tokens ?? "–")]);
  if (result.input_tokens != null) list.push(["prompt tokens", String(result.input_tokens)]);
  byId("trial-figures").replaceChildren(...list.map(([name, value]) => {
    const item = make("div");
    item.append(make("dt", name), make("dd", value));
    return item;
  }));
  byId("trial-figures").hidden = result.ttft_ms == null;
  drawn = result.timeline ?? [];
  byId("trial-chart").hidden = !drawn.length;
  if (drawn.length) setText(byId("trial-chart-caption"), caption(result));
  draw();
}

function caption({ timeline, ttft_ms: ttft, total_ms: total, max_gap_ms: gap }) {
  const waited = gap == null ? "" : `, longest wait between two ${figure("total_ms", gap)}`;
  return `${timeline.length} pieces: the first after ${figure("ttft_ms", ttft)}, the last after ${figure("total_ms", total)}${waited}.`;
}

function draw() {
  const plot = panel.querySelector("[data-plot]");
  if (drawn?.length) drawTimeline(plot, drawn);
}

async function run(button, url, form) {
  button.disabled = true;
  byId("trial-figures").hidden = true;
  byId("trial-chart").hidden = true;
  try {
    const sent = await send(url, form);
    const trial = sent && (await wait(sent.url));
    if (trial) show(trial);
  } catch (error) {
    tell(`The test could not be run (${error.message}). Check that TokenPulse itself is up, then try again.`, true);
  }
  button.disabled = false;
}

for (const form of document.querySelectorAll("form[data-trial]")) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    run(event.submitter, form.action, form);
  });
}
for (const button of document.querySelectorAll("[data-trial-from]")) {
  button.addEventListener("click", () => run(button, button.dataset.trialUrl, byId(button.dataset.trialFrom)));
}
document.addEventListener("themechange", draw);
new ResizeObserver(draw).observe(panel);
