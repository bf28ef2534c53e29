// Keeps a page current. The database is the truth, the socket a hint: a page opens the
// socket, then loads; loads again after each reconnect, once a minute, and more often
// while the socket brings nothing or is not there.

const TICK_MS = 1000;
const PING_MS = 10_000;
const DEAD_MS = 20_000;
const RELOAD_MS = 60_000;
const QUIET_MS = 15_000;
const POLL_MS = 5_000;
const LOST_MS = 12_000;
const LOAD_TIMEOUT_MS = 8_000;
const SIGN_IN = 4401;

/** How long to wait before the next attempt: doubling to 15 s, half of it at random. */
export function backoffMs(attempt, random) {
  const full = Math.min(15_000, 500 * 2 ** attempt);
  return full / 2 + (random * full) / 2;
}

/** What a page says about its line, from what it has and when it last heard. */
export function linkOf({ open, heardMs, loadedMs, nowMs }) {
  if (heardMs == null) return nowMs - loadedMs > LOST_MS ? "lost" : "connecting";
  if (nowMs - heardMs > (open ? DEAD_MS : LOST_MS)) return "lost";
  return open ? "live" : "polling";
}

/** How long after one load the next is due. */
export function reloadMs({ open, quietMs }) {
  if (!open) return POLL_MS;
  return quietMs > QUIET_MS ? QUIET_MS : RELOAD_MS;
}

export class Live {
  #socket = null;
  #attempt = 0;
  #retryAt = 0;
  #pingedAt = 0;
  #triedAt = -Infinity;
  #heardMs = null;
  #newsMs = 0;
  #startedMs = Date.now();
  #offsetMs = 0;
  #loading = false;
  #wanted = false;

  /** `url` is loaded; `onData` and `onFrame` get what came, `onTick` the link each second. */
  constructor({ url, version, onData, onFrame, onTick }) {
    Object.assign(this, { url, version, onData, onFrame, onTick });
  }

  start() {
    this.#connect();
    this.load();
    setInterval(() => this.#tick(), TICK_MS);
    // Timers sleep with the page: look at once when somebody looks at it again.
    document.addEventListener("visibilitychange", () => document.hidden || this.#wake());
    addEventListener("online", () => this.#wake());
  }

  /** The server's clock, in Unix milliseconds. */
  now() {
    return Date.now() + this.#offsetMs;
  }

  /** When the server was last heard, by its clock; null for never. */
  get heardMs() {
    return this.#heardMs == null ? null : this.#heardMs + this.#offsetMs;
  }

  get link() {
    const open = this.#socket?.readyState === WebSocket.OPEN;
    return linkOf({ open, heardMs: this.#heardMs, loadedMs: this.#startedMs, nowMs: Date.now() });
  }

  /** Load now; once more afterwards where it was asked for meanwhile. */
  async load() {
    this.#wanted = true;
    if (this.#loading) return;
    this.#loading = true;
    while (this.#wanted) {
      this.#wanted = false;
      this.#triedAt = Date.now();
      await this.#loadOnce();
    }
    this.#loading = false;
  }

  async #loadOnce() {
    try {
      const signal = AbortSignal.timeout(LOAD_TIMEOUT_MS);
      const response = await fetch(this.url, { signal, redirect: "manual", cache: "no-store" });
      // A redirect leads to the sign-in form, which only a whole page can show.
      if (response.type === "opaqueredirect") location.reload();
      if (!response.ok) return;
      const payload = await response.json();
      if (this.#heard(payload)) this.onData(payload);
    } catch (error) {
      // No answer is no news; `link` tells it. Anything else is a mistake of ours.
      if (!["TypeError", "TimeoutError", "AbortError", "SyntaxError"].includes(error.name)) throw error;
    }
    this.onTick();
  }

  #connect() {
    const socket = new WebSocket(`${location.origin.replace(/^http/, "ws")}/live/`);
    this.#socket = socket;
    let joined = false;
    socket.onopen = () => {
      this.#attempt = 0;
      this.#pingedAt = Date.now();
    };
    socket.onmessage = ({ data }) => {
      const frame = JSON.parse(data);
      if (!this.#heard(frame)) return;
      // The first frame says that news comes from now on; what came before is loaded.
      if (!joined) this.load();
      joined = true;
      // Monitors, endpoints or limits are others than those that this page was told.
      if (frame.changed) this.load();
      if (frame.samples.length) this.#newsMs = Date.now();
      this.onFrame(frame);
    };
    socket.onclose = ({ code }) => {
      if (socket !== this.#socket) return;
      if (code === SIGN_IN) location.reload();
      this.#socket = null;
      this.#retryAt = Date.now() + backoffMs(this.#attempt, Math.random());
      this.#attempt += 1;
      this.onTick();
    };
  }

  /** Note the server's clock. False where it speaks another version: start afresh. */
  #heard(payload) {
    if (payload.v !== this.version) {
      location.reload();
      return false;
    }
    this.#heardMs = Date.now();
    this.#offsetMs = payload.server_ms - this.#heardMs;
    return true;
  }

  #wake() {
    this.#retryAt = 0;
    this.load();
    this.#tick();
  }

  #tick() {
    const now = Date.now();
    const socket = this.#socket;
    const open = socket?.readyState === WebSocket.OPEN;
    if (!socket && now >= this.#retryAt) this.#connect();
    if (open && now - this.#pingedAt >= PING_MS) {
      this.#pingedAt = now;
      socket.send("ping");
    }
    // A line that died without a word never closes by itself.
    if (open && now - this.#heardMs > DEAD_MS) {
      this.#socket = null;
      socket.close();
    }
    if (now - this.#triedAt >= reloadMs({ open, quietMs: now - this.#newsMs })) this.load();
    this.onTick();
  }
}
