// One figure of a monitor over a window: median, tail, limit, failures and gaps. Pure.

import { FIGURES, clock, figure, limit, moment } from "./format.js";
import { FAILURE_AXIS, fade, failures, frame, ruled, top } from "./plotparts.js";
import { band, lone, steps, withBreaks, worsts } from "./series.js";

const FEW = 90;

/** Moments as the reader's wall clock has them, for Plotly's axes know no zones. One
 * shift for the whole chart, lest a line run backwards in the night clocks change. */
function localTime(offsetMin) {
  return (ms) => (ms == null ? null : new Date(ms - offsetMin * 60_000).toISOString().slice(0, -1));
}

/** The unit in which an axis up to `high` reads best, and its size. */
function unitOf(name, high) {
  if (FIGURES[name].unit === "ms" && high > 2000) return { unit: "s", scale: 1000 };
  return { unit: FIGURES[name].unit, scale: 1 };
}

/** Log where one spike would flatten all the rest, else from zero. */
function valueAxis(values, high, { unit, scale }, colours) {
  const base = { ...ruled(colours), ticksuffix: ` ${unit}`, nticks: 6 };
  const present = values.filter((value) => value > 0).sort((a, b) => a - b);
  const middle = present[Math.floor(present.length / 2)];
  if (!middle || high <= 30 * middle) return { ...base, range: [0, high / scale] };
  const range = [present[0] * 0.8, high].map((value) => Math.log10(value / scale));
  return { ...base, type: "log", range };
}

function timeAxis(series, x, colours, size) {
  const days = (series.to_ms - series.from_ms) / 86_400_000;
  return {
    ...ruled(colours),
    type: "date",
    range: [x(series.from_ms), x(series.to_ms)],
    tickformat: days > 2 ? "%a %-d %b" : "%H:%M",
    nticks: Math.max(3, Math.floor(size.width / (8 * size.text))),
  };
}

function gapShape(gap, x, colours) {
  return {
    type: "rect", yref: "paper", x0: x(gap.from_ms), x1: x(gap.to_ms), y0: 0, y1: 1,
    fillcolor: fade(colours.gap, 0.16), line: { width: 0 }, layer: "below",
  };
}

/** A note on the chart in the colour of the axes. */
function note(text, place, colours, size) {
  return { text, ...place, showarrow: false, font: { color: colours.muted, size: size.text } };
}

/** Each gap that is wide enough says why it is there. */
function gapNotes(series, x, colours, size) {
  const room = (series.to_ms - series.from_ms) / 6;
  return series.gaps
    .map((gap) => [Math.max(gap.from_ms, series.from_ms), Math.min(gap.to_ms, series.to_ms), gap.text])
    .filter(([from, to]) => to - from > room)
    .map(([from, to, text]) =>
      note(text, { x: x((from + to) / 2), y: 1, yref: "paper", yanchor: "top" }, colours, size),
    );
}

const PLACES = [["right", "bottom"], ["left", "bottom"], ["right", "top"], ["left", "top"]];

/** Where a label on the limit's line hides nothing: above it or below, at either end. */
function freePlace(series, name, y, yOf, high) {
  const quarter = (series.to_ms - series.from_ms) / 4;
  const height = (yOf(high) - yOf(0)) / 8;
  const points = series.figures[name].median.flatMap((value, i) => (value == null ? [] : [[series.due_ms[i], yOf(value)]]));
  const free = ([end, side]) => !points.some(([at, value]) => {
    const near = end === "right" ? at > series.to_ms - quarter : at < series.from_ms + quarter;
    const above = side === "bottom" ? value - y : y - value;
    return near && above > -height / 8 && above < height;
  });
  return PLACES.find(free) ?? PLACES[0];
}

function limitNote(series, name, value, { axis, scale, high }, colours, size) {
  if (value == null) return [];
  const yOf = axis.type === "log" ? (v) => Math.log10(Math.max(v / scale, 10 ** axis.range[0])) : (v) => v / scale;
  const y = yOf(value);
  const [xanchor, yanchor] = freePlace(series, name, y, yOf, high);
  const place = { xref: "paper", x: xanchor === "left" ? 0 : 1, xanchor, y, yanchor };
  const ground = { bgcolor: colours.panel, opacity: 0.9, borderpad: 1 };
  return [note(`limit ${limit(name, value)}`, { ...place, ...ground }, colours, size)];
}

