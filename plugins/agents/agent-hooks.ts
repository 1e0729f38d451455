// Tells those who keep something about an agent in memory that it was written, or that it is gone.
import type { Log } from "../../src/kernel/telemetry/log.ts";

export interface AgentHooks {
  /** Told an agent's id after each committed write of its row, configuration or credentials. Must be quick. */
  onChange(listener: (agentId: string) => void): void;
  /** Told an agent's id when a configuration that somebody gave it is in force. Must be quick. */
  onConfigured(listener: (agentId: string) => void): void;
  /** Asked before an agent is removed, by its id: to take away in steps what its row would take along at once. */
  beforeDelete(work: (agentId: string) => Promise<void>): void;
  /** Told the id of each agent that was removed, after the commit; the removal is answered when all are done. */
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
        log.error("a listener failed", { agentId, error });
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
          log.error("an agent could not be cleared away everywhere", { agentId, error });
        }
      }
    },
  };
}
