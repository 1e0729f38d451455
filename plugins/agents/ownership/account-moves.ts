// Keeps what is in memory of agents in step with their rows when their account moves to another cell, or comes from one.
import type { Cells } from "../../../src/kernel/cells/cells.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import type { AgentHooks } from "../agent-hooks.ts";
import type { AgentStore } from "../agent-store.ts";
import type { Freezing } from "../freezing.ts";
import type { LogStore } from "../logs/log-store.ts";

interface Deps extends Pick<Kernel, "database"> {
  hooks: Pick<AgentHooks, "notifyChanged" | "notifyConfigured" | "notifyDeleted">;
  agents: Pick<AgentStore, "invalidateOwner">;
  logs: Pick<LogStore, "flush">;
  freezing: Pick<Freezing, "changedStatement">;
}

export function joinAccountMoves(
  cells: Pick<Cells, "onAccountMoves">,
  { database, hooks, agents, logs, freezing }: Deps,
): void {
  cells.onAccountMoves({
    paused({ agentIds }) {
      for (const id of agentIds) hooks.notifyChanged(id);
    },
    beforePacked: logs.flush,
    async removed({ userId, agentIds }) {
      agents.invalidateOwner(userId);
      for (const id of agentIds) {
        hooks.notifyChanged(id);
        hooks.notifyConfigured(id);
        await hooks.notifyDeleted(id);
      }
    },
    async arrived({ userId, agentIds }) {
      agents.invalidateOwner(userId);
      for (const id of agentIds) hooks.notifyChanged(id);
      await database.write([freezing.changedStatement({ userId })]);
    },
  });
}
