// What each chart shows, as Plotly's data and layout. Pure: colours and sizes are given.

import { FIGURES, clock, figure, limit, moment } from "./format.js";
import { steps, withBreaks } from "./series.js";

const BARE = { visible: false, fixedrange: true };

/** `#56b4e9` at `alpha`. */
export function fade(hex, alpha) {
  const [r, g, b] = [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
  return `rgba(${r},${g},${b},${alpha})`;
}

/** Plotly's axes know no zones: shift moments so that its UTC reads as the reader's time.
 * One shift for the whole chart, lest a line run backwards in the night clocks change. */
function shifted(offsetMin) {
  return (ms) => ms - offsetMin * 60_000;
}

function top(values, limits) {
  return Math.max(0, ...values.filter((v) => v != null), ...limits.filter((v) => v != null)) * 1.1 || 1;
}

function failures(xs, colours, text) {
  return {
    x: xs, y: xs.map(() => 0.03), yaxis: "y2", mode: "markers", type: "scatter", text,
    marker: { symbol: "x-thin", size: 7, line: { color: colours.failing, width: 2 } },
    hovertemplate: "%{text}<extra></extra>", cliponaxis: false, showlegend: false,
  };
}

/** A tile's sparkline with its limit: the last points of its leading figure. */
export function spark(tile, colours, size) {
  const intervalMs = tile.interval_s * 1000;
  const xs = tile.spark.map(([at]) => at);
  const line = withBreaks(xs, tile.spark.map(([, value]) => value), intervalMs);
  const end = xs.at(-1) ?? 0;
  const bound = tile.limits[tile.leading];
  const range = [end - 60 * intervalMs, end + intervalMs];
  return {
    data: [
      { ...line, type: "scatter", mode: "lines", line: { color: colours.series, width: size.line }, hoverinfo: "skip" },
      failures(tile.spark.filter(([, value]) => value == null).map(([at]) => at), colours, []),
    ],
    layout: {
      width: size.width, height: size.height, margin: { l: 0, r: 0, t: 2, b: 2 }, showlegend: false,
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
      xaxis: { ...BARE, range }, yaxis: { ...BARE, range: [0, top(line.y, [bound])] },
      yaxis2: { ...BARE, overlaying: "y", range: [0, 1] },
      shapes: bound == null ? [] : [{
        type: "line", xref: "paper", x0: 0, x1: 1, y0: bound, y1: bound,
        line: { color: colours.muted, width: 1, dash: "dash" },
      }],
    },
  };
}

/** Log where one spike would flatten all the rest, else from zero. */
function yAxis(values, limits, scale, colours, suffix) {
  const present = values.filter((v) => v > 0).sort((a, b) => a - b);
  const middle = present[Math.floor(present.length / 2)] ?? 0;
  const high = top(values, limits);
  const base = {
    ticksuffix: suffix, gridcolor: colours.line, zerolinecolor: colours.edge, nticks: 6,
    fixedrange: true, tickfont: { color: colours.muted },
  };
  if (middle && high > 30 * middle) {
    return { ...base, type: "log", range: [Math.log10((present[0] * 0.8) / scale), Math.log10(high / scale)] };
  }
  return { ...base, type: "linear", range: [0, high / scale], rangemode: "tozero" };
}

function timeAxis(series, x, colours, size) {
  const days = (series.to_ms - series.from_ms) / 86_400_000;
  return {
    type: "date", range: [x(series.from_ms), x(series.to_ms)], fixedrange: true, gridcolor: colours.line,
    tickformat: days > 2 ? "%a %-d %b" : "%H:%M", nticks: Math.max(3, Math.floor(size.width / 110)),
    ticks: "outside", ticklen: 6, tickcolor: "rgba(0,0,0,0)", tickfont: { color: colours.muted },
  };
}

function gapShapes(gaps, x, colours) {
  return gaps.map((gap) => ({
    type: "rect", xref: "x", yref: "paper", x0: x(gap.from_ms), x1: x(gap.to_ms), y0: 0, y1: 1,
    fillcolor: fade(colours.gap, 0.16), line: { width: 0 }, layer: "below",
  }));
}

/** A label in each gap that is wide enough to hold one. */
function gapLabels(series, x, colours) {
  const wide = (series.to_ms - series.from_ms) / 6;
  return series.gaps.filter((gap) => gap.to_ms - gap.from_ms > wide).map((gap) => ({
    x: x((Math.max(gap.from_ms, series.from_ms) + Math.min(gap.to_ms, series.to_ms)) / 2), y: 1, yref: "paper",
    yanchor: "top", text: gap.text, showarrow: false, font: { color: colours.muted, size: 12 },
  }));
}

function limitLabel(name, points, scale, log, colours) {
  const value = points.at(-1)?.[1];
  if (value == null) return [];
  return [{
    xref: "paper", x: 1, y: log ? Math.log10(value / scale) : value / scale, xanchor: "right", yanchor: "bottom",
    text: `limit ${limit(name, value)}`, showarrow: false, font: { color: colours.muted, size: 12 },
  }];
}

/** One figure of a monitor over its window: median, tail band, limit, failures, gaps. */
export function chart(series, name, colours, size, offsetMin) {
  const x = shifted(offsetMin);
  const { median, tail } = series.figures[name];
  const points = steps(series.limits, name, series.from_ms, series.to_ms);
  const bounds = points.map(([, value]) => value);
  const all = [...median, ...tail];
  const seconds = FIGURES[name].unit === "ms" && top(all, bounds) > 2000;
  const scale = seconds ? 1000 : 1;
  const axis = yAxis(all, bounds, scale, colours, ` ${seconds ? "s" : FIGURES[name].unit}`);
  const column = (ys) => withBreaks(series.due_ms.map(x), ys.map((v) => v == null ? null : v / scale), series.bucket_s * 1000);
  const middle = column(median);
  const labels = series.due_ms.map((at, i) => label(series, name, at, i));
  const text = withBreaks(series.due_ms.map(x), labels, series.bucket_s * 1000).y;
  const fold = series.count.some((n) => n > 1);
  const failed = series.due_ms.map((at, i) => [at, i]).filter(([, i]) => series.failed[i]);
  const line = { type: "scatter", mode: "lines", hoverinfo: "skip", showlegend: false };
  const lone = middle.y.filter((v) => v != null).length <= 90 ? { mode: "lines+markers", marker: { size: 4, color: colours.series } } : {};
  const band = fold ? [
    { ...line, ...column(tail), line: { width: 0 } },
    { ...line, ...middle, line: { width: 0 }, fill: "tonexty", fillcolor: fade(colours.series, 0.22) },
  ] : [];
  return {
    data: [
      ...band,
      { ...line, x: points.map(([at]) => x(at)), y: points.map(([, v]) => v == null ? null : v / scale), line: { color: colours.muted, width: 1, dash: "dash", shape: "hv" } },
      { ...line, ...lone, ...middle, text, hoverinfo: undefined, hovertemplate: "%{text}<extra></extra>", line: { color: colours.series, width: size.line } },
      failures(failed.map(([at]) => x(at)), colours, failed.map(([at, i]) => `${clock(at)}: ${series.failed[i]} failed`)),
    ],
    layout: {
      width: size.width, height: size.height, margin: { l: 64, r: 8, t: 8, b: 28 }, showlegend: false,
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", hovermode: "closest", dragmode: false,
      font: { family: size.font, size: size.text, color: colours.text },
      hoverlabel: { bgcolor: colours.raised, bordercolor: colours.edge, font: { color: colours.text } },
      xaxis: timeAxis(series, x, colours, size),
      yaxis: axis, yaxis2: { ...BARE, overlaying: "y", range: [0, 1] },
      shapes: gapShapes(series.gaps, x, colours),
      annotations: [...gapLabels(series, x, colours), ...limitLabel(name, points, scale, axis.type === "log", colours)],
    },
  };
}

function label(series, name, at, i) {
  const { median, tail } = series.figures[name];
  const n = series.count[i];
  if (n <= 1) return `${moment(at)}<br>${figure(name, median[i])}`;
  const tailName = name === "tokens_per_second" ? "p5" : "p95";
  return `${moment(at)}<br>p50 ${figure(name, median[i])}, ${tailName} ${figure(name, tail[i])} (n = ${n})`;
}

/** When each token of one answer came: tokens so far over milliseconds. */
export function timeline(pairs, colours, size) {
  let sum = 0;
  const counts = pairs.map(([, tokens]) => (sum += tokens));
  return {
    data: [{
      x: pairs.map(([ms]) => ms), y: counts, type: "scatter", mode: "lines+markers",
      line: { shape: "hv", color: colours.series, width: size.line }, marker: { size: 4, color: colours.series },
      hovertemplate: "token %{y:.0f} after %{x:.0f} ms<extra></extra>",
    }],
    layout: {
      width: size.width, height: size.height, margin: { l: 64, r: 8, t: 8, b: 40 }, showlegend: false,
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", dragmode: false,
      font: { family: size.font, size: size.text, color: colours.muted },
      xaxis: { ticksuffix: " ms", rangemode: "tozero", gridcolor: colours.line, fixedrange: true, zerolinecolor: colours.edge },
      yaxis: { ticksuffix: " tokens", rangemode: "tozero", gridcolor: colours.line, fixedrange: true, zerolinecolor: colours.edge },
    },
  };
}
