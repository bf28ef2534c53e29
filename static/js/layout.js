// How many tiles go where on a wall. Pure.

const SHAPE = 1.4;

/** Columns, rows and a tile's size for `n` tiles in `width` × `height`, the largest that fit. */
export function grid(n, width, height, gap) {
  let best = null;
  for (let columns = 1; columns <= Math.max(1, n); columns += 1) {
    const rows = Math.ceil(n / columns);
    const w = (width - gap * (columns - 1)) / columns;
    const h = (height - gap * (rows - 1)) / rows;
    const size = Math.min(h, w / SHAPE) / 100;
    if (!best || size > best.size) best = { columns, rows: Math.max(1, rows), size };
  }
  return best;
}

/** The tiles of turn `turn`: those failing on every page, the rest a page at a time. */
export function page(tiles, isFailing, capacity, turn) {
  if (tiles.length <= capacity) return { shown: tiles, page: 0, pages: 1 };
  const pinned = tiles.filter(isFailing).slice(0, capacity - 1);
  const rest = tiles.filter((tile) => !pinned.includes(tile));
  const room = capacity - pinned.length;
  const pages = Math.ceil(rest.length / room);
  const page = turn % pages;
  return { shown: [...pinned, ...rest.slice(page * room, (page + 1) * room)], page, pages };
}
