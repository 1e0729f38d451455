// The gateway: a WebSocket at /agent/:id that carries chat frames to the agent and the growing reply back.
import type { ServerWebSocket } from "bun";
import type { BackendTransport } from "../../src/backend.ts";
import { parseJson, type SocketRoute, type SocketSession } from "../../src/http.ts";
import type { Log } from "../../src/log.ts";
import type { ServiceOf } from "../../src/plugin.ts";
import type { Agent, agents } from "../agents/index.ts";
import type { auth, Identity } from "../auth/index.ts";
import { parseEvents } from "../runtime/index.ts";

/** Closes a socket whose right to be here ended or never was. Contract §5. */
const UNAUTHORIZED = 4401;
/** Closes a socket that should simply try again (RFC 6455 registry: Service Restart). */
const RESTART = 1012;
/** Messages of one socket that are answered at once. */
const AT_ONCE = 16;
/** Bytes that may wait for a slow reader; until they are taken, no more of a reply is read. */
const MAX_WAITING = 1024 * 1024;
/** Milliseconds for which a reader may take nothing, and between two looks. */
const READER_PATIENCE = 30_000;
const LOOK = 20;

/** The subprotocol; others that are offered carry a token, and are never echoed. */
const PROTOCOL = "berth.v1";

type Socket = ServerWebSocket<SocketSession>;

interface Deps {
  backend: BackendTransport;
  log: Log;
  identities: ServiceOf<typeof auth>["identities"];
  agents: ServiceOf<typeof agents>;
  onSessionRevoked: ServiceOf<typeof auth>["onSessionRevoked"];
}

interface Open {
  agentId: string;
  sessionId: string;
  /** What is being answered, by the id of its frame. */
  underWay: Map<string, AbortController>;
}

interface Frame {
  type?: unknown;
  id?: unknown;
  message?: unknown;
  sessionId?: unknown;
}

