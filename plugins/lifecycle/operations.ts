// What is done to an agent over its life, one thing after the other, and what brings it up again by itself.
import { AppError } from "../../src/errors.ts";
import type { Order } from "../../src/order.ts";
import type { Kernel, ServiceOf } from "../../src/plugin.ts";
import { type Agent, type agents as agentsPlugin, noSuchAgent, RUNTIME_VERSION } from "../agents/index.ts";
import type { auth } from "../auth/index.ts";
import type { channels as channelsPlugin } from "../channels/index.ts";
import type { runtime as runtimePlugin } from "../runtime/index.ts";
import type { Heal } from "./heal.ts";
import { imageOf, type Runtimes } from "./runtimes.ts";
import type { Snapshots } from "./snapshots/snapshots.ts";
import { DISABLED, type Operation, TRANSITIONS } from "./states.ts";
import type { Update, Updates } from "./updates.ts";
import { createUpdating, type Updated } from "./updating.ts";

export interface UpdateRequest {
  image?: string | undefined;
  version?: string | undefined;
}

/**
 * Each answers what the interface says of its success, and throws what it says of its failures. Nothing brings up an agent
 * whose owner's account is disabled: 409 `ACCOUNT_DISABLED`.
 */
export interface Operations {
  start(agentId: string): Promise<Agent>;
  /** `why` is for the agent's log, where it is not by somebody's wish. */
  stop(agentId: string, why?: string): Promise<Agent>;
  restart(agentId: string): Promise<{ agent: Agent; healed: string | undefined }>;
  update(agentId: string, request: UpdateRequest): Promise<Updated>;
  rollback(agentId: string, backupPath: string): Promise<Agent>;
  repair(agentId: string): Promise<{ agent: Agent; repaired: string[] }>;
  resetMemory(agentId: string): Promise<{ backupPath: string }>;
  /** Whether an update of it is under way, or was cut off by a kill and has not been ended yet. */
  isUpdating(agentId: string): boolean;
  /** Lets no turn begin of agents whose update a killed process left open, until `reconcile` is done with them. */
  holdHalves(): Promise<void>;
  /** Ends what a killed process left half done, and tries again what should be up and is not. */
  reconcile(): Promise<void>;
  close(): void;
}

const FIRST_RETRY = 1_000;
const LONGEST_RETRY = 5 * 60_000;
/** Agents that are looked after at once at a start. */
const SIDE_BY_SIDE = 8;

interface Deps extends Pick<Kernel, "log"> {
  agents: Pick<ServiceOf<typeof agentsPlugin>, "find" | "setStatus" | "troubled" | "log" | "onChange" | "onDelete">;
  channels: Pick<ServiceOf<typeof channelsPlugin>, "reconnect">;
  runtime: Pick<ServiceOf<typeof runtimePlugin>, "quietly" | "hold">;
  users: Pick<ServiceOf<typeof auth>["users"], "byId">;
  runtimes: Runtimes;
  snapshots: Snapshots;
  updates: Updates;
  heal: Heal;
  inOrder: Order;
}

