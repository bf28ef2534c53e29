import assert from "node:assert/strict";
import { test } from "node:test";

import { breaks, broken, clock, figure, limit, moment, passed, span, zone } from "../../../static/js/format.js";

test("durations have three digits at most and move to seconds at one", () => {
  const told = [0, 8.44, 9.96, 84.4, 842, 999.4, 999.6, 7421, 9_996, 12_340, 148_200];
  assert.deepEqual(
    told.map((ms) => figure("ttft_ms", ms)),
    ["0.0 ms", "8.4 ms", "10 ms", "84 ms", "842 ms", "999 ms", "1.00 s", "7.42 s", "10.0 s", "12.3 s", "148 s"],
  );
});

test("rates keep a decimal only below ten", () => {
  assert.deepEqual([0.44, 9.94, 9.96, 61.4, 1234].map((v) => figure("tokens_per_second", v)), [
    "0.4 tok/s", "9.9 tok/s", "10 tok/s", "61 tok/s", "1234 tok/s",
  ]);
});

test("what was not measured is a dash, and zero is a value", () => {
  assert.equal(figure("ttft_ms", null), "–");
  assert.equal(figure("total_ms", undefined), "–");
  assert.equal(figure("tokens_per_second", 0), "0.0 tok/s");
});

test("limits keep no zeros that nobody wrote", () => {
  assert.equal(limit("ttft_ms", 1500), "≤ 1.5 s");
  assert.equal(limit("ttft_ms", 800), "≤ 800 ms");
  assert.equal(limit("tokens_per_second", 15), "≥ 15 tok/s");
  assert.equal(limit("total_ms", null), "");
});

test("a rate breaks its limit below, a duration above, and the limit itself is kept", () => {
  assert.equal(breaks("ttft_ms", 1001, 1000), true);
  assert.equal(breaks("ttft_ms", 1000, 1000), false);
  assert.equal(breaks("tokens_per_second", 14, 15), true);
  assert.equal(breaks("tokens_per_second", 16, 15), false);
  assert.equal(breaks("ttft_ms", null, 1000), false);
  assert.equal(breaks("ttft_ms", 5000, null), false);
});

test("ages use one unit and never run backwards", () => {
  const ages = [-5000, 0, 12_400, 99_999, 100_000, 5_999_000, 6_000_000, 172_800_000];
  assert.deepEqual(ages.map(span), ["0 s", "0 s", "12 s", "99 s", "1 min", "99 min", "1 h", "2 d"]);
});

test("moments are told in the reader's zone, also in the night clocks change", () => {
  const winter = Date.UTC(2026, 0, 15, 12, 0, 5);
  assert.equal(clock(winter, "Asia/Kolkata"), "17:30:05");
  assert.equal(clock(winter, "America/Los_Angeles"), "04:00:05");
  assert.equal(moment(Date.UTC(2026, 2, 29, 0, 59, 59), "Europe/Berlin"), "2026-03-29 01:59:59");
  assert.equal(moment(Date.UTC(2026, 2, 29, 1, 0, 0), "Europe/Berlin"), "2026-03-29 03:00:00");
  assert.equal(zone(winter, "Europe/Berlin"), "CET");
});

test("a sample's broken limits are named, each with its bound", () => {
  const limits = { ttft_ms: 1000, tokens_per_second: 15, total_ms: null, max_gap_ms: 1500 };
  const slow = { ttft_ms: 2100, tokens_per_second: 14.9, total_ms: 90_000, max_gap_ms: 1501 };
  assert.deepEqual(broken(slow, limits), ["TTFT over 1 s", "tokens/s under 15", "longest wait over 1.5 s"]);
  assert.deepEqual(broken({ ...slow, ttft_ms: null, tokens_per_second: 15, max_gap_ms: 1500 }, limits), []);
  assert.deepEqual(broken(slow, undefined), []);
});

test("beside a figure that breaks it, a limit says which side it is on", () => {
  assert.equal(passed("ttft_ms", 2000), "> 2 s");
  assert.equal(passed("tokens_per_second", 15), "< 15");
});
