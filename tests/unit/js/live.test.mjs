import assert from "node:assert/strict";
import { test } from "node:test";

import { backoffMs, linkOf, reloadMs } from "../../../static/js/live.js";

test("waiting doubles, is random within bounds, and ends at fifteen seconds", () => {
  assert.deepEqual([0, 1, 2, 20, 2000].map((n) => backoffMs(n, 1)), [500, 1000, 2000, 15_000, 15_000]);
  assert.deepEqual([0, 1, 2, 20].map((n) => backoffMs(n, 0)), [250, 500, 1000, 7_500]);
});

const NOW = 1_000_000;

test("a page that hears the socket is live; one that only loads says so", () => {
  assert.equal(linkOf({ open: true, heardMs: NOW - 10_000, loadedMs: 0, nowMs: NOW }), "live");
  assert.equal(linkOf({ open: false, heardMs: NOW - 5_000, loadedMs: 0, nowMs: NOW }), "polling");
});

test("an open socket that says nothing is not believed", () => {
  assert.equal(linkOf({ open: true, heardMs: NOW - 20_001, loadedMs: 0, nowMs: NOW }), "lost");
});

test("a page that never heard anything is connecting, and soon lost", () => {
  assert.equal(linkOf({ open: false, heardMs: null, loadedMs: NOW - 12_000, nowMs: NOW }), "connecting");
  assert.equal(linkOf({ open: false, heardMs: null, loadedMs: NOW - 12_001, nowMs: NOW }), "lost");
});

test("without a socket a page loads every few seconds, and lost is told before three were missed", () => {
  assert.equal(reloadMs({ open: false, quietMs: 0 }), 5_000);
  assert.equal(linkOf({ open: false, heardMs: NOW - 12_001, loadedMs: 0, nowMs: NOW }), "lost");
});

test("a socket that brings no samples is checked upon more often", () => {
  assert.ok(reloadMs({ open: true, quietMs: 16_000 }) < reloadMs({ open: true, quietMs: 1_000 }));
});
