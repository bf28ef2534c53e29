// One monitor: its charts and its last samples, extended while they are shown.

import { adviceFor } from "./advice.js";
import { drawChart } from "./charts.js";
import { make, setAttribute, setText } from "./dom.js";
import { FIGURES, JUDGED, breaks, broken, clock, figure, limit, moment, span, zone } from "./format.js";
import { Live } from "./live.js";
import { extend, isRaw, limitsAt, missing, slide, summary, withRow } from "./series.js";
import { STATES, isOld, shown } from "./states.js";
import { showLink } from "./status.js";

const page = document.getElementById("monitor");
const id = Number(page.dataset.monitor);
const intervalS = Number(page.dataset.interval);
const failures = JSON.parse(document.getElementById("failures").textContent);
const sentences = JSON.parse(document.getElementById("sentences").textContent);
const model = document.getElementById("model").textContent;
const charts = [...page.querySelectorAll("[data-chart]")];
const NEWS_KEPT = 50;
let series = null;
let news = [];
let state = { state: "no_data", since_ms: 0 };
let scheduled = false;
let reloadAt = Infinity;

const live = new Live({
  url: page.dataset.series,
  version: Number(document.body.dataset.version),
  onData: (payload) => {
    series = payload;
    for (const sample of missing(series, news)) take(sample);
    if (payload.state.since_ms >= state.since_ms) state = payload.state;
    draw();
  },
  onFrame: (frame) => {
    for (const word of frame.states) if (word.monitor === id) state = word;
    for (const sample of frame.samples) if (sample.monitor === id) hear(sample);
    head();
  },
  onTick: () => {
    showLink(live);
    head();
    if (Date.now() >= reloadAt) {
      reloadAt = Infinity;
      live.load();
    }
  },
});

function hear(sample) {
  news = [...news, sample].slice(-NEWS_KEPT);
  if (series) take(sample);
}

function take(sample) {
  if (isRaw(series, intervalS)) extend(series, sample, live.now());
  else {
    series.samples = withRow(series.samples, sample);
    slide(series, live.now());
    // A bucket of many samples is the server's to fold; ask for it, but not for each.
    reloadAt = Math.min(reloadAt, Date.now() + 10_000);
  }
  draw();
}

function draw() {
  if (scheduled || !series) return;
  scheduled = true;
  requestAnimationFrame(() => {
    scheduled = false;
    for (const chart of charts) show(chart);
    rows();
    head();
  });
}

function show(chart) {
  const name = chart.dataset.chart;
  drawChart(chart.querySelector("[data-plot]"), series, name);
  setText(chart.querySelector("[data-caption]"), caption(name));
  if (chart.querySelector("details").open) data(chart, name);
}

function caption(name) {
  const told = summary(series, name);
  const window = `from ${moment(series.from_ms)} to ${clock(series.to_ms)}`;
  if (!told.samples) return `No samples ${window}.`;
  const bound = series.limits.at(-1)?.[name];
  const gaps = [...new Set(series.gaps.map((gap) => gap.text))].join("; ");
  return [
    `Last ${figure(name, told.last)}, worst ${figure(name, told.worst)}`,
    bound == null ? "" : `, limit ${limit(name, bound)}`,
    `; ${told.samples} samples, ${told.failed} failed`,
    told.missed ? `, ${told.missed} missed (${gaps})` : "",
    ` ${window}.`,
    isRaw(series, intervalS) ? "" : ` Line: the median of each ${span(series.bucket_s * 1000)}; band: to its ${FIGURES[name].tail}, fainter to its worst.`,
  ].join("");
}

function data(chart, name) {
  const { median, tail } = series.figures[name];
  const body = series.due_ms.map((at, i) => {
    const cells = [series.count[i], series.failed[i], figure(name, median[i]), figure(name, tail[i])];
    const row = make("tr");
    row.append(make("th", moment(at), { scope: "row" }), ...cells.map((cell) => make("td", String(cell))));
    return row;
  });
  chart.querySelector("[data-rows]").replaceChildren(...body.reverse());
}

function rows() {
  const gapColumn = document.getElementById("gap-column");
  gapColumn.hidden = series.limits.every((limits) => limits.max_gap_ms == null);
  const shownFigures = Object.keys(JUDGED).filter((name) => name !== "max_gap_ms" || !gapColumn.hidden);
  const body = series.samples.map((sample) => sampleRow(sample, shownFigures));
  const none = make("tr");
  none.append(make("td", "No samples in this range.", { colspan: String(shownFigures.length + 4) }));
  document.getElementById("samples").replaceChildren(...(body.length ? body : [none]));
}

function sampleRow(sample, names) {
  const row = make("tr", "", { "data-key": sample.key });
  const limits = limitsAt(series.limits, sample.due_ms);
  const error = sample.uncertainty_ms == null ? "–" : `± ${figure("ttft_ms", sample.uncertainty_ms)}`;
  row.append(
    make("th", moment(sample.due_ms), { scope: "row" }),
    make("td", result(sample, limits), { class: "why" }),
    ...names.map((name) => {
      const bad = breaks(name, sample[name], limits?.[name]);
      return make("td", figure(name, sample[name]), bad ? { "data-breaks": "" } : {});
    }),
    make("td", String(sample.output_tokens ?? "–")),
    make("td", error),
  );
  return row;
}

/** What became of a sample, in words: an error with the server's own, or the limits broken. */
function result(sample, limits) {
  if (!sample.error) return broken(sample, limits).join("; ") || (sample.good === false ? "outside a limit" : "answered");
  const told = [sample.http_status && sample.http_status !== 200 && `HTTP ${sample.http_status}`, sample.error_text];
  return [failures[sample.error] ?? sample.error, ...told.filter(Boolean)].join(" · ");
}

function head() {
  if (!series) return;
  const now = live.now();
  const latest = series.samples[0] ?? null;
  const tile = { latest, state, interval_s: intervalS };
  const word = shown(tile, now);
  const line = document.getElementById("state");
  setAttribute(page, "data-state", word);
  setText(line.querySelector(".shape"), STATES[word].shape);
  setText(line.querySelector(".word"), STATES[word].word);
  setText(document.getElementById("why"), state.why ?? "");
  setText(document.getElementById("advice"), adviceFor(latest, sentences, model));
  setText(document.getElementById("zone"), `times in ${zone(series.to_ms)}`);
  if (state.since_ms) setText(document.getElementById("since"), `since ${moment(state.since_ms)}`);
  setText(document.getElementById("age"), latest ? `${span(now - latest.due_ms)} ago` : "none in this range");
  page.toggleAttribute("data-old", isOld(tile, now));
}

for (const chart of charts) {
  chart.querySelector("details").addEventListener("toggle", () => series && data(chart, chart.dataset.chart));
}
document.addEventListener("themechange", draw);
new ResizeObserver(draw).observe(page);
live.start();
