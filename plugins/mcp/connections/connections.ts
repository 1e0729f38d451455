// Keeps connections to MCP servers: opened at the first call, shared by calls, closed when idle, and not tried again at once
// after a failure.
import { AppError } from "../../../src/kernel/errors.ts";
import { createBoundedMap } from "../../../src/kernel/util/bounded-map.ts";
import { MINUTE, SECOND } from "../../../src/kernel/util/time.ts";
import type { Connection } from "./connection.ts";

export interface ConnectionLimits {
  /** Open connections of all agents. */
  total: number;
  /** Processes of all agents. */
  processes: number;
  idleMs: number;
  /** How often idle ones are looked for. */
  sweepMs: number;
}
const LIMITS: ConnectionLimits = { total: 500, processes: 32, idleMs: 5 * MINUTE, sweepMs: 30 * SECOND };
const FIRST_RETRY_MS = 30 * SECOND;
const LAST_RETRY_MS = 15 * MINUTE;
const MAX_FAILURES_KEPT = 10_000;

export interface ConnectionKey {
  agentId: string;
  name: string;
  /** Another digest is another server under the same name. */
  digest: string;
  isProcess: boolean;
}

export interface Connections {
  /**
   * Runs work over the connection of this key, which `open` makes if there is none. Throws 503 `MCP_UNREACHABLE` at once while
   * a failed server is not to be tried again, or where too many connections are in use; else the errors of `open` and `work`.
   * @param isForced tries a failed server at once
   */
  use<Result>(
    key: ConnectionKey,
    open: (onClose: () => void) => Promise<Connection>,
    work: (connection: Connection) => Promise<Result>,
    isForced?: boolean,
  ): Promise<Result>;
  /**
   * Closes a connection over which a call has failed, unless another one is used by now. With a reason, the server is not
   * tried again for a time.
   */
  drop(key: ConnectionKey, connection: Connection, reason?: string): Promise<void>;
  /** Closes the connection of a server, or all of an agent, and forgets their failures. */
  close(agentId: string, name?: string): Promise<void>;
  /** Closes those of an agent's connections that are not wanted any more. */
  retain(agentId: string, isWanted: (key: ConnectionKey) => boolean): Promise<void>;
  closeAll(): Promise<void>;
  /** Open connections of an agent. */
  count(agentId: string): number;
}

interface Held {
  key: ConnectionKey;
  opening: Promise<Connection>;
  /** Once it is open. */
  connection?: Connection;
  calls: number;
  lastUsed: number;
}

interface Failure {
  count: number;
  retryAt: number;
  reason: string;
}

export function createConnections(limits: ConnectionLimits = LIMITS, now: () => number = Date.now): Connections {
  const held = new Map<string, Held>();
  const failures = createBoundedMap<Failure>(MAX_FAILURES_KEPT);
  let sweeper: Timer | undefined;

  const idOf = ({ agentId, name, digest }: ConnectionKey) => `${agentId}\n${name}\n${digest}`;

  async function end(id: string): Promise<void> {
    const found = held.get(id);
    held.delete(id);
    if (held.size === 0) {
      clearInterval(sweeper);
      sweeper = undefined;
    }
    await found?.opening.then(
      (connection) => connection.close(),
      () => undefined,
    );
  }

  function sweep(): void {
    for (const [id, { calls, lastUsed }] of held) if (calls === 0 && lastUsed + limits.idleMs <= now()) void end(id);
  }

  /** Makes room by closing the connection that was idle longest. */
  function makeRoom(isProcess: boolean): void {
    const ofKind = [...held].filter(([, { key }]) => !isProcess || key.isProcess);
    if (ofKind.length < (isProcess ? limits.processes : limits.total)) return;
    const idle = ofKind.filter(([, { calls }]) => calls === 0).sort(([, a], [, b]) => a.lastUsed - b.lastUsed)[0];
    if (!idle) throw unreachable("Too many MCP servers are in use right now.");
    void end(idle[0]);
  }

  function open(id: string, key: ConnectionKey, connect: (onClose: () => void) => Promise<Connection>): Held {
    makeRoom(key.isProcess);
    const entry: Held = {
      key,
      calls: 0,
      lastUsed: now(),
      opening: connect(() => {
        if (held.get(id) === entry) void end(id);
      }),
    };
    held.set(id, entry);
    sweeper ??= setInterval(sweep, limits.sweepMs).unref();
    return entry;
  }

  function noteFailure(id: string, error: unknown): void {
    const count = (failures.get(id)?.count ?? 0) + 1;
    const delay = Math.min(FIRST_RETRY_MS * 2 ** (count - 1), LAST_RETRY_MS);
    failures.set(id, { count, retryAt: now() + delay, reason: error instanceof Error ? error.message : String(error) });
  }

  return {
    async use(key, connect, work, isForced = false) {
      const id = idOf(key);
      const failure = failures.get(id);
      if (failure && failure.retryAt > now() && !isForced) {
        const seconds = Math.ceil((failure.retryAt - now()) / SECOND);
        throw unreachable(`The MCP server ${key.name} does not work. It is tried again in ${seconds} s.`);
      }
      const entry = held.get(id) ?? open(id, key, connect);
      entry.calls++;
      try {
        let connection: Connection;
        try {
          connection = await entry.opening;
          entry.connection = connection;
        } catch (error) {
          if (held.get(id) === entry) await end(id);
          noteFailure(id, error);
          throw error;
        }
        const result = await work(connection);
        failures.delete(id);
        return result;
      } finally {
        entry.calls--;
        entry.lastUsed = now();
      }
    },
    async drop(key, connection, reason) {
      const id = idOf(key);
      const current = held.get(id);
      if (current && current.connection !== connection) return;
      if (reason !== undefined) noteFailure(id, reason);
      await end(id);
    },
    async close(agentId, name) {
      for (const [id, { key }] of held) {
        if (key.agentId !== agentId || (name !== undefined && key.name !== name)) continue;
        failures.delete(id);
        await end(id);
      }
    },
    async retain(agentId, isWanted) {
      for (const [id, { key }] of held) if (key.agentId === agentId && !isWanted(key)) await end(id);
    },
    async closeAll() {
      await Promise.all([...held.keys()].map(end));
    },
    count: (agentId) => [...held.values()].filter(({ key }) => key.agentId === agentId).length,
  };
}

export const unreachable = (message: string, cause?: unknown) =>
  new AppError(503, "MCP_UNREACHABLE", message, {}, cause === undefined ? {} : { cause });
