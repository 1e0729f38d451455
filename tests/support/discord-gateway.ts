// The gateway of the Discord fake: sessions that outlive their connections, and the order of messages on a connection.
// https://discord.com/developers/docs/events/gateway

import type { ServerWebSocket } from "bun";

export interface GatewayEvent {
  s: number;
  t: string;
  /** The payload, which depends on the session's intents. */
  d: unknown;
}

interface Session {
  id: string;
  intents: number;
  seq: number;
  events: GatewayEvent[];
  socket: Socket | undefined;
}

/** The state of one connection. */
export interface Wire {
  gateway: Gateway | undefined;
  session: Session | undefined;
  silent: boolean;
  /** Times of the client's recent messages. */
  sends: number[];
}

export type Socket = ServerWebSocket<Wire>;

const GUILD_MESSAGES = 1 << 9;
const DIRECT_MESSAGES = 1 << 12;
const MESSAGE_CONTENT = 1 << 15;
const KNOWN_INTENTS = (1 << 26) - 1;
/** Number of events that are kept for a session without a connection. */
const KEPT = 1_000;

export interface GatewayOptions {
  resumeUrl: string;
  identifyMs: number;
  mayReadContent: boolean;
  ready(): object;
  changed(): void;
}

export type Gateway = ReturnType<typeof createGateway>;

