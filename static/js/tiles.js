// The tiles of a board: one element a monitor, changed where its figures did.

import { drawSpark, purge } from "./charts.js";
import { compare } from "./states.js";
import { age, fill } from "./tile.js";

const SPARKS_PER_FRAME = 4;

/** Changes are gathered and shown with the next frame; sparklines are drawn where they
 * are in sight, a few a frame. */
export class Board {
  #views = new Map();
  #dirty = new Set();
  #sparks = new Set();
  #inSight = new Set();
  #scheduled = false;

  /** `store` has the tiles, `now` the server's clock; `failures` the words for errors. */
  constructor({ list, template, store, now, failures }) {
    Object.assign(this, { list, template, store, now, failures });
    for (const element of list.querySelectorAll("[data-tile]")) this.#watch(element);
    document.addEventListener("themechange", () => this.redraw());
    this.resizes = new ResizeObserver(() => this.redraw());
    this.resizes.observe(list);
  }

  #sight = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      const id = Number(target.dataset.monitor);
      if (isIntersecting) {
        this.#inSight.add(id);
        this.#sparks.add(id);
      } else this.#inSight.delete(id);
    }
    this.#schedule();
  }, { rootMargin: "200px" });

  #watch(element) {
    this.#views.set(Number(element.dataset.monitor), element);
    this.#sight.observe(element);
  }

  /** These monitors changed: show it with the next frame. */
  touch(ids) {
    for (const id of ids) {
      this.#dirty.add(id);
      if (this.#inSight.has(id)) this.#sparks.add(id);
    }
    this.#schedule();
  }

  /** All may have changed, and some may be gone. */
  touchAll() {
    this.touch([...this.#views.keys(), ...this.store.tiles.keys()]);
  }

  /** Draw every sparkline anew: another size, or other colours. */
  redraw() {
    for (const id of this.#inSight) this.#sparks.add(id);
    this.#schedule();
  }

  #schedule() {
    if (this.#scheduled) return;
    this.#scheduled = true;
    requestAnimationFrame(() => {
      this.#scheduled = false;
      this.#flush();
    });
  }

  #flush() {
    if (!this.store.loaded) return;
    const dirty = [...this.#dirty];
    this.#dirty.clear();
    const moved = dirty.map((id) => this.#show(id)).some(Boolean);
    if (moved) this.#sort();
    if (dirty.length) this.onShown?.();
    for (const id of [...this.#sparks].slice(0, SPARKS_PER_FRAME)) {
      this.#sparks.delete(id);
      const view = this.#views.get(id);
      const tile = this.store.tiles.get(id);
      if (view && tile && !view.hidden) drawSpark(view.querySelector("[data-spark]"), tile);
    }
    if (this.#sparks.size) this.#schedule();
  }

  /** Show one tile; true where its place may have changed. */
  #show(id) {
    const tile = this.store.tiles.get(id);
    const known = this.#views.get(id);
    if (!tile) return known ? this.#remove(id, known) : false;
    const view = known ?? this.#add(tile);
    const before = view.dataset.told;
    fill(view, tile, this.failures);
    age(view, tile, this.now());
    return !known || before !== view.dataset.told;
  }

  #add(tile) {
    const view = this.template.content.firstElementChild.cloneNode(true);
    view.dataset.monitor = tile.monitor;
    this.list.append(view);
    this.#watch(view);
    return view;
  }

  #remove(id, view) {
    this.#sight.unobserve(view);
    purge(view.querySelector("[data-spark]"));
    view.remove();
    this.#views.delete(id);
    this.#inSight.delete(id);
    return false;
  }

  #sort() {
    const wanted = [...this.store.tiles.values()].sort(compare).map((tile) => this.#views.get(tile.monitor));
    wanted.forEach((view, i) => {
      if (this.list.children[i] !== view) this.list.insertBefore(view, this.list.children[i] ?? null);
    });
  }

  /** Ages move by themselves; a tile that grew too old stops looking good. */
  tick() {
    const now = this.now();
    for (const [id, view] of this.#views) {
      const tile = this.store.tiles.get(id);
      if (tile) age(view, tile, now);
    }
  }

  /** Each monitor's element and tile, in the order they are shown. */
  entries() {
    return [...this.list.children].map((view) => [view, this.store.tiles.get(Number(view.dataset.monitor))]);
  }
}
