// One monitor's series, extended by the samples that come in while it is shown. Pure.

export const TABLE_ROWS = 50;
const FIGURES = ["ttft_ms", "tokens_per_second", "total_ms"];

/** Whether each bucket holds one slot, so that a sample is a point of its own. */
export function isRaw(series, intervalS) {
  return series.bucket_s <= intervalS;
}

/** Samples newest first, without doubles, bounded. */
export function withRow(samples, sample) {
  if (samples.some((row) => row.key === sample.key)) return samples;
  return [sample, ...samples].sort((a, b) => b.due_ms - a.due_ms).slice(0, TABLE_ROWS);
}

/** Those of `news` that came after `series` was read: they are not in its table, which
 * holds the newest. */
export function missing(series, news) {
  const known = new Set(series.samples.map((row) => row.key));
  const oldest = series.samples.length < TABLE_ROWS ? series.from_ms : series.samples.at(-1).due_ms;
  return news.filter((sample) => sample.due_ms > oldest && !known.has(sample.key));
}

/** Add `sample` as a point of its own and slide the window to `nowMs`. */
export function extend(series, sample, nowMs) {
  const at = series.due_ms.findLastIndex((due) => due <= sample.due_ms);
  series.samples = withRow(series.samples, sample);
  if (series.due_ms[at] !== sample.due_ms) {
    series.due_ms.splice(at + 1, 0, sample.due_ms);
    series.count.splice(at + 1, 0, 1);
    series.failed.splice(at + 1, 0, sample.ok ? 0 : 1);
    for (const name of FIGURES) {
      const value = sample.ok ? sample[name] : null;
      series.figures[name].median.splice(at + 1, 0, value);
      series.figures[name].tail.splice(at + 1, 0, value);
      series.ends[name].low.splice(at + 1, 0, value);
      series.ends[name].high.splice(at + 1, 0, value);
    }
  }
  slide(series, nowMs);
}

/** Move the window so that it ends at `nowMs`, and forget what left it. */
export function slide(series, nowMs) {
  const by = nowMs - series.to_ms;
  if (by <= 0) return;
  series.from_ms += by;
  series.to_ms += by;
  const gone = series.due_ms.findIndex((due) => due >= series.from_ms);
  const count = gone < 0 ? series.due_ms.length : gone;
  if (!count) return;
  for (const column of columns(series)) column.splice(0, count);
}

function columns(series) {
  const figures = FIGURES.flatMap((name) => [series.figures[name], series.ends[name]]);
  return [series.due_ms, series.count, series.failed, ...figures.flatMap(Object.values)];
}

/** Where the line must break: after each point whose next slot or bucket is missing. */
export function withBreaks(xs, ys, bucketMs) {
  const x = [];
  const y = [];
  xs.forEach((at, i) => {
    if (i > 0 && at - xs[i - 1] > 1.5 * bucketMs) {
      x.push((at + xs[i - 1]) / 2);
      y.push(null);
    }
    x.push(at);
    y.push(ys[i]);
  });
  return { x, y };
}

/** The points that no line leads to or from: a line alone would hide them. */
export function lone({ x, y }) {
  const at = y.flatMap((value, i) => (value != null && y[i - 1] == null && y[i + 1] == null ? [i] : []));
  return { x: at.map((i) => x[i]), y: at.map((i) => y[i]) };
}

/** The column of the worst single values: a rate's least, a duration's greatest. */
export function worsts(series, name) {
  return series.ends[name][name === "tokens_per_second" ? "low" : "high"];
}

/** The area between two columns as one polygon for each unbroken run of points. */
export function band(xs, ys, tails, bucketMs) {
  const middle = withBreaks(xs, ys, bucketMs);
  const edge = withBreaks(xs, tails, bucketMs).y;
  const x = [];
  const y = [];
  let start = 0;
  for (let i = 0; i <= middle.x.length; i += 1) {
    if (i < middle.x.length && middle.y[i] != null && edge[i] != null) continue;
    const run = middle.x.slice(start, i);
    if (run.length > 1) {
      x.push(...run, ...run.toReversed(), null);
      y.push(...middle.y.slice(start, i), ...edge.slice(start, i).toReversed(), null);
    }
    start = i + 1;
  }
  return { x, y };
}

/** The limits that were in force at `atMs`; undefined before the first. `limits` is dated. */
export function limitsAt(limits, atMs) {
  return limits.findLast((row) => (row.from_ms ?? -Infinity) <= atMs);
}

/** A limit over time as steps between `from` and `to`: [[x, y], …], y null for none. */
export function steps(limits, name, from, to) {
  const points = limits.map((row, i) => [
    i === 0 ? from : Math.min(to, Math.max(from, row.from_ms ?? from)),
    row[name],
  ]);
  if (points.length) points.push([to, points.at(-1)[1]]);
  return points;
}

/** What a reader without eyes for the chart needs: the last sample's value, the worst
 * sample's, the count. Never a bucket's, or a day would contradict its last minutes. */
export function summary(series, name) {
  const recent = series.samples.filter((row) => row.ok && row[name] != null && row.due_ms >= series.from_ms);
  const present = [...worsts(series, name), ...recent.map((row) => row[name])].filter((value) => value != null);
  const worst = name === "tokens_per_second" ? Math.min : Math.max;
  const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);
  return {
    last: recent[0]?.[name] ?? null,
    worst: present.length ? worst(...present) : null,
    samples: sum(series.count),
    failed: sum(series.failed),
    missed: sum(series.gaps.map((gap) => gap.slots)),
  };
}
