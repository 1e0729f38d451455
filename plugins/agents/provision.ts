// Provisioning: a new agent, if the owner's subscription has room for it, in one write.

import { GuardFailed, guard, isUniqueViolation, type Statement } from "../../src/database.ts";
import { AppError, invalid } from "../../src/errors.ts";
import type { Kernel } from "../../src/plugin.ts";
import type { Agent, Agents, ModelChoice } from "./agents.ts";
import type { Configs } from "./configs.ts";
import { HAS_ROOM, noRoom } from "./room.ts";
import { RUNTIME_VERSION } from "./runtime-version.ts";
import { MODEL_CHOICES } from "./schema.ts";
import { requireConfig } from "./settings.ts";

export interface NewAgent {
  userId: string;
  /** Needs no subscription, and has room for 999 agents. */
  isAdmin: boolean;
  name: string;
  /** Default `model_a`. */
  model?: string | undefined;
  /** JSON text, kept as it is. Default `{}`. */
  config?: string | undefined;
  /** A hint that is kept and grants nothing. */
  tier?: string | undefined;
  /** Default `running`. */
  status?: "running" | "active";
  /** What is written before it, in the same write, such as its owner; what its guards refuse is thrown as it is. */
  first?: readonly Statement[];
  /** What is made together with it, in the same write. Must not hold guards. */
  also?: (agentId: string, made: NewRow) => readonly Statement[];
}

/** What is settled of an agent that is being made. */
export type NewRow = Pick<Agent, "id" | "name" | "subdomain" | "status" | "createdAt">;

const INSERT = `INSERT INTO agents
  (id, user_id, name, model, status, wanted, subdomain, tier, runtime_version, started_at, created_at, updated_at)
  SELECT ?4, ?1, ?5, ?6, ?10, 'up', ?7, ?8, ?9, ?2, ?2, ?2 WHERE ${HAS_ROOM}`;

const TIERS = ["starter", "pro", "enterprise"];

type Deps = Pick<Kernel, "database" | "events"> & { agents: Agents; configs: Configs };

/**
 * Makes agents. Throws 400 for a name, model or configuration that can't be, 401 for an account that is disabled or gone,
 * 402 `SUBSCRIPTION_REQUIRED`, and 429 `AGENT_LIMIT_REACHED` with `current` and `limit`. Whatever comes in at once, nobody
 * gets more than the limit.
 */
export function createProvision({ database, events, agents, configs }: Deps) {
  return async function provision(wanted: NewAgent): Promise<Agent> {
    const { userId, isAdmin, name, model, config = "{}", tier, status = "running", first = [], also } = wanted;
    const title = requireName(name);
    const choice = requireModel(model);
    requireConfig(config);
    const hint = tier !== undefined && TIERS.includes(tier) ? tier : null;

    for (let attempt = 1; ; attempt++) {
      const id = Bun.randomUUIDv7();
      const subdomain = subdomainOf(title);
      const now = Date.now();
      const insert: Statement = {
        sql: INSERT,
        args: [userId, now, isAdmin, id, title, choice, subdomain, hint, RUNTIME_VERSION, status],
        after: () => agents.added(userId),
      };
      const data = { id, name: title, model: choice, status, createdAt: new Date(now).toISOString() };
      try {
        await database.write([
          ...first,
          insert,
          guard("room"),
          configs.first(id, config, now),
          events.record("agent.created", { userId, agentId: id, data }),
          ...(also?.(id, { id, name: title, subdomain, status, createdAt: now }) ?? []),
        ]);
      } catch (error) {
        if (error instanceof GuardFailed && error.guard === "room") throw await noRoom(database, userId, isAdmin);
        if (isUniqueViolation(error, "agents.subdomain") && attempt < 5) continue;
        throw error;
      }
      const agent = await agents.find(id);
      if (!agent) throw new AppError(409, "AGENT_GONE", "The agent was removed as soon as it was made.");
      return agent;
    }
  };
}

/** 1 to 64 characters after trimming, none of them a control character. Contract §4. */
export function requireName(name: string): string {
  const trimmed = name.trim();
  if (trimmed === "") throw invalid({ path: "name", message: "Give the agent a name." });
  if ([...trimmed].length > 64) throw invalid({ path: "name", message: "A name has at most 64 characters." });
  if (/[\p{Cc}\p{Zl}\p{Zp}]/u.test(trimmed)) {
    throw invalid({ path: "name", message: "A name has no control characters." });
  }
  return trimmed;
}

/** One of the choices; the first where none is made. */
export function requireModel(model = "model_a"): ModelChoice {
  const choice = MODEL_CHOICES.find((known) => known === model);
  if (!choice) throw invalid({ path: "model", message: `The model is one of: ${MODEL_CHOICES.join(", ")}.` });
  return choice;
}

/** A DNS label that can be read and not be guessed from the name alone. */
export function subdomainOf(name: string): string {
  const slug = name
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, 40)
    .replace(/^-|-$/g, "");
  return `${slug || "agent"}-${randomLabel(6)}`;
}

/** Letters and digits without those that look alike. */
function randomLabel(length: number): string {
  const alphabet = "abcdefghjkmnpqrstuvwxyz23456789";
  const bytes = crypto.getRandomValues(new Uint8Array(length));
  return Array.from(bytes, (byte) => alphabet[byte % alphabet.length]).join("");
}
