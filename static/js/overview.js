// The overview: tiles, live, filtered.

import { setText } from "./dom.js";
import { Live } from "./live.js";
import { shown } from "./states.js";
import { showLink } from "./status.js";
import { Store } from "./store.js";
import { Board } from "./tiles.js";

const list = document.getElementById("tiles");
const filters = document.getElementById("filters");
const { version, snapshot } = document.body.dataset;

function readAddress() {
  const wanted = new URLSearchParams(location.search);
  for (const field of filters.elements) {
    if (field.type === "radio") field.checked = field.value === (wanted.get(field.name) ?? "");
    else if (field.tagName === "SELECT") field.value = wanted.get(field.name) ?? "";
    if (field.tagName === "SELECT" && field.selectedIndex < 0) field.value = "";
  }
}

function writeAddress() {
  const chosen = [...new FormData(filters)].filter(([, value]) => value);
  const query = new URLSearchParams(chosen).toString();
  history.replaceState(null, "", query ? `?${query}` : location.pathname);
}

/** Hide what the filter leaves out; count the states of what the other filters leave in. */
function filter(board) {
  const { endpoint, scenario, state } = Object.fromEntries(new FormData(filters));
  const counts = { "": 0 };
  let visible = 0;
  for (const [view, tile] of board.entries()) {
    const here = tile && (!endpoint || tile.endpoint === endpoint) && (!scenario || tile.scenario === scenario);
    const now = tile && shown(tile, board.now());
    if (here) {
      counts[""] += 1;
      counts[now] = (counts[now] ?? 0) + 1;
    }
    view.hidden = !(here && (!state || now === state));
    visible += view.hidden ? 0 : 1;
  }
  for (const radio of filters.elements.state) {
    setText(radio.parentElement.querySelector("[data-count]"), String(counts[radio.value] ?? 0));
  }
  filters.querySelector("[type=reset]").hidden = !(endpoint || scenario || state);
  document.getElementById("nothing").hidden = visible > 0;
  const failing = counts.failing ?? 0;
  document.title = `${failing ? `(${failing} failing) ` : ""}Overview – TokenPulse`;
}

function start() {
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
      if (store.loaded) filter(board);
    },
  });
  const failures = JSON.parse(document.getElementById("failures").textContent);
  const board = new Board({
    list, template: document.getElementById("tile"), store, now: () => live.now(), failures,
  });
  board.onShown = () => filter(board);
  readAddress();
  filters.addEventListener("change", () => {
    writeAddress();
    filter(board);
    board.redraw();
  });
  filters.addEventListener("submit", (event) => event.preventDefault());
  filters.addEventListener("reset", () => setTimeout(() => filters.dispatchEvent(new Event("change"))));
  live.start();
}

if (filters) start();
