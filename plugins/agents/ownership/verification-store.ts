// Stores and clears an agent's verification. The verification plugin checks the proof before it calls this.
import { and, eq } from "drizzle-orm";
import { GuardFailed, guard, type Statement, statement } from "../../../src/kernel/database/database.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import type { AgentHooks } from "../agent-hooks.ts";
import { type Agent, agentNotFound } from "../agent-store.ts";
import { agents } from "../schema.ts";

/** The result of a checked proof. */
export interface Verification {
  verificationType: string;
  attestationUid: string | null;
  /** The address of the wallet that the proof is about. */
  verifierAddress: string | null;
  /** Stored as JSON; shown to everyone who may see the agent. */
  metadata: Readonly<Record<string, unknown>>;
}

export interface VerificationStore {
  /**
   * Marks an agent as verified and records the event `agent.verified`; `statementsBefore` are written first, in the
   * same batch. Returns the time. Throws 404 when the agent is gone or has another owner by now, and GuardFailed for
   * guards of `statementsBefore`.
   */
  set(agent: Agent, verification: Verification, statementsBefore?: readonly Statement[]): Promise<number>;
  /** Clears an agent's verification; does nothing where there is none. */
  clear(id: string): Promise<void>;
}

const NONE = {
  verified: false,
  verificationType: null,
  attestationUid: null,
  verifierAddress: null,
  verifiedAt: null,
  verificationMetadata: null,
};

export function createVerificationStore({
  database,
  events,
  hooks,
}: Pick<Kernel, "database" | "events"> & { hooks: AgentHooks }): VerificationStore {
  const db = database.drizzle;
  return {
    async set({ id, userId, name }, { metadata, ...fields }, statementsBefore = []) {
      const now = Date.now();
      const values = {
        ...fields,
        verified: true,
        verifiedAt: now,
        verificationMetadata: JSON.stringify(metadata),
        updatedAt: now,
      };
      const own = and(eq(agents.id, id), eq(agents.userId, userId));
      const { verificationType, attestationUid } = fields;
      const data = { id, name, verificationType, attestationUid, verifiedAt: new Date(now).toISOString() };
      try {
        await database.write([
          ...statementsBefore,
          { ...statement(db.update(agents).set(values).where(own)), after: () => hooks.notifyChanged(id) },
          guard("verified"),
          events.recordStatement("agent.verified", { userId, agentId: id, data }),
        ]);
      } catch (error) {
        throw error instanceof GuardFailed && error.guard === "verified" ? agentNotFound() : error;
      }
      return now;
    },

    async clear(id) {
      const verified = and(eq(agents.id, id), eq(agents.verified, true));
      const none = { ...NONE, updatedAt: Date.now() };
      const change = statement(db.update(agents).set(none).where(verified));
      await database.write([{ ...change, after: () => hooks.notifyChanged(id) }]);
    },
  };
}
