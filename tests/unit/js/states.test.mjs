import assert from "node:assert/strict";
import { test } from "node:test";

import { STATES, compare, isOld, known, shown, worst } from "../../../static/js/states.js";

const NOW = 1_800_000_000_000;

function tile(overrides = {}) {
  return {
    monitor: 1, endpoint: "a", scenario: "Chat", interval_s: 60, state: { state: "stable", since_ms: 0 },
    latest: { due_ms: NOW - 10_000 }, ...overrides,
  };
}

test("each state has a shape and a word of its own", () => {
  const looks = Object.values(STATES).map(({ shape, word }) => `${shape} ${word}`);
  assert.equal(new Set(looks).size, looks.length);
});

test("a word that is not known looks like no data, whatever it is", () => {
  for (const word of ["", "ok", "STABLE", "stable ", "toString", "__proto__", undefined, null, 0]) {
    assert.equal(known(word), "no_data");
  }
});

test("a tile is old after three intervals, or thirty seconds more than one", () => {
  assert.equal(isOld(tile({ latest: { due_ms: NOW - 180_000 } }), NOW), false);
  assert.equal(isOld(tile({ latest: { due_ms: NOW - 180_001 } }), NOW), true);
  assert.equal(isOld(tile({ interval_s: 10, latest: { due_ms: NOW - 40_000 } }), NOW), false);
  assert.equal(isOld(tile({ interval_s: 10, latest: { due_ms: NOW - 40_001 } }), NOW), true);
});

test("an old tile is shown as no data, never as better than the server said", () => {
  const old = { due_ms: NOW - 10_000_000 };
  for (const state of Object.keys(STATES)) {
    assert.equal(shown(tile({ state: { state }, latest: { due_ms: NOW } }), NOW), state);
    const now = shown(tile({ state: { state }, latest: old }), NOW);
    assert.equal(now, state === "paused" ? "paused" : "no_data");
  }
});

test("a monitor without samples keeps the server's word", () => {
  assert.equal(shown(tile({ latest: null, state: { state: "no_data" } }), NOW), "no_data");
});

test("failing comes first, the rest by name, equal names by id", () => {
  const tiles = [
    tile({ monitor: 1, endpoint: "b" }),
    tile({ monitor: 2, endpoint: "z", state: { state: "failing" } }),
    tile({ monitor: 3, endpoint: "a", scenario: "Code" }),
    tile({ monitor: 5, endpoint: "a", scenario: "Chat" }),
    tile({ monitor: 4, endpoint: "a", scenario: "Chat", state: { state: "degrading" } }),
  ];
  assert.deepEqual(tiles.sort(compare).map((t) => t.monitor), [2, 4, 5, 3, 1]);
});

test("the worst state frames the wall", () => {
  assert.equal(worst(["stable", "degrading", "failing", "paused"]), "failing");
  assert.equal(worst(["paused", "stable"]), "stable");
  assert.equal(worst([]), "no_data");
});
