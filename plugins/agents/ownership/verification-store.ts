// What is known of who stands behind an agent: written with the event, and taken off again. The proof is checked elsewhere.
import { and, eq } from "drizzle-orm";
import { GuardFailed, guard, type Statement, statement } from "../../../src/kernel/database/database.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import type { AgentHooks } from "../agent-hooks.ts";
import { type Agent, agentNotFound } from "../agent-store.ts";
import { agents } from "../schema.ts";

/** What a proof has shown. */
export interface Verification {
  verificationType: string;
  attestationUid: string | null;
  /** The wallet that was proven. */
  verifierAddress: string | null;
  /** JSON; anyone who may see the agent may see it. */
  metadata: Readonly<Record<string, unknown>>;
}

export interface VerificationStore {
  /**
   * Makes an agent verified as of now, with the event `agent.verified`; `first` is written before, in the same batch.
   * Gives the time. Rejects with 404 when the agent is gone or has another owner by now, and with whatever `first` does.
   */
  set(agent: Agent, verification: Verification, statementsBefore?: readonly Statement[]): Promise<number>;
  /** Takes a verification off an agent; nothing changes where there is none. */
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