export function createOperations(deps: Deps): Operations {
  const { agents, channels, runtime, users, runtimes, snapshots, updates, heal, inOrder, log } = deps;
  const updating = new Set<string>();
  const retries = new Map<string, { timer: Timer; failures: number }>();
  /** Ends the hold of each. */
  const held = new Map<string, () => void>();
  let closed = false;

  const note = (agentId: string, level: "info" | "error", message: string) =>
    agents.log(agentId, level, message, "lifecycle");

  const updater = createUpdating({ ...deps, note });

  async function found(agentId: string): Promise<Agent> {
    const agent = await agents.find(agentId);
    if (!agent) throw noSuchAgent();
    return agent;
  }

  /** Its agents are stopped, after what is under way. See `owners.ts`. */
  async function isDisabled({ userId }: Agent): Promise<boolean> {
    const owner = await users.byId(userId);
    return owner !== undefined && owner.disabledAt !== null;
  }

  async function requireOwner(agent: Agent): Promise<void> {
    if (!(await isDisabled(agent))) return;
    throw new AppError(409, "ACCOUNT_DISABLED", "The account of this agent's owner is disabled. Enable it first.");
  }

  /** Brings an agent to where this operation leads, or puts it in `error`, from where it is tried again. */
  async function settle(agent: Agent, operation: Operation, why?: string): Promise<Agent> {
    const { to, connections, check } = TRANSITIONS[operation];
    const status = to[agent.status];
    const up = status === "running" || status === "active";
    if (up) await requireOwner(agent);
    if (up && check) {
      try {
        await runtimes.check(agent);
      } catch (error) {
        await failed(agent, error);
        throw error;
      }
    }
    calm(agent.id);
    await agents.setStatus(agent.id, status, { cameUp: up && operation !== "start" });
    const settled = await found(agent.id);
    if (up && connections === "renew") await channels.reconnect(agent.id);
    note(agent.id, "info", `${operation}: the agent is ${status}${why === undefined ? "" : `, because ${why}`}`);
    return settled;
  }

  async function failed(agent: Agent, error: unknown): Promise<void> {
    const reason = error instanceof AppError ? error.message : "The agent could not come up.";
    log.warn("an agent could not come up", { agentId: agent.id, error });
    note(agent.id, "error", reason);
    // What it should be stays as it was, but for a stopped one: somebody wants it up now.
    const wanted = agent.status === "stopped" ? [{ sql: WANT_UP, args: [agent.id] }] : [];
    await agents.setStatus(agent.id, "error", { reason, also: wanted });
    retryLater(agent.id);
  }

  function retryLater(agentId: string): void {
    if (closed) return;
    const failures = (retries.get(agentId)?.failures ?? 0) + 1;
    clearTimeout(retries.get(agentId)?.timer);
    const delay = Math.min(LONGEST_RETRY, FIRST_RETRY * 2 ** (failures - 1)) * (0.75 + Math.random() / 2);
    const timer = setTimeout(() => {
      retry(agentId).catch((error: unknown) => log.error("an agent could not be tried again", { agentId, error }));
    }, delay).unref();
    retries.set(agentId, { timer, failures });
  }

  function calm(agentId: string): void {
    clearTimeout(retries.get(agentId)?.timer);
    retries.delete(agentId);
  }

  /** In its turn, unless somebody has stopped it or brought it up meanwhile. */
  const retry = (agentId: string) =>
    inOrder(agentId, async () => {
      const agent = await agents.find(agentId);
      if (agent?.wanted !== "up" || closed) return calm(agentId);
      try {
        if (await isDisabled(agent)) await settle(agent, "stop", DISABLED);
        else await settle(agent, "start");
      } catch (error) {
        // Recorded, with the next try.
        if (!(error instanceof AppError)) throw error;
      }
    });

  /** One agent's trouble keeps no other from coming up. */
  const told = (agentId: string) => (error: unknown) =>
    log.error("an agent could not be reconciled", { agentId, error });

  async function finish(half: Update): Promise<void> {
    const { agentId } = half;
    try {
      await inOrder(agentId, async () => {
        await updater.finish(half).catch(told(agentId));
        const agent = await agents.find(agentId);
        if (agent && (await isDisabled(agent))) await settle(agent, "stop", DISABLED);
      });
      if ((await agents.find(agentId))?.status === "error") await retry(agentId);
    } catch (error) {
      told(agentId)(error);
    } finally {
      held.get(agentId)?.();
      held.delete(agentId);
    }
  }

  agents.onDelete(calm);

  return {
    start: (agentId) => inOrder(agentId, async () => settle(await found(agentId), "start")),

    stop: (agentId, why) =>
      inOrder(agentId, async () => {
        const agent = await found(agentId);
        // What is not by somebody's wish is told once, however often it is tried.
        return why !== undefined && agent.status === "stopped" ? agent : settle(agent, "stop", why);
      }),

    restart: (agentId) =>
      inOrder(agentId, async () => {
        const agent = await found(agentId);
        const healed = await heal(agent);
        if (healed) note(agentId, "info", healed);
        return { agent: await settle(agent, "restart"), healed };
      }),

    async update(agentId, request) {
      const version = runtimes.wanted(request);
      if (updating.has(agentId)) {
        const text = "This agent is being updated already. Wait until that has ended.";
        throw new AppError(409, "OPERATION_IN_PROGRESS", text);
      }
      updating.add(agentId);
      try {
        return await inOrder(agentId, async () => {
          const agent = await found(agentId);
          await requireOwner(agent);
          try {
            const updated = await updater.update(agent, version);
            calm(agentId);
            return updated;
          } catch (error) {
            if (error instanceof AppError && error.code === "ROLLBACK_FAILED") retryLater(agentId);
            throw error;
          }
        });
      } finally {
        updating.delete(agentId);
      }
    },

    rollback: (agentId, backupPath) =>
      inOrder(agentId, async () => {
        const agent = await found(agentId);
        await snapshots.keeping(agentId, backupPath, async ({ runtimeVersion: was }) => {
          const carried = runtimes.versions().includes(was);
          await runtime.quietly(agentId, async () => {
            await snapshots.write(agentId);
            await snapshots.restore(
              agentId,
              backupPath,
              carried ? [] : [{ sql: OWN_RUNTIME, args: [RUNTIME_VERSION, agentId] }],
            );
          });
          const text = `rollback: ${imageOf(was)} is not carried here, so the agent has ${imageOf(RUNTIME_VERSION)}`;
          if (!carried) note(agentId, "info", text);
        });
        return settle(agent, "rollback");
      }),

    repair: (agentId) =>
      inOrder(agentId, async () => {
        const agent = await found(agentId);
        const mended = await runtime.quietly(agentId, () => snapshots.mend(agentId));
        const healed = await heal(agent);
        const repaired = healed ? [...mended, healed] : mended;
        for (const what of repaired) note(agentId, "info", `repair: ${what}`);
        return { agent: await settle(agent, "repair"), repaired };
      }),

    resetMemory: (agentId) =>
      inOrder(agentId, async () => {
        await found(agentId);
        // What turns in flight still say is in the backup too.
        const path = await runtime.quietly(agentId, async () => {
          const { path } = await snapshots.write(agentId);
          await snapshots.eraseMemory(agentId);
          return path;
        });
        note(agentId, "info", `reset-memory: sessions and memory are gone; a backup is at ${path}`);
        return { backupPath: path };
      }),

    isUpdating: (agentId) => updating.has(agentId) || held.has(agentId),

    async holdHalves() {
      for (const { agentId } of await updates.open()) held.set(agentId, runtime.hold(agentId));
    },

    async reconcile() {
      const halves = await updates.open();
      const left = new Set(halves.map(({ agentId }) => agentId));
      const others = (await agents.troubled(runtimes.versions())).filter(({ id }) => !left.has(id));
      const works = [
        ...halves.map((half) => () => finish(half)),
        ...others.map(
          ({ id }) =>
            () =>
              retry(id).catch(told(id)),
        ),
      ];
      // One that hangs keeps few others waiting.
      const next = works.values();
      const oneByOne = async () => {
        for (const work of next) await work();
      };
      await Promise.all(Array.from({ length: SIDE_BY_SIDE }, oneByOne));
    },

    close() {
      closed = true;
      for (const agentId of [...retries.keys()]) calm(agentId);
    },
  };
}

const OWN_RUNTIME = "UPDATE agents SET runtime_version = ? WHERE id = ?";
const WANT_UP = "UPDATE agents SET wanted = 'up' WHERE id = ?";
