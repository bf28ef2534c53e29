// The tiles of a board: one element a monitor, changed where its figures did.

import { drawSpark, purge } from "./charts.js";
import { setAttribute, setText } from "./dom.js";
import { FIGURES, breaks, limit, parts, span } from "./format.js";
import { STATES, ageMs, compare, isOld, shown } from "./states.js";

const SPARKS_PER_FRAME = 8;

function showFigure(element, name, value, bound) {
  const [number, unit] = parts(name, value);
  setText(element.querySelector("[data-value]"), number);
  setText(element.querySelector("[data-unit]"), unit);
  setText(element.querySelector("[data-name]"), FIGURES[name].name);
  const told = `${FIGURES[name].about}, of the last probe${bound == null ? "" : `; limit ${limit(name, bound)}`}`;
  setAttribute(element, "title", told);
  setAttribute(element, "data-figure", name);
  element.toggleAttribute("data-breaks", breaks(name, value, bound));
}

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
      if (view && !view.hidden) drawSpark(view.querySelector("[data-spark]"), this.store.tiles.get(id));
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
    this.#age(view, tile, this.now());
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
      if (tile) this.#age(view, tile, now);
    }
  }

  #age(view, tile, now) {
    const age = ageMs(tile, now);
    const state = shown(tile, now);
    setText(view.querySelector("[data-age]"), age == null ? "no sample yet" : `${span(age)} ago`);
    view.toggleAttribute("data-old", isOld(tile, now));
    if (view.dataset.state === state && view.dataset.told) return;
    view.dataset.state = state;
    setText(view.querySelector(".shape"), STATES[state].shape);
    setText(view.querySelector(".word"), STATES[state].word);
  }

  /** Each monitor's element and tile, in the order they are shown. */
  entries() {
    return [...this.list.children].map((view) => [view, this.store.tiles.get(Number(view.dataset.monitor))]);
  }
}

function fill(view, tile, failures) {
  const { latest, leading } = tile;
  view.dataset.told = tile.state.state;
  setAttribute(view, "data-colour", String(tile.colour));
  setAttribute(view.querySelector("[data-url]"), "href", tile.url);
  setText(view.querySelector("[data-endpoint]"), tile.endpoint);
  setText(view.querySelector("[data-scenario]"), tile.scenario);
  setText(view.querySelector("[data-limit]"), limit(leading, tile.limits[leading]));
  const others = Object.keys(FIGURES).filter((name) => name !== leading);
  view.querySelectorAll("[data-other]").forEach((element, i) => {
    showFigure(element, others[i], latest?.[others[i]], tile.limits[others[i]]);
  });
  const lead = view.querySelector("[data-lead]");
  showFigure(lead, leading, latest?.ok === false ? null : latest?.[leading], tile.limits[leading]);
  const error = latest?.error ? (failures[latest.error] ?? latest.error) : null;
  lead.toggleAttribute("data-error", error != null);
  if (error) {
    setText(lead.querySelector("[data-value]"), error);
    setText(lead.querySelector("[data-name]"), "");
  }
}
