// Serves the WebSocket at /agent/:id: sends it the status and the log of its agent, and closes it when its credential is revoked.
import { AppError } from "../../src/kernel/errors.ts";
import type { Event, Events } from "../../src/kernel/events/events.ts";
import type { SocketRoute, SocketSession } from "../../src/kernel/http/web-sockets.ts";
import type { ServiceOf } from "../../src/kernel/plugin.ts";
import type { Log } from "../../src/kernel/telemetry/log.ts";
import { MINUTE, SECOND } from "../../src/kernel/util/time.ts";
import type { agents as agentsPlugin, LogLine } from "../agents/index.ts";
import type { auth } from "../auth/index.ts";
import type { CredentialHolder } from "./credential-check.ts";
import { CLOSE_TOO_MANY, isUnresponsive, type Socket, send, sendUnlessBehind } from "./frames.ts";
import type { GatewayTokens } from "./gateway-tokens.ts";
import { type AuthenticatedClient, offeredSubprotocols, SUBPROTOCOL } from "./socket-authentication.ts";
import type { SocketChat } from "./socket-chat.ts";

/** The close code for a socket without a valid credential, from the range for applications (RFC 6455 §7.4.2). */
const CLOSE_UNAUTHORIZED = 4401;
/** The close code for a socket that should try again at once (IANA WebSocket Close Code registry: Service Restart). */
const CLOSE_RESTART = 1012;
/** Open sockets of one owner in this process, two for each agent of the largest plan. Sockets by token count for the owner. */
const MAX_PER_OWNER = 200;
/**
 * The interval at which all credentials are checked: short where another process may revoke them without our notice; a single
 * process needs it only for sessions that expire.
 */
const CHECK_INTERVAL = { shared: SECOND, alone: MINUTE } as const;

interface Deps {
  /** Whether no other process can revoke a credential. */
  isSingleProcess: boolean;
  log: Log;
  events: Pick<Events, "subscribe">;
  agents: Pick<ServiceOf<typeof agentsPlugin>, "onDelete">;
  onSessionRevoked: ServiceOf<typeof auth>["onSessionRevoked"];
  tokens: Pick<GatewayTokens, "onRotated">;
  authenticate(request: Request, rest: string): Promise<AuthenticatedClient | undefined>;
  findExpired<Each extends CredentialHolder>(holders: readonly Each[]): Promise<Each[]>;
  /** Follows the new lines of an agent's log. */
  follow(agentId: string, listener: (line: LogLine) => void): () => void;
  line(line: LogLine): { id: string; links: object };
  chat(client: AuthenticatedClient, isStopping: () => boolean, onIdle: () => void): SocketChat;
}

interface OpenSocket extends CredentialHolder {
  socket: Socket;
  chat: SocketChat;
}

export interface GatewaySockets {
  route: SocketRoute;
  /** Open sockets of an agent. */
  openCount(agentId: string): number;
  /** Closes idle sockets at once, and the others when their last message in flight has ended. */
  close(): void;
}

