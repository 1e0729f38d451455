// Notifies listeners when an agent was changed, configured or removed, so that they update what they hold in memory.
import type { Log } from "../../src/kernel/telemetry/log.ts";

export interface AgentHooks {
  /**
   * Called with an agent's id after each committed write of its row, configuration or credentials. Must return quickly.
   */
  onChange(listener: (agentId: string) => void): void;
  /** Called with an agent's id after a new configuration was committed. Must return quickly. */
  onConfigured(listener: (agentId: string) => void): void;
  /**
   * Runs before an agent is removed, to delete large data in steps; deleting the row would cascade to all of it at
   * once.
   */
  beforeDelete(work: (agentId: string) => Promise<void>): void;
  /** Called with an agent's id after its removal is committed; `remove` waits for it. */
  onDelete(listener: (agentId: string) => Promise<void> | void): void;
  notifyChanged(agentId: string): void;
  notifyConfigured(agentId: string): void;
  runBeforeDelete(agentId: string): Promise<void>;
  notifyDeleted(agentId: string): Promise<void>;
}

export function createAgentHooks(log: Log): AgentHooks {
  const onChange: ((agentId: string) => void)[] = [];
  const onConfigured: ((agentId: string) => void)[] = [];
  const beforeDelete: ((agentId: string) => Promise<void>)[] = [];
  const onDelete: ((agentId: string) => Promise<void> | void)[] = [];

  function notify(listeners: readonly ((agentId: string) => void)[], agentId: string): void {
    for (const listener of listeners) {
      try {
        listener(agentId);
      } catch (error) {
        log.error("a listener for agent changes failed", { agentId, error });
      }
    }
  }

  return {
    onChange: (listener) => void onChange.push(listener),
    onConfigured: (listener) => void onConfigured.push(listener),
    beforeDelete: (work) => void beforeDelete.push(work),
    onDelete: (listener) => void onDelete.push(listener),
    notifyChanged: (agentId) => notify(onChange, agentId),
    notifyConfigured: (agentId) => notify(onConfigured, agentId),
    async runBeforeDelete(agentId) {
      for (const work of beforeDelete) await work(agentId);
    },
    async notifyDeleted(agentId) {
      for (const listener of onDelete) {
        try {
          await listener(agentId);
        } catch (error) {
          log.error("a listener for agent removals failed", { agentId, error });
        }
      }
    },
  };
}
