import assert from "node:assert/strict";
import { test } from "node:test";

import { TABLE_ROWS, band, extend, isRaw, limitsAt, lone, missing, slide, steps, summary, withBreaks, withRow } from "../../../static/js/series.js";

function series(due = [0, 10_000, 20_000], overrides = {}) {
  const column = (k) => due.map((_, i) => k * (i + 1));
  const ends = (k) => ({ low: column(k / 2), high: column(k * 2) });
  const figure = (k) => ({ median: column(k), tail: column(k) });
  return {
    from_ms: 0, to_ms: 20_000, bucket_s: 10, due_ms: [...due], count: due.map(() => 1), failed: due.map(() => 0),
    figures: { ttft_ms: figure(100), tokens_per_second: figure(1), total_ms: figure(1000) },
    ends: { ttft_ms: ends(100), tokens_per_second: ends(1), total_ms: ends(1000) }, limits: [], gaps: [], samples: [],
    ...overrides,
  };
}

function sample(due_ms, overrides = {}) {
  return { key: `1:${due_ms}`, due_ms, ok: true, ttft_ms: 50, tokens_per_second: 9, total_ms: 700, ...overrides };
}

test("a sample becomes a point and the window slides with it", () => {
  const s = series();
  extend(s, sample(30_000), 32_000);
  assert.deepEqual(s.due_ms, [20_000, 30_000]);
  assert.equal(s.figures.ttft_ms.median.at(-1), 50);
  assert.deepEqual([s.from_ms, s.to_ms], [12_000, 32_000]);
});

test("all columns stay equally long, whatever comes", () => {
  const s = series();
  for (const due of [30_000, 30_000, 5_000, 60_000, 45_000]) extend(s, sample(due), 60_000);
  const lengths = [s.due_ms, s.count, s.failed, ...[...Object.values(s.figures), ...Object.values(s.ends)].flatMap(Object.values)];
  assert.equal(new Set(lengths.map((c) => c.length)).size, 1);
  assert.deepEqual(s.due_ms, s.due_ms.toSorted((a, b) => a - b));
  assert.equal(new Set(s.due_ms).size, s.due_ms.length);
});

test("a failed sample has no value and counts as failed", () => {
  const s = series();
  extend(s, sample(30_000, { ok: false }), 30_000);
  assert.equal(s.figures.total_ms.median.at(-1), null);
  assert.equal(s.failed.at(-1), 1);
});

test("an older clock does not move the window back", () => {
  const s = series();
  slide(s, 10_000);
  assert.deepEqual([s.from_ms, s.to_ms, s.due_ms.length], [0, 20_000, 3]);
});

test("a window in which nothing is left is empty", () => {
  const s = series();
  slide(s, 1_000_000);
  assert.deepEqual(s.due_ms, []);
  assert.deepEqual(s.figures.ttft_ms.tail, []);
});

test("a bucket longer than the interval is no single sample", () => {
  assert.equal(isRaw({ bucket_s: 10 }, 10), true);
  assert.equal(isRaw({ bucket_s: 120 }, 10), false);
});

test("the table has the newest first, each once, and no more than it may", () => {
  let rows = [];
  for (let i = 0; i < TABLE_ROWS + 20; i += 1) rows = withRow(rows, sample(i));
  assert.equal(rows.length, TABLE_ROWS);
  assert.equal(rows[0].due_ms, TABLE_ROWS + 19);
  assert.equal(withRow(rows, rows[3]), rows);
});

test("news that a series was read too early for is put back, and nothing else", () => {
  const rows = Array.from({ length: TABLE_ROWS }, (_, i) => sample(1000 - i));
  const s = series([], { samples: rows });
  const news = [sample(100), sample(990), sample(1000), sample(1001), sample(980, { key: "late" })];
  assert.deepEqual(missing(s, news).map((row) => row.key), ["1:1001", "late"]);
  assert.deepEqual(missing(series([], { from_ms: 50 }), [sample(40), sample(60)]).map((row) => row.due_ms), [60]);
});

test("a line breaks where slots are missing, and zero does not break it", () => {
  assert.deepEqual(withBreaks([0, 10, 20, 40, 50], [1, 0, 3, 4, 5], 10), {
    x: [0, 10, 20, 30, 40, 50], y: [1, 0, 3, null, 4, 5],
  });
  assert.deepEqual(withBreaks([], [], 10), { x: [], y: [] });
});

test("the band is one closed shape for each unbroken run", () => {
  const { x, y } = band([0, 10, 20, 30, 40], [1, 2, null, 4, 5], [2, 3, null, 6, 7], 10);
  assert.deepEqual(x, [0, 10, 10, 0, null, 30, 40, 40, 30, null]);
  assert.deepEqual(y, [1, 2, 3, 2, null, 4, 5, 7, 6, null]);
});

test("dated limits are steps inside the window", () => {
  const limits = [{ from_ms: -500, ttft_ms: 1000 }, { from_ms: 40, ttft_ms: null }, { from_ms: 60, ttft_ms: 800 }];
  assert.deepEqual(steps(limits, "ttft_ms", 0, 100), [[0, 1000], [40, null], [60, 800], [100, 800]]);
  assert.deepEqual(steps([], "ttft_ms", 0, 100), []);
});

test("a point without neighbours is found, for no line shows it", () => {
  assert.deepEqual(lone({ x: [0, 1, 2, 3, 4, 5, 6], y: [7, null, 0, null, 1, 2, null] }), { x: [0, 2], y: [7, 0] });
});

test("the summary tells the last sample, the worst sample for that figure, and what is missing", () => {
  const samples = [sample(25, { ok: false }), sample(20, { tokens_per_second: 6 }), sample(10)];
  const s = series([0, 10, 20], { gaps: [{ slots: 3 }, { slots: 2 }], failed: [0, 1, 0], samples });
  s.ends.tokens_per_second = { low: [4, 9, null], high: [90, 90, null] };
  assert.deepEqual(summary(s, "tokens_per_second"), { last: 6, worst: 4, samples: 3, failed: 1, missed: 5 });
  assert.equal(summary(s, "ttft_ms").worst, 600);
});

test("a sample that no bucket has yet can be the worst", () => {
  const s = series([0], { samples: [sample(20, { ttft_ms: 9000 })] });
  assert.deepEqual([summary(s, "ttft_ms").last, summary(s, "ttft_ms").worst], [9000, 9000]);
});

test("an empty series has no values to sum up", () => {
  assert.deepEqual(summary(series([]), "ttft_ms"), { last: null, worst: null, samples: 0, failed: 0, missed: 0 });
});

test("a sample is judged by the limits of its time", () => {
  const limits = [{ from_ms: 10, ttft_ms: 1000 }, { from_ms: 50, ttft_ms: 800 }];
  assert.deepEqual([9, 10, 49, 50].map((at) => limitsAt(limits, at)?.ttft_ms), [undefined, 1000, 1000, 800]);
});
