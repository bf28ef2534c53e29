import assert from "node:assert/strict";
import { test } from "node:test";

import { fade } from "../../../static/js/plotparts.js";
import { spark, timeline } from "../../../static/js/plots.js";
import { chart } from "../../../static/js/seriesplot.js";

const COLOURS = Object.fromEntries(
  ["series", "muted", "text", "line", "edge", "raised", "gap", "failing"].map((name) => [name, "#56b4e9"]),
);
const SIZE = { width: 800, height: 200, line: 2, text: 12, font: "sans" };

function tile(values, limits = { ttft_ms: 1000 }) {
  return { leading: "ttft_ms", interval_s: 10, limits, spark: values.map((v, i) => [i * 10_000, v]) };
}

function series(values, overrides = {}) {
  const figure = { median: values, tail: values };
  const ends = { low: values, high: values };
  return {
    from_ms: 0, to_ms: 100_000, bucket_s: 10, due_ms: values.map((_, i) => i * 10_000),
    count: values.map(() => 1), failed: values.map((v) => (v == null ? 1 : 0)),
    figures: { ttft_ms: figure, tokens_per_second: figure, total_ms: figure },
    ends: { ttft_ms: ends, tokens_per_second: ends, total_ms: ends },
    limits: [{ from_ms: null, ttft_ms: 1000, tokens_per_second: 15, total_ms: null }], gaps: [], ...overrides,
  };
}

test("a sparkline starts at zero and has room for its limit", () => {
  const { layout } = spark(tile([200, 300]), COLOURS, SIZE);
  assert.equal(layout.yaxis.range[0], 0);
  assert.ok(layout.yaxis.range[1] > 1000);
  assert.equal(layout.shapes[0].y0, 1000);
});

test("without a limit, or without points, a sparkline can still be drawn", () => {
  const { layout } = spark(tile([], {}), COLOURS, SIZE);
  assert.deepEqual(layout.shapes, []);
  assert.ok(layout.yaxis.range[1] > 0);
});

test("failures are marks on the bottom, not values of zero", () => {
  const { data } = spark(tile([200, null, 300]), COLOURS, SIZE);
  assert.deepEqual(data[0].y, [200, null, 300]);
  assert.deepEqual(data[2].x, [10_000]);
  assert.equal(data[2].yaxis, "y2");
});

test("a chart from zero in milliseconds, in seconds where those are many", () => {
  const small = chart(series([200, 300]), "ttft_ms", COLOURS, SIZE, 0).layout.yaxis;
  assert.deepEqual([small.ticksuffix, small.range[0]], [" ms", 0]);
  const large = chart(series([2000, 9000]), "ttft_ms", COLOURS, SIZE, 0).layout.yaxis;
  assert.equal(large.ticksuffix, " s");
  assert.ok(large.range[1] > 9 && large.range[1] < 11);
});

test("one spike far above the rest is drawn on a log axis", () => {
  const { yaxis } = chart(series([200, 210, 220, 90_000]), "ttft_ms", COLOURS, SIZE, 0).layout;
  assert.equal(yaxis.type, "log");
});

test("time reads as the reader's, not as UTC", () => {
  const berlin = chart(series([200, 300]), "ttft_ms", COLOURS, SIZE, -60);
  assert.deepEqual(berlin.layout.xaxis.range, ["1970-01-01T01:00:00.000", "1970-01-01T01:01:40.000"]);
  assert.deepEqual(berlin.data[2].x, ["1970-01-01T01:00:00.000", "1970-01-01T01:00:10.000"]);
});

test("gaps are shaded for as long as they were, and the wide ones say why", () => {
  const gaps = [
    { from_ms: 10_000, to_ms: 60_000, text: "no worker" },
    { from_ms: 90_000, to_ms: 91_000, text: "overlap" },
  ];
  const { layout } = chart(series([200, 300], { gaps }), "ttft_ms", COLOURS, SIZE, 0);
  assert.deepEqual(layout.shapes.map((s) => [s.x0.slice(17), s.x1.slice(17)]), [["10.000", "00.000"], ["30.000", "31.000"]]);
  assert.deepEqual(layout.annotations.map((a) => a.text), ["no worker", "limit ≤ 1 s"]);
});

test("the limit's label goes where it hides no part of the line", () => {
  const place = (values) => {
    const [{ xanchor, yanchor }] = chart(series(values), "ttft_ms", COLOURS, SIZE, 0).layout.annotations;
    return [xanchor, yanchor];
  };
  assert.deepEqual(place([200, 210, 200, 190, 205, 200, 210, 200, 220, 210]), ["right", "bottom"]);
  assert.deepEqual(place([200, 210, 200, 190, 205, 200, 210, 1050, 990, 1010]), ["left", "bottom"]);
  assert.deepEqual(place([1050, 1060, 200, 190, 205, 200, 210, 1050, 1060, 1070]), ["right", "top"]);
});

test("a figure without a limit has no line and no label", () => {
  const { data, layout } = chart(series([200, 300]), "total_ms", COLOURS, SIZE, 0);
  assert.deepEqual(data[1].y, [null, null]);
  assert.deepEqual(layout.annotations, []);
});

test("where nothing was measured, a chart says so and has no figures on its axis", () => {
  const { layout } = chart(series([], { limits: [] }), "ttft_ms", COLOURS, SIZE, 0);
  assert.equal(layout.yaxis.showticklabels, false);
  assert.deepEqual(layout.annotations.map((a) => a.text), ["no data in this range"]);
  const failed = chart(series([null, null]), "total_ms", COLOURS, SIZE, 0).layout;
  assert.deepEqual(failed.annotations.map((a) => a.text), ["no data in this range"]);
});

test("a timeline adds up its tokens", () => {
  assert.deepEqual(timeline([[90, 1], [120, 2], [150, 1.5]], COLOURS, SIZE).data[0].y, [1, 3, 4.5]);
});

test("a timeline of more than ten seconds is told in seconds", () => {
  const of = (last) => timeline([[90, 1], [last, 2]], COLOURS, SIZE);
  assert.deepEqual([of(10_000).layout.xaxis.ticksuffix, of(10_000).data[0].x], [" ms", [90, 10_000]]);
  assert.deepEqual([of(12_500).layout.xaxis.ticksuffix, of(12_500).data[0].x], [" s", [0.09, 12.5]]);
});

test("a colour fades", () => {
  assert.equal(fade("#56b4e9", 0.2), "rgba(86,180,233,0.2)");
});