export function createGatewaySockets(deps: Deps): GatewaySockets {
  const {
    isSingleProcess,
    log,
    events,
    agents,
    onSessionRevoked,
    tokens,
    authenticate,
    findExpired,
    chat,
    follow,
    line,
  } = deps;
  const open = new Map<Socket, OpenSocket>();
  let stopping = false;
  /** Counts revocations: one of them may concern a socket that is authenticated but not open yet. */
  let revocations = 0;

  const closeUnauthorized = ({ socket }: OpenSocket, reason: string) => socket.close(CLOSE_UNAUTHORIZED, reason);
  const closeWhere = (matches: (of: OpenSocket) => boolean, reason: string) => {
    revocations++;
    for (const one of open.values()) if (matches(one)) closeUnauthorized(one, reason);
  };
  const countWhere = (matches: (of: OpenSocket) => boolean) => [...open.values()].filter(matches).length;
  onSessionRevoked((sessionId) =>
    closeWhere(({ credential }) => credential.kind === "session" && credential.sessionId === sessionId, "Signed out"),
  );
  tokens.onRotated((agentId) =>
    closeWhere((of) => of.agentId === agentId && of.credential.kind === "token", "The token was replaced"),
  );
  const closeAgent = (agentId: string) => closeWhere((of) => of.agentId === agentId, "The agent was removed");
  agents.onDelete(closeAgent);

  /** Browsers can't read a refused upgrade, so a refused socket is accepted and closed. */
  const refusingSession = (code: number, reason: string): SocketSession => ({
    open: (socket) => socket.close(code, reason),
    message: () => undefined,
    close: () => undefined,
  });

  async function accept(request: Request, rest: string): Promise<SocketSession> {
    // Refused clients get the subprotocol too: a browser that misses it does not show the close code.
    return {
      ...(await authenticateOrRefuse(request, rest)),
      ...(offeredSubprotocols(request).includes(SUBPROTOCOL) && { protocol: SUBPROTOCOL }),
    };
  }

  async function authenticateOrRefuse(request: Request, rest: string): Promise<SocketSession> {
    const before = revocations;
    try {
      const client = await authenticate(request, rest);
      return client ? openSession(client, before) : refusingSession(CLOSE_UNAUTHORIZED, "Sign in first");
    } catch (error) {
      log.debug("a socket was refused", { error });
      const tooMany = error instanceof AppError && error.status === 429;
      return tooMany
        ? refusingSession(CLOSE_TOO_MANY, "Try again later")
        : refusingSession(CLOSE_UNAUTHORIZED, "Sign in first");
    }
  }

  function openSession(client: AuthenticatedClient, before: number): SocketSession {
    const { agent, credential } = client;
    const { id: agentId, userId: ownerId, name, status, statusReason } = agent;
    let openedSocket: Socket | undefined;
    let unfollow: (() => void) | undefined;
    const socketChat = chat(
      client,
      () => stopping,
      () => {
        if (stopping && openedSocket) closeForStop(openedSocket);
      },
    );
    return {
      open(socket) {
        if (revocations !== before) return socket.close(CLOSE_RESTART, "Try again");
        if (stopping) return closeForStop(socket);
        if (countWhere((one) => one.ownerId === ownerId) >= MAX_PER_OWNER) {
          return socket.close(CLOSE_TOO_MANY, `At most ${MAX_PER_OWNER} sockets at once`);
        }
        openedSocket = socket;
        open.set(socket, { agentId, ownerId, credential, ownerCheckDue: true, socket, chat: socketChat });
        watch();
        send(socket, { type: "status", status, reason: statusReason, agentId, name });
        unfollow = follow(agentId, (written) => {
          // In frames, `id` is the id of a message. Links are for the console, which reads the log by itself.
          const { id: _id, links: _links, ...lineView } = line(written);
          sendUnlessBehind(socket, { type: "log", ...lineView });
        });
      },
      message(socket, data) {
        if (isUnresponsive(socket)) return socket.terminate();
        socketChat.receive(socket, data);
      },
      close(socket) {
        open.delete(socket);
        unfollow?.();
        socketChat.cancel();
        if (open.size === 0) unwatch();
      },
    };
  }

  let unwatch: () => void = () => undefined;
  let watching = false;
  /** Subscribes to events and checks credentials while any socket is open. */
  function watch(): void {
    if (watching) return;
    watching = true;
    const unsubscribe = events.subscribe(onEvent);
    const timer = setInterval(checkCredentials, isSingleProcess ? CHECK_INTERVAL.alone : CHECK_INTERVAL.shared).unref();
    unwatch = () => {
      watching = false;
      unsubscribe();
      clearInterval(timer);
    };
  }

  function onEvent({ type, agentId, userId, data }: Event): void {
    if (type === "agent.status") {
      const { name, status, reason } = data as { name: string; status: string; reason: string | null };
      for (const one of open.values()) {
        if (one.agentId === agentId) sendUnlessBehind(one.socket, { type: "status", status, reason, agentId, name });
      }
    } else if (type === "agent.deleted" && agentId !== null) closeAgent(agentId);
    else if (type === "agent.claimed") closeWhere((of) => of.agentId === agentId, "The agent has another owner");
    else if (type === "user.updated" || type === "user.deleted") {
      const ofOwner = [...open.values()].filter(({ ownerId }) => ownerId === userId);
      for (const one of ofOwner) one.ownerCheckDue = true;
      if (ofOwner.length > 0) checkCredentials();
    }
  }

  let checking = false;
  let checkAgain = false;
  function checkCredentials(): void {
    checkAgain = true;
    if (!checking) void checkUntilDone();
  }

  /** Closes the sockets whose credential was revoked, in this process or another. */
  async function checkUntilDone(): Promise<void> {
    checking = true;
    try {
      while (checkAgain) {
        checkAgain = false;
        for (const one of await findExpired([...open.values()])) closeUnauthorized(one, "Signed out");
      }
    } catch (error) {
      log.warn("open sockets could not be re-authenticated; trying again", { error });
    } finally {
      checking = false;
    }
  }

  return {
    route: { prefix: "/agent/", accept },
    openCount: (agentId) => countWhere((one) => one.agentId === agentId),
    close() {
      stopping = true;
      for (const { socket, chat } of [...open.values()]) if (chat.isIdle()) closeForStop(socket);
    },
  };
}

const closeForStop = (socket: Socket) => socket.close(1001, "Berth is stopping");
