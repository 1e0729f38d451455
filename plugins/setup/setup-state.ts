// Finds out how far a person has come with the first run, from what exists.

import type { Database, Statement } from "../../src/kernel/database/database.ts";
import { AppError } from "../../src/kernel/errors.ts";
import type { ServiceOf } from "../../src/kernel/plugin.ts";
import type { agents as agentsPlugin } from "../agents/index.ts";
import type { ai } from "../ai/index.ts";
import type { channels } from "../channels/index.ts";
import type { runtime } from "../runtime/index.ts";
import { type SkippableStep, STEPS, type Step } from "./model.ts";

interface Deps {
  database: Pick<Database, "read" | "write">;
  agents: Pick<ServiceOf<typeof agentsPlugin>, "page" | "resolveCurrent" | "requireQuota">;
  ai: Pick<ServiceOf<typeof ai>, "isDemo">;
  sessions: Pick<ServiceOf<typeof runtime>["sessions"], "list">;
  channels: Pick<ServiceOf<typeof channels>, "listChannelIds">;
}

/** The newest agents that are looked at: a person with more has found the way. */
const MAX_AGENTS = 20;

export type SetupState = ReturnType<typeof createSetupState>;

export function createSetupState({ database, agents, ai, sessions, channels }: Deps) {
  async function skippedBy(userId: string): Promise<Set<string>> {
    const { rows } = await database.read("SELECT step FROM setup_skips WHERE user_id = ?", [userId]);
    return new Set(rows.map(({ step }) => String(step)));
  }

  async function hasQuota(caller: { userId: string; isAdmin: boolean }): Promise<boolean> {
    try {
      await agents.requireQuota(caller);
      return true;
    } catch (error) {
      if (error instanceof AppError) return false;
      throw error;
    }
  }

  /** Whether one of these agents passes, newest first. */
  async function some(ids: readonly string[], passes: (id: string) => Promise<boolean>): Promise<boolean> {
    for (const id of ids) if (await passes(id)) return true;
    return false;
  }

  return {
    async of(caller: { userId: string; isAdmin: boolean }) {
      const { userId, isAdmin } = caller;
      const [skipped, owned, current, canMakeAgents] = await Promise.all([
        skippedBy(userId),
        agents.page(userId, { limit: MAX_AGENTS }),
        agents.resolveCurrent(userId),
        hasQuota(caller),
      ]);
      const ids = owned.map(({ id }) => id);
      const [hasTalked, hasChannel] = await Promise.all([
        some(ids, async (id) => (await sessions.list(id)).some(({ messageCount }) => messageCount > 0)),
        some(ids, async (id) => (await channels.listChannelIds(id)).length > 0),
      ]);
      const isDone: Record<Step, boolean> = {
        account: true,
        model: !ai.isDemo(),
        agent: owned.length > 0,
        talk: hasTalked,
        channel: hasChannel,
      };
      const steps = STEPS.filter((id) => id !== "model" || isAdmin).map((id) => ({
        id,
        status: isDone[id] ? ("done" as const) : skipped.has(id) ? ("skipped" as const) : ("open" as const),
      }));
      const next = steps.find(({ status }) => status === "open")?.id ?? null;
      return {
        steps,
        next,
        complete: next === null,
        serving: ai.isDemo() ? ("demo" as const) : ("own" as const),
        canMakeAgents,
        agent: current ? { id: current.id, name: current.name } : null,
      };
    },

    /** Stores which steps a person leaves out; the others are open again. */
    async skip(userId: string, steps: readonly SkippableStep[]): Promise<void> {
      const now = Date.now();
      const statements: Statement[] = [
        { sql: "DELETE FROM setup_skips WHERE user_id = ?", args: [userId] },
        ...[...new Set(steps)].map((step) => ({
          sql: "INSERT INTO setup_skips (user_id, step, skipped_at) VALUES (?, ?, ?)",
          args: [userId, step, now],
        })),
      ];
      await database.write(statements);
    },
  };
}
