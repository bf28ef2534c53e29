// The small charts: a tile's sparkline, and one answer's tokens. Pure.

import { figure } from "./format.js";
import { FAILURE_AXIS, HIDDEN_AXIS, failures, frame, ruled, top } from "./plotparts.js";
import { lone, withBreaks } from "./series.js";
import { SPARK_POINTS } from "./store.js";

/** The last points of a tile's leading figure over its limit, from zero. */
export function spark(tile, colours, size) {
  const intervalMs = tile.interval_s * 1000;
  const xs = tile.spark.map(([at]) => at);
  const ys = tile.spark.map(([, value]) => value);
  const failed = xs.filter((_, i) => ys[i] == null);
  const bound = tile.limits[tile.leading];
  const end = xs.at(-1) ?? 0;
  const style = { color: colours.series, width: size.line };
  const line = withBreaks(xs, ys, intervalMs);
  return {
    data: [
      { ...line, type: "scatter", mode: "lines", line: style },
      { ...lone(line), type: "scatter", mode: "markers", marker: { color: colours.series, size: 2 * size.line } },
      failures(failed, colours, size, []),
    ],
    layout: {
      ...frame(size, { l: 0, r: 0, t: 2, b: 2 }),
      xaxis: { ...HIDDEN_AXIS, range: [end - SPARK_POINTS * intervalMs, end + intervalMs] },
      yaxis: { ...HIDDEN_AXIS, range: [0, top(...ys, bound)] },
      yaxis2: FAILURE_AXIS,
      shapes: bound == null ? [] : [across(bound, colours)],
    },
  };
}

function across(y, colours) {
  const line = { color: colours.muted, width: 1, dash: "dash" };
  return { type: "line", xref: "paper", x0: 0, x1: 1, y0: y, y1: y, line };
}

/** When each token of one answer came: tokens so far over milliseconds. */
export function timeline(pairs, colours, size) {
  let sum = 0;
  const counts = pairs.map(([, tokens]) => (sum += tokens));
  const unit = (pairs.at(-1)?.[0] ?? 0) > 10_000 ? { name: "s", ms: 1000 } : { name: "ms", ms: 1 };
  return {
    data: [
      {
        x: pairs.map(([ms]) => ms / unit.ms),
        y: counts,
        type: "scatter",
        mode: "lines+markers",
        line: { shape: "hv", color: colours.series, width: size.line },
        marker: { size: 4, color: colours.series },
        text: pairs.map(([ms]) => figure("total_ms", ms)),
        hovertemplate: "token %{y:.0f} after %{text}<extra></extra>",
      },
    ],
    layout: {
      ...frame(size, { l: size.text * 5, r: 8, t: 8, b: size.text * 2.5 }),
      font: { family: size.font, size: size.text },
      xaxis: { ...ruled(colours), ticksuffix: ` ${unit.name}`, rangemode: "tozero" },
      yaxis: { ...ruled(colours), rangemode: "tozero", title: { text: "tokens", font: { color: colours.muted } } },
    },
  };
}
