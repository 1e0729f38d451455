// Tells those who keep something about an agent in memory that it was written, or that it is gone.
import type { Log } from "../../src/log.ts";

export interface Changes {
  /** Told an agent's id after each committed write of its row, configuration or credentials. Must be quick. */
  onChange(listener: (agentId: string) => void): void;
  /** Told the id of each agent that was removed, after the commit; the removal is answered when all are done. */
  onDelete(listener: (agentId: string) => Promise<void> | void): void;
  changed(agentId: string): void;
  deleted(agentId: string): Promise<void>;
}

export function createChanges(log: Log): Changes {
  const onChange: ((agentId: string) => void)[] = [];
  const onDelete: ((agentId: string) => Promise<void> | void)[] = [];

  return {
    onChange: (listener) => void onChange.push(listener),
    onDelete: (listener) => void onDelete.push(listener),
    changed(agentId) {
      for (const listener of onChange) {
        try {
          listener(agentId);
        } catch (error) {
          log.error("a listener failed", { agentId, error });
        }
      }
    },
    async deleted(agentId) {
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