export function createGateway({ backend, log, identities, agents, onSessionRevoked }: Deps): {
  route: SocketRoute;
  /** Closes what is idle; a socket whose messages are being answered stays until they are. */
  close(): void;
} {
  const open = new Map<Socket, Open>();
  let stopping = false;
  /** Grows when a right ends: a socket that is not open yet may have been meant. */
  let ends = 0;

  const closeWhere = (matches: (of: Open) => boolean) => {
    ends++;
    for (const [socket, of] of open) if (matches(of)) socket.close(UNAUTHORIZED, "Signed out");
  };
  onSessionRevoked((sessionId) => closeWhere((of) => of.sessionId === sessionId));
  agents.onDelete((agentId) => closeWhere((of) => of.agentId === agentId));

  /** Browsers can't read a refused upgrade, so a refused socket is accepted and closed. */
  const refused: SocketSession = {
    open: (socket) => socket.close(UNAUTHORIZED, "Sign in first"),
    message: () => undefined,
    close: () => undefined,
  };

  async function accept(request: Request, rest: string): Promise<SocketSession> {
    const offered = request.headers.get("sec-websocket-protocol")?.split(/\s*,\s*/) ?? [];
    // Confirmed to whoever is refused too: a browser that misses it never learns why.
    return { ...(await judge(request, rest)), ...(offered.includes(PROTOCOL) && { protocol: PROTOCOL }) };
  }

  async function judge(request: Request, rest: string): Promise<SocketSession> {
    const before = ends;
    try {
      const identity = isOwnPage(request) ? await identities.identify(request) : undefined;
      const agent = identity && (await named(identity, rest));
      return identity && agent ? sessionOf(request, identity, agent, before) : refused;
    } catch (error) {
      log.debug("a socket was refused", { error });
      return refused;
    }
  }

  /** A cookie comes along from every page; only our own pages may use it. */
  function isOwnPage(request: Request): boolean {
    const origin = request.headers.get("origin");
    return origin !== null && identities.isOwnOrigin(origin);
  }

  /** The path names an agent, or a user, which means that user's current agent. */
  async function named({ user }: Identity, id: string): Promise<Agent | undefined> {
    if (id === user.id) return agents.current(user.id);
    const agent = await agents.find(id);
    return agent?.userId === user.id ? agent : undefined;
  }

  function sessionOf(request: Request, identity: Identity, agent: Agent, before: number): SocketSession {
    const underWay = new Map<string, AbortController>();
    const send = (socket: Socket, frame: object) => void socket.send(JSON.stringify(frame));
    const fail = (socket: Socket, id: unknown, error: string, code: string) =>
      send(socket, { type: "error", id: id ?? null, error, message: error, code });

    async function chat(socket: Socket, id: string, message: string, sessionId: string | undefined): Promise<void> {
      const cancel = new AbortController();
      underWay.set(id, cancel);
      try {
        const answer = await backend.fetch(
          identities.grant(identity, request, "agent.chat", agent.id),
          `/api/agents/${agent.id}/turns`,
          {
            method: "POST",
            headers: { "content-type": "application/json", accept: "text/event-stream" },
            body: JSON.stringify({ platform: "web", message, sessionId }),
            signal: cancel.signal,
          },
        );
        if (!answer.ok || !answer.body)
          return send(socket, { type: "error", id, ...((await answer.json()) as object) });
        for await (const { event, data } of parseEvents(answer.body)) {
          await taken(socket);
          send(socket, { type: event, id, ...(JSON.parse(data) as object) });
        }
      } catch (error) {
        if (cancel.signal.aborted) fail(socket, id, "The reply was cancelled.", "CANCELLED");
        else {
          log.warn("a gateway message failed", { agentId: agent.id, error });
          fail(socket, id, "The agent backend can't be reached. Try again shortly.", "BACKEND_UNAVAILABLE");
        }
      } finally {
        underWay.delete(id);
        cancel.abort();
        if (stopping && underWay.size === 0) leave(socket);
      }
    }

    return {
      open(socket) {
        if (ends !== before) return socket.close(RESTART, "Try again");
        if (stopping) return leave(socket);
        open.set(socket, { agentId: agent.id, sessionId: identity.session.id, underWay });
        send(socket, { type: "status", status: agent.status, agentId: agent.id, name: agent.name });
      },
      message(socket, data) {
        // A close frame would wait behind all that isn't read.
        if (socket.getBufferedAmount() > 2 * MAX_WAITING) return socket.terminate();
        const frame = readFrame(data);
        if (!frame) return fail(socket, null, "A frame is a JSON object with a type.", "INVALID_FRAME");
        const { type, id, message, sessionId } = frame;
        if (type === "ping") return send(socket, { type: "pong" });
        if (typeof id !== "string" || id === "" || id.length > 128) {
          return fail(socket, null, "Give the frame an id: text of at most 128 characters.", "INVALID_FRAME");
        }
        if (type === "cancel") return underWay.get(id)?.abort();
        if (type !== "chat") return fail(socket, id, "The type of a frame is chat, cancel or ping.", "INVALID_FRAME");
        if (typeof message !== "string" || message === "") {
          return fail(socket, id, "Give a message.", "INVALID_INPUT");
        }
        if (stopping) return fail(socket, id, "Berth is stopping. Try again shortly.", "STOPPING");
        if (underWay.has(id)) return fail(socket, id, "A message with this id is being answered.", "DUPLICATE_ID");
        if (underWay.size >= AT_ONCE) return fail(socket, id, `At most ${AT_ONCE} messages at once.`, "TOO_MANY");
        void chat(socket, id, message, typeof sessionId === "string" ? sessionId : undefined);
      },
      close(socket) {
        open.delete(socket);
        for (const cancel of underWay.values()) cancel.abort();
      },
    };
  }

  return {
    route: { prefix: "/agent/", accept },
    close() {
      stopping = true;
      for (const [socket, { underWay }] of open) if (underWay.size === 0) leave(socket);
    },
  };
}

const leave = (socket: Socket) => socket.close(1001, "Berth is stopping");

/** Resolves once the reader has taken enough of what it was sent; one that takes nothing for long is let go. */
async function taken(socket: Socket): Promise<void> {
  for (let waited = 0; socket.getBufferedAmount() > MAX_WAITING; waited += LOOK) {
    if (waited >= READER_PATIENCE) return socket.terminate();
    await Bun.sleep(LOOK);
  }
}

function readFrame(data: string | Buffer): Frame | undefined {
  try {
    const frame = parseJson(data.toString());
    return typeof frame === "object" && frame !== null && !Array.isArray(frame) ? frame : undefined;
  } catch {
    // What is not JSON is answered as such.
    return undefined;
  }
}
