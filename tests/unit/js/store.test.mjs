import assert from "node:assert/strict";
import { test } from "node:test";

import { SPARK_POINTS, Store, withPoint } from "../../../static/js/store.js";

function sample(monitor, due_ms, overrides = {}) {
  return { key: `${monitor}:${due_ms}`, monitor, due_ms, ok: true, ttft_ms: due_ms / 10, ...overrides };
}

function tile(monitor, overrides = {}) {
  return {
    monitor, leading: "ttft_ms", latest: null, spark: [], state: { monitor, state: "no_data", since_ms: 0 }, ...overrides,
  };
}

function frame(samples = [], states = []) {
  return { samples, states };
}

function loaded(...tiles) {
  const store = new Store();
  store.snapshot({ tiles });
  return store;
}

test("a frame before the snapshot waits and is not lost", () => {
  const store = new Store();
  assert.deepEqual(store.frame(frame([sample(1, 200)])), { changed: [], unknown: false });
  store.snapshot({ tiles: [tile(1, { latest: sample(1, 100), spark: [[100, 10]] })] });
  assert.equal(store.tiles.get(1).latest.due_ms, 200);
  assert.deepEqual(store.tiles.get(1).spark, [[100, 10], [200, 20]]);
});

test("a snapshot made before a frame takes nothing back", () => {
  const store = loaded(tile(1, { latest: sample(1, 100), spark: [[100, 10]] }));
  store.frame(frame([sample(1, 200)], [{ monitor: 1, state: "failing", since_ms: 5 }]));
  store.snapshot({ tiles: [tile(1, { latest: sample(1, 100), spark: [[100, 10]], state: { monitor: 1, state: "stable", since_ms: 4 } })] });
  const after = store.tiles.get(1);
  assert.equal(after.latest.due_ms, 200);
  assert.equal(after.state.state, "failing");
  assert.deepEqual(after.spark, [[100, 10], [200, 20]]);
});

test("whatever the order of frames and snapshots, the end is the same", () => {
  const news = [100, 200, 300, 400].map((due) => sample(1, due));
  const ends = permutations([0, 1, 2, 3]).map((order) => {
    const store = loaded(tile(1));
    for (const i of order) store.frame(frame([news[i]]));
    for (const i of order) store.frame(frame([news[i]]));
    return JSON.stringify(store.tiles.get(1));
  });
  assert.equal(new Set(ends).size, 1);
  assert.deepEqual(JSON.parse(ends[0]).spark.map(([at]) => at), [100, 200, 300, 400]);
});

function permutations(items) {
  if (items.length < 2) return [items];
  return items.flatMap((item, i) => permutations(items.toSpliced(i, 1)).map((rest) => [item, ...rest]));
}

test("the same sample twice changes nothing", () => {
  const store = loaded(tile(1));
  assert.deepEqual(store.frame(frame([sample(1, 100)])).changed, [1]);
  assert.deepEqual(store.frame(frame([sample(1, 100)])).changed, []);
});

test("an older word does not replace a newer one", () => {
  const store = loaded(tile(1));
  store.frame(frame([], [{ monitor: 1, state: "failing", since_ms: 20 }]));
  assert.deepEqual(store.frame(frame([], [{ monitor: 1, state: "stable", since_ms: 10 }])).changed, []);
  assert.equal(store.tiles.get(1).state.state, "failing");
});

test("a failed probe is a point without a value", () => {
  const store = loaded(tile(1));
  store.frame(frame([sample(1, 100, { ok: false, error: "dns" })]));
  assert.deepEqual(store.tiles.get(1).spark, [[100, null]]);
});

test("news of a monitor that is not known asks for a snapshot", () => {
  const store = loaded(tile(1));
  assert.deepEqual(store.frame(frame([sample(2, 100)])), { changed: [], unknown: true });
});

test("a monitor that was deleted leaves with the next snapshot", () => {
  const store = loaded(tile(1), tile(2));
  store.snapshot({ tiles: [tile(2)] });
  assert.deepEqual([...store.tiles.keys()], [2]);
});

test("points are bounded, in order, and an old one is dropped", () => {
  let spark = [];
  for (let i = 1; i <= 3 * SPARK_POINTS; i += 1) spark = withPoint(spark, i * 10, i);
  assert.equal(spark.length, SPARK_POINTS);
  assert.equal(spark.at(-1)[0], 30 * SPARK_POINTS);
  assert.deepEqual(withPoint(spark, 5, 1).map(([at]) => at), spark.map(([at]) => at));
  assert.deepEqual(withPoint([[10, 1], [30, 3]], 20, 2), [[10, 1], [20, 2], [30, 3]]);
});

test("points of another leading figure are not mixed in", () => {
  const store = loaded(tile(1));
  store.frame(frame([sample(1, 200)]));
  store.snapshot({ tiles: [tile(1, { leading: "total_ms", spark: [[100, 5000]] })] });
  assert.deepEqual(store.tiles.get(1).spark, [[100, 5000]]);
});

test("the newest sample of any monitor", () => {
  const store = loaded(tile(1), tile(2));
  assert.equal(store.newestMs(), null);
  store.frame(frame([sample(1, 100), sample(2, 300)]));
  assert.equal(store.newestMs(), 300);
});

test("frames that wait are bounded", () => {
  const store = new Store();
  for (let i = 0; i < 1500; i += 1) store.frame(frame([sample(1, i)]));
  assert.equal(store.waiting.length, 1000);
});