/** The sessions of one bot. */
export function createGateway({ resumeUrl, identifyMs, mayReadContent, ready, changed }: GatewayOptions) {
  const sessions = new Map<string, Session>();
  const count = { identifies: 0, resumes: 0, overlaps: 0 };
  const lastSeq = new Map<string, number>();
  let identifiedAt = Number.NEGATIVE_INFINITY;
  let plannedEnd: "cut" | number | undefined;
  let held: (() => void)[] | undefined;

  const open = () => [...sessions.values()].filter(({ socket }) => socket !== undefined);
  const post = (session: Session, event: GatewayEvent) => {
    if (session.socket && !session.socket.data.silent) session.socket.send(JSON.stringify({ op: 0, ...event }));
  };

  function push(session: Session, t: string, d: unknown, about?: string): void {
    const event = { s: ++session.seq, t, d };
    session.events.push(event);
    if (session.events.length > KEPT) session.events.shift();
    if (about !== undefined) lastSeq.set(about, event.s);
    post(session, event);
  }

  /** Closes the connection if `nextConnection` planned it, and returns whether it did. */
  function endsAsPlanned(socket: Socket): boolean {
    if (plannedEnd === undefined) return false;
    const code = plannedEnd;
    plannedEnd = undefined;
    if (code === "cut") socket.terminate();
    else socket.close(code);
    return true;
  }

  /** Each bot of Berth has one connection, wherever it runs. */
  function noteOverlap(): void {
    if (open().length > 0) count.overlaps++;
  }

  function identify(socket: Socket, d: Record<string, unknown>): void {
    const { intents, properties } = d;
    if (typeof properties !== "object" || properties === null || !("os" in properties)) return void socket.close(4002);
    if (typeof intents !== "number" || intents < 0 || (intents & ~KNOWN_INTENTS) !== 0) return void socket.close(4013);
    count.identifies++;
    changed();
    if (intents & MESSAGE_CONTENT && !mayReadContent) return void socket.close(4014);
    const early = performance.now() - identifiedAt < identifyMs;
    identifiedAt = performance.now();
    if (early) return void socket.send(JSON.stringify({ op: 9, d: false }));
    if (endsAsPlanned(socket)) return;
    noteOverlap();
    const session: Session = { id: crypto.randomUUID().replaceAll("-", ""), intents, seq: 0, events: [], socket };
    sessions.set(session.id, session);
    socket.data.session = session;
    push(session, "READY", { v: 10, session_id: session.id, resume_gateway_url: resumeUrl, ...ready() });
    changed();
  }

  function resume(socket: Socket, d: Record<string, unknown>): void {
    const session = sessions.get(String(d.session_id));
    const { seq } = d;
    if (typeof seq !== "number" || (session && seq > session.seq)) return void socket.close(4007);
    const first = session?.events[0]?.s ?? 1;
    if (!session || seq < first - 1) return void socket.send(JSON.stringify({ op: 9, d: false }));
    if (endsAsPlanned(socket)) return;
    count.resumes++;
    noteOverlap();
    session.socket?.close(4000);
    session.socket = socket;
    socket.data.session = session;
    for (const event of session.events) if (event.s > seq) post(session, event);
    push(session, "RESUMED", {});
    changed();
  }

  return {
    count,
    get connected() {
      return open().filter(({ socket }) => !socket?.data.silent).length;
    },
    get sequence() {
      return Math.max(0, ...[...sessions.values()].map(({ seq }) => seq));
    },
    sequenceOf: (about: string) => lastSeq.get(about) ?? 0,
    identify,
    resume,
    /** Close code 1000 or 1001 from the client ends the session; after any other it can be resumed. */
    closed(socket: Socket, code: number) {
      const { session } = socket.data;
      if (!session || session.socket !== socket) return;
      session.socket = undefined;
      if (code === 1000 || code === 1001) sessions.delete(session.id);
      changed();
    },
    /** Sends an event to every session with its intent; `scrubbed` goes to those without the message content intent. */
    dispatch(t: string, d: object, kind: "guild" | "dm" | "any", about: string, scrubbed: object = d): void {
      if (held) return void held.push(() => this.dispatch(t, d, kind, about, scrubbed));
      for (const session of sessions.values()) {
        const hasIntent = kind === "any" || session.intents & (kind === "guild" ? GUILD_MESSAGES : DIRECT_MESSAGES);
        if (hasIntent) push(session, t, session.intents & MESSAGE_CONTENT ? d : scrubbed, about);
      }
    },
    hold: () => {
      held = [];
    },
    release(reverse: boolean) {
      const waiting = held ?? [];
      held = undefined;
      for (const tell of reverse ? waiting.reverse() : waiting) tell();
    },
    drops(code?: number) {
      for (const { socket } of open()) {
        if (code === undefined) socket?.terminate();
        else socket?.close(code);
      }
    },
    reconnects() {
      for (const { socket } of open()) socket?.send(JSON.stringify({ op: 7, d: null }));
    },
    invalidates(resumable: boolean) {
      for (const session of open()) {
        const { socket } = session;
        if (!resumable) sessions.delete(session.id);
        socket?.send(JSON.stringify({ op: 9, d: resumable }));
      }
    },
    forgets: () => sessions.clear(),
    silent() {
      for (const { socket } of open()) if (socket) socket.data.silent = true;
      changed();
    },
    nextConnection: (next: "cut" | number) => {
      plannedEnd = next;
    },
    end() {
      for (const { socket } of open()) socket?.close(4004);
      sessions.clear();
    },
  };
}

/** Handles a message of the client; closes the connection if it comes in the wrong order. */
export function handleMessage(
  socket: Socket,
  raw: string | Buffer,
  find: (token: unknown) => Gateway | undefined,
): void {
  const wire = socket.data;
  const now = performance.now();
  wire.sends = [...wire.sends.filter((at) => now - at < 60_000), now];
  if (wire.sends.length > 120) return void socket.close(4008);
  if (raw.length > 4096) return void socket.close(4002);
  let received: { op?: unknown; d?: unknown };
  try {
    received = JSON.parse(String(raw)) as typeof received;
  } catch {
    return void socket.close(4002);
  }
  const d = (typeof received.d === "object" && received.d !== null ? received.d : {}) as Record<string, unknown>;
  switch (received.op) {
    case 1:
      if (!wire.silent) socket.send(JSON.stringify({ op: 11 }));
      return;
    case 2:
    case 6: {
      if (wire.session) return void socket.close(4005);
      const gateway = find(d.token);
      if (!gateway) return void socket.close(4004);
      wire.gateway = gateway;
      if (received.op === 2) gateway.identify(socket, d);
      else gateway.resume(socket, d);
      return;
    }
    default:
      return void socket.close(wire.session ? 4001 : 4003);
  }
}
