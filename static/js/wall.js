// The wall: the same tiles for a screen that nobody touches.

import { setText } from "./dom.js";
import { clock, span, zone } from "./format.js";
import { grid, page } from "./layout.js";
import { Live } from "./live.js";
import { shown, worst } from "./states.js";
import { showLink } from "./status.js";
import { Store } from "./store.js";
import { Board } from "./tiles.js";

const CAPACITY = 24;
const TURN_MS = 15_000;
const list = document.getElementById("tiles");
const wall = document.getElementById("wall");
const { version, snapshot } = document.body.dataset;

const store = new Store();
const live = new Live({
  url: snapshot,
  version: Number(version),
  onData: (payload) => {
    store.snapshot(payload);
    board.touchAll();
  },
  onFrame: (frame) => {
    const { changed, unknown } = store.frame(frame);
    board.touch(changed);
    if (unknown) live.load();
  },
  onTick: () => {
    showLink(live);
    board.tick();
    if (store.loaded) show();
    head();
  },
});
const failures = JSON.parse(document.getElementById("failures").textContent);
const board = new Board({
  list, template: document.getElementById("tile"), store, now: () => live.now(), failures,
});
let laidOut = "";

function show() {
  const entries = board.entries().filter(([, tile]) => tile);
  const states = entries.map(([, tile]) => shown(tile, board.now()));
  const turn = Math.floor(Date.now() / TURN_MS);
  const isFailing = ([, tile]) => shown(tile, board.now()) === "failing";
  const { shown: tiles, page: at, pages } = page(entries, isFailing, CAPACITY, turn);
  const visible = new Set(tiles.map(([view]) => view));
  for (const [view] of board.entries()) view.hidden = !visible.has(view);
  setText(document.getElementById("page-of"), pages > 1 ? `page ${at + 1} of ${pages}` : "");
  wall.dataset.worst = worst(states);
  counts(states);
  layOut(visible.size);
}

function layOut(n) {
  const width = list.clientWidth;
  const height = list.clientHeight;
  const gap = parseFloat(getComputedStyle(list).columnGap) || 0;
  const key = `${n} ${width} ${height}`;
  if (!n || key === laidOut) return;
  laidOut = key;
  const { columns, rows, size } = grid(n, width, height, gap);
  list.style.setProperty("--columns", columns);
  list.style.setProperty("--rows", rows);
  list.style.setProperty("--size", `${size}px`);
  board.redraw();
}

function counts(states) {
  for (const element of document.querySelectorAll("[data-count]")) {
    const n = states.filter((state) => state === element.dataset.state).length;
    element.hidden = !n;
    setText(element.querySelector("b"), String(n));
  }
  const failing = states.filter((state) => state === "failing").length;
  document.title = `${failing ? `(${failing} failing) ` : ""}Wall – TokenPulse`;
}

function head() {
  const now = live.now();
  const newest = store.newestMs();
  setText(document.getElementById("newest"), newest == null ? "none" : `${span(now - newest)} ago`);
  if (live.heardMs == null) return;
  setText(document.getElementById("clock"), clock(now));
  setText(document.getElementById("zone"), zone(now));
}

board.onShown = show;
addEventListener("resize", () => show());
live.start();
