// The Socket Mode side of the Slack fake: envelopes go to one of the open connections, and come again until they are
// confirmed. https://docs.slack.dev/apis/events-api/using-socket-mode
import type { ServerWebSocket } from "bun";

/** The state of one connection. */
export interface Wire {
  app: string;
  silent: boolean;
  /** Its end was announced. */
  warned: boolean;
}

export type Socket = ServerWebSocket<Wire>;

interface Pending {
  id: string;
  type: string;
  payload: Record<string, unknown>;
  /** The message that it is about. */
  about: string;
  attempts: number;
  socket: Socket | undefined;
  timer: Timer | undefined;
}

export type SocketMode = ReturnType<typeof createSocketMode>;

interface Options {
  appId: string;
  confirmMs: number;
  changed(): void;
}

export function createSocketMode({ appId, confirmMs, changed }: Options) {
  const sockets = new Set<Socket>();
  /** Unconfirmed envelopes, in order. */
  const pending = new Map<string, Pending>();
  const count = { opened: 0, violations: 0 };
  let plannedEnd: "cut" | undefined;
  let held: (() => void)[] | undefined;
  let turn = 0;

  const open = () => [...sockets].filter(({ data }) => !data.silent);

  function deliver(one: Pending): void {
    const candidates = open();
    const socket = candidates[turn++ % Math.max(1, candidates.length)];
    if (!socket) return;
    one.socket = socket;
    const { id, type, payload, attempts } = one;
    const envelope = { envelope_id: id, type, payload, accepts_response_payload: type === "interactive" };
    const retry = { retry_attempt: attempts, retry_reason: attempts > 0 ? "timeout" : "" };
    socket.send(JSON.stringify({ ...envelope, ...(type === "events_api" ? retry : {}) }));
    one.attempts++;
    clearTimeout(one.timer);
    one.timer = setTimeout(() => {
      if (pending.has(id)) deliver(one);
    }, confirmMs);
    one.timer.unref();
  }

  function remove(id: string): void {
    clearTimeout(pending.get(id)?.timer);
    pending.delete(id);
  }

  return {
    count,
    get connected() {
      return open().length;
    },
    get unconfirmed() {
      return pending.size;
    },
    push(type: string, payload: Record<string, unknown>, about: string): void {
      if (held) return void held.push(() => this.push(type, payload, about));
      const id = crypto.randomUUID();
      const one: Pending = { id, type, payload, about, attempts: 0, socket: undefined, timer: undefined };
      pending.set(id, one);
      deliver(one);
    },
    opened(socket: Socket): void {
      count.opened++;
      if (plannedEnd === "cut") {
        plannedEnd = undefined;
        return void socket.terminate();
      }
      sockets.add(socket);
      const info = { app_id: appId };
      const hello = { type: "hello", num_connections: sockets.size, connection_info: info };
      socket.send(
        JSON.stringify({ ...hello, debug_info: { host: "applink-fake", approximate_connection_time: 18060 } }),
      );
      for (const one of pending.values()) if (one.socket === undefined) deliver(one);
      changed();
    },
    /** A confirmation has an envelope's id and nothing unknown; anything else closes the connection. */
    received(socket: Socket, raw: string): void {
      const fields = parse(raw);
      const known = fields && Object.keys(fields).every((name) => ["envelope_id", "payload"].includes(name));
      if (!known || typeof fields.envelope_id !== "string") {
        count.violations++;
        return void socket.close(4000);
      }
      if (!socket.data.silent) remove(fields.envelope_id);
      changed();
    },
    closed(socket: Socket): void {
      sockets.delete(socket);
      const lost = [...pending.values()].filter((one) => one.socket === socket);
      for (const one of lost) {
        one.socket = undefined;
        clearTimeout(one.timer);
        deliver(one);
      }
      changed();
    },
    hold() {
      held = [];
    },
    release(reverse = false) {
      const waiting = held ?? [];
      held = undefined;
      for (const tell of reverse ? waiting.reverse() : waiting) tell();
    },
    drops() {
      for (const socket of [...sockets]) socket.terminate();
    },
    warns(reason: string, closeAfterMs: number) {
      for (const socket of open()) {
        socket.data.warned = true;
        socket.send(JSON.stringify({ type: "disconnect", reason, debug_info: { host: "applink-fake" } }));
        setTimeout(() => socket.close(1000), closeAfterMs).unref();
      }
    },
    silent() {
      for (const socket of sockets) socket.data.silent = true;
      changed();
    },
    nextConnection(end: "cut") {
      plannedEnd = end;
    },
    givesUp() {
      for (const id of [...pending.keys()]) remove(id);
      changed();
    },
    end() {
      for (const socket of [...sockets]) socket.close(1000);
      for (const { timer } of pending.values()) clearTimeout(timer);
    },
  };
}

function parse(raw: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(raw);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
