import assert from "node:assert/strict";
import { test } from "node:test";

import { grid, page } from "../../../static/js/layout.js";

test("every tile has a place and no row is empty", () => {
  for (let n = 1; n <= 40; n += 1) {
    for (const [width, height] of [[1880, 1000], [1040, 1800], [3800, 2050]]) {
      const { columns, rows, size } = grid(n, width, height, 10);
      assert.ok(columns * rows >= n && columns * (rows - 1) < n, `${n} in ${columns} × ${rows}`);
      assert.ok(size > 0);
    }
  }
});

test("twelve tiles on a wall of 1920 × 1080 leave text of 24 px", () => {
  const { columns, rows, size } = grid(12, 1880, 985, 11);
  assert.deepEqual([columns, rows], [4, 3]);
  assert.ok(size * 7.5 >= 23.5, `${size * 7.5} px`);
});

test("tiles are wide on a wide wall and stacked on a tall one", () => {
  assert.ok(grid(6, 1880, 1000, 10).columns > grid(6, 1000, 1880, 10).columns);
});

test("what fits is one page", () => {
  const tiles = [1, 2, 3];
  assert.deepEqual(page(tiles, () => false, 3, 7), { shown: tiles, page: 0, pages: 1 });
});

test("failing tiles are on every page and each other one is on some", () => {
  const tiles = Array.from({ length: 60 }, (_, i) => i);
  const isFailing = (i) => i < 5;
  const { pages } = page(tiles, isFailing, 24, 0);
  const shown = Array.from({ length: pages }, (_, turn) => page(tiles, isFailing, 24, turn).shown);
  for (const one of shown) {
    assert.ok(one.length <= 24);
    assert.deepEqual(one.slice(0, 5), [0, 1, 2, 3, 4]);
  }
  assert.deepEqual([...new Set(shown.flat())].sort((a, b) => a - b), tiles);
});

test("where all fail, all are still seen in turn", () => {
  const tiles = Array.from({ length: 50 }, (_, i) => i);
  const { pages } = page(tiles, () => true, 24, 0);
  const shown = Array.from({ length: pages }, (_, turn) => page(tiles, () => true, 24, turn).shown);
  assert.deepEqual([...new Set(shown.flat())].sort((a, b) => a - b), tiles);
  assert.ok(shown.every((one) => one.length <= 24));
});
