// The gateway: a WebSocket at /agent/:id, open for as long as the right to it lasts, told what happens to its agent.
import { AppError } from "../../src/errors.ts";
import type { Event, Events } from "../../src/events.ts";
import type { SocketRoute, SocketSession } from "../../src/http.ts";
import type { Log } from "../../src/log.ts";
import type { ServiceOf } from "../../src/plugin.ts";
import type { agents as agentsPlugin, LogLine } from "../agents/index.ts";
import type { auth } from "../auth/index.ts";
import { type Admitted, offered, PROTOCOL } from "./entrance.ts";
import { isDeaf, mention, type Socket, send, TOO_MANY } from "./frames.ts";
import type { Holder } from "./rights.ts";
import type { Talk } from "./talk.ts";
import type { GatewayTokens } from "./tokens.ts";

/** Closes a socket whose right to be here ended or never was. Contract §5. */
const UNAUTHORIZED = 4401;
/** Closes a socket that should simply try again (RFC 6455 registry: Service Restart). */
const RESTART = 1012;
/** Open sockets of one owner, in this process: the largest plan's agents twice. Whoever has a token opens them as the owner. */
const PER_OWNER = 200;
/**
 * Milliseconds between two looks at the rights of all: often where another process may end them, which nobody tells us;
 * else only for what ends by itself.
 */
const LOOK = { shared: 1_000, alone: 60_000 } as const;

interface Deps {
  /** Whether no other process can end a right. */
  alone: boolean;
  log: Log;
  events: Pick<Events, "subscribe">;
  agents: Pick<ServiceOf<typeof agentsPlugin>, "onDelete">;
  onSessionRevoked: ServiceOf<typeof auth>["onSessionRevoked"];
  tokens: Pick<GatewayTokens, "onRotated">;
  admit(request: Request, rest: string): Promise<Admitted | undefined>;
  ended<Each extends Holder>(holders: readonly Each[]): Promise<Each[]>;
  /** Tells the lines of an agent's log from now on. */
  follow(agentId: string, listener: (line: LogLine) => void): () => void;
  line(line: LogLine): { id: string };
  talk(admitted: Admitted, isStopping: () => boolean, idle: () => void): Talk;
}

interface Open extends Holder {
  socket: Socket;
  talk: Talk;
}

export interface Gateway {
  route: SocketRoute;
  /** Open sockets of an agent. */
  kept(agentId: string): number;
  /** Closes what is idle; a socket whose messages are being answered stays until they are. */
  close(): void;
}

