// The tiles that a page knows, from snapshots and frames in any order. Pure.
//
// Frames may come late, twice, or never; a snapshot may be older than a frame that
// was sent while it was made. Each value has a moment of its own, and the later wins.

export const SPARK_POINTS = 60;

function laterSample(a, b) {
  if (!a || !b) return a ?? b;
  return a.due_ms > b.due_ms ? a : b;
}

/** `spark` with the point of `sample`, in order, without doubles, bounded. */
export function withPoint(spark, at, value) {
  let i = spark.length;
  while (i > 0 && spark[i - 1][0] > at) i -= 1;
  if (i > 0 && spark[i - 1][0] === at) return spark;
  return [...spark.slice(0, i), [at, value], ...spark.slice(i)].slice(-SPARK_POINTS);
}

function mergeTile(old, fresh) {
  if (!old) return fresh;
  const last = fresh.spark.at(-1)?.[0] ?? -Infinity;
  const newer = old.leading === fresh.leading ? old.spark.filter(([at]) => at > last) : [];
  return {
    ...fresh,
    latest: laterSample(old.latest, fresh.latest),
    state: old.state.since_ms > fresh.state.since_ms ? old.state : fresh.state,
    spark: [...fresh.spark, ...newer].slice(-SPARK_POINTS),
  };
}

export class Store {
  constructor() {
    this.tiles = new Map();
    this.waiting = [];
    this.loaded = false;
  }

  /** Take a snapshot: what is not in it is gone. */
  snapshot(payload) {
    const before = this.tiles;
    this.tiles = new Map(
      payload.tiles.map((tile) => [tile.monitor, mergeTile(before.get(tile.monitor), tile)]),
    );
    this.loaded = true;
    for (const frame of this.waiting.splice(0)) this.frame(frame);
  }

  /** Take a frame; the ids that changed, and whether it spoke of unknown monitors. */
  frame(payload) {
    if (!this.loaded) {
      this.waiting = [...this.waiting, payload].slice(-1000);
      return { changed: [], unknown: false };
    }
    const changed = new Set();
    let unknown = false;
    for (const news of [...payload.states, ...payload.samples]) {
      const tile = this.tiles.get(news.monitor);
      unknown ||= !tile;
      if (tile && this.#apply(tile, news)) changed.add(news.monitor);
    }
    return { changed: [...changed], unknown };
  }

  #apply(tile, news) {
    if ("state" in news) {
      if (news.since_ms < tile.state.since_ms) return false;
      tile.state = news;
      return true;
    }
    if (tile.latest?.key === news.key) return false;
    const value = news.ok ? news[tile.leading] : null;
    tile.spark = withPoint(tile.spark, news.due_ms, value);
    tile.latest = laterSample(tile.latest, news);
    return true;
  }

  /** The moment of the newest sample of any monitor, or null. */
  newestMs() {
    const due = [...this.tiles.values()].map((tile) => tile.latest?.due_ms ?? -Infinity);
    const newest = Math.max(-Infinity, ...due);
    return Number.isFinite(newest) ? newest : null;
  }
}