/** In place of an axis that would invent figures. */
function emptyNote(name, values, colours, size) {
  if (values.some((value) => value != null)) return [];
  return [note("no data in this range", { xref: "paper", yref: "paper", x: 0.5, y: 0.5 }, colours, size)];
}

/** What a point tells: its value, or what its bucket holds. */
function label(series, name, at, i) {
  const { median, tail } = series.figures[name];
  const n = series.count[i];
  if (n <= 1) return `${moment(at)}<br>${figure(name, median[i])}`;
  return `${moment(at)}<br>p50 ${figure(name, median[i])}, ${FIGURES[name].tail} ${figure(name, tail[i])} (n = ${n})`;
}

function traces(series, name, x, scale, points, colours, size) {
  const bucketMs = series.bucket_s * 1000;
  const placed = ({ x: moments, y }) => ({ x: moments.map(x), y });
  const scaled = (values) => values.map((value) => (value == null ? null : value / scale));
  const median = scaled(series.figures[name].median);
  const labels = series.due_ms.map((at, i) => label(series, name, at, i));
  const failed = series.due_ms.map((at, i) => ({ at, n: series.failed[i] })).filter(({ n }) => n);
  const dots = median.length <= FEW;
  const base = { type: "scatter", mode: "lines", hoverinfo: "skip" };
  const area = (edge, alpha) => ({
    ...base,
    ...placed(band(series.due_ms, median, scaled(edge), bucketMs)),
    line: { width: 0 },
    fill: "toself",
    fillcolor: fade(colours.series, alpha),
  });
  const line = withBreaks(series.due_ms, median, bucketMs);
  return [
    area(series.figures[name].tail, 0.25),
    {
      ...base,
      x: points.map(([at]) => x(at)),
      y: scaled(points.map(([, value]) => value)),
      line: { color: colours.muted, width: 1, dash: "dash", shape: "hv" },
    },
    {
      ...placed(line),
      type: "scatter",
      mode: dots ? "lines+markers" : "lines",
      marker: { size: size.line * 3, color: colours.series },
      line: { color: colours.series, width: size.line },
      text: withBreaks(series.due_ms, labels, bucketMs).y,
      hovertemplate: "%{text}<extra></extra>",
    },
    area(worsts(series, name), 0.12),
    { ...base, ...placed(dots ? { x: [], y: [] } : lone(line)), mode: "markers", marker: { size: size.line * 2, color: colours.series } },
    failures(failed.map(({ at }) => x(at)), colours, size, failed.map(({ at, n }) => `${clock(at)}: ${n} failed`)),
  ];
}

export function chart(series, name, colours, size, offsetMin) {
  const x = localTime(offsetMin);
  const points = steps(series.limits, name, series.from_ms, series.to_ms);
  const values = [...Object.values(series.figures[name]).flat(), ...worsts(series, name)];
  const high = top(...values, ...points.map(([, value]) => value));
  const { unit, scale } = unitOf(name, high);
  const axis = valueAxis(values, high, { unit, scale }, colours);
  const known = [...values, ...points.map(([, value]) => value)].some((value) => value != null);
  return {
    data: traces(series, name, x, scale, points, colours, size),
    layout: {
      ...frame(size, { l: size.text * 5, r: 8, t: 8, b: size.text * 2.5 }),
      hovermode: "closest",
      font: { family: size.font, size: size.text, color: colours.text },
      hoverlabel: { bgcolor: colours.raised, bordercolor: colours.edge, font: { color: colours.text } },
      xaxis: timeAxis(series, x, colours, size),
      yaxis: { ...axis, showticklabels: known, showgrid: known },
      yaxis2: FAILURE_AXIS,
      shapes: series.gaps.map((gap) => gapShape(gap, x, colours)),
      annotations: [
        ...gapNotes(series, x, colours, size),
        ...limitNote(series, name, points.at(-1)?.[1], { axis, scale, high }, colours, size),
        ...emptyNote(name, values, colours, size),
      ],
    },
  };
}