export function createGateway(deps: Deps): Gateway {
  const { alone, log, events, agents, onSessionRevoked, tokens, admit, ended, talk, follow, line } = deps;
  const open = new Map<Socket, Open>();
  let stopping = false;
  /** Grows when a right ends: a socket that is not open yet may have been meant. */
  let ends = 0;

  const expel = ({ socket }: Open, reason: string) => socket.close(UNAUTHORIZED, reason);
  const closeWhere = (matches: (of: Open) => boolean, reason: string) => {
    ends++;
    for (const one of open.values()) if (matches(one)) expel(one, reason);
  };
  const countWhere = (matches: (of: Open) => boolean) => [...open.values()].filter(matches).length;
  onSessionRevoked((sessionId) =>
    closeWhere(({ right }) => right.kind === "session" && right.sessionId === sessionId, "Signed out"),
  );
  tokens.onRotated((agentId) =>
    closeWhere((of) => of.agentId === agentId && of.right.kind === "token", "The token was replaced"),
  );
  const agentGone = (agentId: string) => closeWhere((of) => of.agentId === agentId, "The agent was removed");
  agents.onDelete(agentGone);

  /** Browsers can't read a refused upgrade, so a refused socket is accepted and closed. */
  const refused = (code: number, reason: string): SocketSession => ({
    open: (socket) => socket.close(code, reason),
    message: () => undefined,
    close: () => undefined,
  });

  async function accept(request: Request, rest: string): Promise<SocketSession> {
    // Confirmed to whoever is refused too: a browser that misses it never learns why.
    return { ...(await judge(request, rest)), ...(offered(request).includes(PROTOCOL) && { protocol: PROTOCOL }) };
  }

  async function judge(request: Request, rest: string): Promise<SocketSession> {
    const before = ends;
    try {
      const admitted = await admit(request, rest);
      return admitted ? sessionOf(admitted, before) : refused(UNAUTHORIZED, "Sign in first");
    } catch (error) {
      log.debug("a socket was refused", { error });
      const tooMany = error instanceof AppError && error.status === 429;
      return tooMany ? refused(TOO_MANY, "Try again later") : refused(UNAUTHORIZED, "Sign in first");
    }
  }

  function sessionOf(admitted: Admitted, before: number): SocketSession {
    const { agent, right } = admitted;
    const { id: agentId, userId: ownerId, name, status, statusReason } = agent;
    let own: Socket | undefined;
    let unfollow: (() => void) | undefined;
    const said = talk(
      admitted,
      () => stopping,
      () => {
        if (stopping && own) leave(own);
      },
    );
    return {
      open(socket) {
        if (ends !== before) return socket.close(RESTART, "Try again");
        if (stopping) return leave(socket);
        if (countWhere((one) => one.ownerId === ownerId) >= PER_OWNER) {
          return socket.close(TOO_MANY, `At most ${PER_OWNER} sockets at once`);
        }
        own = socket;
        open.set(socket, { agentId, ownerId, right, doubted: true, socket, talk: said });
        watch();
        send(socket, { type: "status", status, reason: statusReason, agentId, name });
        unfollow = follow(agentId, (written) => {
          // Ids in frames are those of messages.
          const { id: _id, ...told } = line(written);
          mention(socket, { type: "log", ...told });
        });
      },
      message(socket, data) {
        if (isDeaf(socket)) return socket.terminate();
        said.heard(socket, data);
      },
      close(socket) {
        open.delete(socket);
        unfollow?.();
        said.cancel();
        if (open.size === 0) unwatch();
      },
    };
  }

  let unwatch: () => void = () => undefined;
  let watching = false;
  /** While anybody is in. */
  function watch(): void {
    if (watching) return;
    watching = true;
    const unsubscribe = events.subscribe(happened);
    const timer = setInterval(look, alone ? LOOK.alone : LOOK.shared).unref();
    unwatch = () => {
      watching = false;
      unsubscribe();
      clearInterval(timer);
    };
  }

  function happened({ type, agentId, userId, data }: Event): void {
    if (type === "agent.status") {
      const { name, status, reason } = data as { name: string; status: string; reason: string | null };
      for (const one of open.values()) {
        if (one.agentId === agentId) mention(one.socket, { type: "status", status, reason, agentId, name });
      }
    } else if (type === "agent.deleted" && agentId !== null) agentGone(agentId);
    else if (type === "agent.claimed") closeWhere((of) => of.agentId === agentId, "The agent has another owner");
    else if (type === "user.updated" || type === "user.deleted") {
      const theirs = [...open.values()].filter(({ ownerId }) => ownerId === userId);
      for (const one of theirs) one.doubted = true;
      if (theirs.length > 0) look();
    }
  }

  let looking = false;
  let again = false;
  function look(): void {
    again = true;
    if (!looking) void lookUntilSeen();
  }

  /** Closes those whose right has ended, also in another process. */
  async function lookUntilSeen(): Promise<void> {
    looking = true;
    try {
      while (again) {
        again = false;
        for (const one of await ended([...open.values()])) expel(one, "Signed out");
      }
    } catch (error) {
      log.warn("the rights of open sockets could not be looked at; trying again", { error });
    } finally {
      looking = false;
    }
  }

  return {
    route: { prefix: "/agent/", accept },
    kept: (agentId) => countWhere((one) => one.agentId === agentId),
    close() {
      stopping = true;
      for (const { socket, talk } of [...open.values()]) if (talk.isIdle()) leave(socket);
    },
  };
}

const leave = (socket: Socket) => socket.close(1001, "Berth is stopping");
