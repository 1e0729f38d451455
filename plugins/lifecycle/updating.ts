// An update of one agent: tried after a backup, undone when the agent is not well, ended after a kill.
import { AppError } from "../../src/errors.ts";
import type { Kernel, ServiceOf } from "../../src/plugin.ts";
import { type Agent, type agents as agentsPlugin, noSuchAgent } from "../agents/index.ts";
import type { runtime as runtimePlugin } from "../runtime/index.ts";
import { imageOf, type Runtimes } from "./runtimes.ts";
import type { Snapshots } from "./snapshots/snapshots.ts";
import { TRANSITIONS } from "./states.ts";
import type { Update, Updates } from "./updates.ts";

export interface Updated {
  agent: Agent;
  image: string;
  previousImage: string;
  /** Relative to the data folder. */
  backupPath: string;
}

/** Both run while none of the agent's turns do: what the new runtime did to it could not be undone without undoing them too. */
export interface Updating {
  /** Throws 500 `UPDATE_ROLLED_BACK` with everything as it was, and 500 `ROLLBACK_FAILED` with the agent in `error`. */
  update(agent: Agent, version: string): Promise<Updated>;
  /** Completes or undoes one that a killed process left open. Throws 500 `ROLLBACK_FAILED` as `update` does. */
  finish(half: Update): Promise<void>;
}

interface Deps extends Pick<Kernel, "log"> {
  agents: Pick<ServiceOf<typeof agentsPlugin>, "find" | "setStatus">;
  runtime: Pick<ServiceOf<typeof runtimePlugin>, "quietly">;
  runtimes: Runtimes;
  snapshots: Snapshots;
  updates: Updates;
  /** Into the agent's log. */
  note(agentId: string, level: "info" | "error", message: string): void;
}

export function createUpdating({ agents, runtime, runtimes, snapshots, updates, note, log }: Deps): Updating {
  async function found(agentId: string): Promise<Agent> {
    const agent = await agents.find(agentId);
    if (!agent) throw noSuchAgent();
    return agent;
  }

  async function undo({ agentId, backupPath, previousVersion }: Update): Promise<void> {
    try {
      // Its status is what it was before, so this one write is all: a kill leaves the update open or undone.
      await snapshots.restore(agentId, backupPath, [updates.end(agentId)]);
    } catch (cause) {
      // Its backups go with an agent: they are no reason to give.
      await found(agentId);
      throw await stuck(agentId, backupPath, cause);
    }
    note(agentId, "error", `update: rolled back to ${imageOf(previousVersion)}; nothing was lost`);
  }

  /** It is left to its owner: undone at a later start, it would take what was said since then. */
  async function stuck(agentId: string, backupPath: string, cause: unknown): Promise<AppError> {
    const why = cause instanceof AppError ? cause.message : "The operator finds the reason in the log.";
    const reason = `The update failed and could not be undone. ${why}`;
    log.error("an update could not be undone", { agentId, backupPath, error: cause });
    note(agentId, "error", `update: ${reason} Its backup is ${backupPath}.`);
    await agents.setStatus(agentId, "error", { reason, also: [updates.end(agentId)] });
    return new AppError(500, "ROLLBACK_FAILED", reason, { backupPath }, { cause });
  }

  async function complete(agentId: string): Promise<Agent> {
    const agent = await found(agentId);
    await runtimes.check(agent);
    const status = TRANSITIONS.update.to[agent.status];
    await agents.setStatus(agentId, status, { cameUp: true, also: [updates.end(agentId)] });
    return found(agentId);
  }

  return {
    update: ({ id: agentId, runtimeVersion: previousVersion, status, statusReason }, version) =>
      runtime.quietly(agentId, async () => {
        const { path: backupPath } = await snapshots.write(agentId);
        const record = { agentId, backupPath, previousVersion, previousStatus: status };
        const as = { ...(statusReason !== null && { reason: statusReason }), runtimeVersion: version };
        await agents.setStatus(agentId, status, { ...as, also: [updates.begin(record)] });
        try {
          const agent = await complete(agentId);
          note(agentId, "info", `update: from ${imageOf(previousVersion)} to ${imageOf(version)}`);
          return { agent, image: imageOf(version), previousImage: imageOf(previousVersion), backupPath };
        } catch (error) {
          await undo(record);
          const text = `The update was rolled back. ${error instanceof AppError ? error.message : ""}`.trim();
          throw new AppError(500, "UPDATE_ROLLED_BACK", text, { backupPath }, { cause: error });
        }
      }),

    finish: (half) =>
      runtime.quietly(half.agentId, async () => {
        try {
          await complete(half.agentId);
          note(half.agentId, "info", "update: completed after a restart of Berth");
        } catch (error) {
          log.warn("an update that was cut off is undone", { agentId: half.agentId, error });
          await undo(half);
        }
      }),
  };
}
