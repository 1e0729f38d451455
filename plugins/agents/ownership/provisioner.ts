// Provisions agents: creates an agent in one write, within the quota of its owner's subscription.
import { LABEL_ALPHABET, SUBDOMAIN_RANDOM_LENGTH } from "../../../src/kernel/cells/marks.ts";
import { GuardFailed, guard, isUniqueViolation, type Statement } from "../../../src/kernel/database/database.ts";
import { AppError, type Issue, invalidInput } from "../../../src/kernel/errors.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import type { Agent, AgentStore, ModelChoice } from "../agent-store.ts";
import { unknownName } from "../configuration/config-check.ts";
import type { ConfigStore } from "../configuration/config-store.ts";
import type { LogStore } from "../logs/log-store.ts";
import { MODEL_CHOICES } from "../model-choices.ts";
import { RUNTIME_VERSION } from "../runtime-version.ts";
import type { AgentQuota } from "./agent-quota.ts";

export interface NewAgent {
  userId: string;
  /** An admin needs no subscription and may have 999 agents. */
  isAdmin: boolean;
  name: string;
  /** Default `model_a`. */
  model?: string | undefined;
  /** JSON text, stored unchanged. Default `{}`. */
  config?: string | undefined;
  /** A hint that is stored and grants nothing. */
  tier?: string | undefined;
  /** The configuration comes from an imported file. */
  imported?: boolean;
  /** Default `running`. */
  status?: "running" | "active";
  /**
   * Written before the agent in the same batch, such as its owner. A failed guard of theirs is thrown as GuardFailed.
   */
  statementsBefore?: readonly Statement[];
  /** Whether the statements after take long: then they don't block the event loop. */
  isLong?: boolean;
  /** Written after the agent in the same batch. Must not hold guards. */
  statementsAfter?: (agentId: string, row: NewAgentRow) => readonly Statement[];
}

/** The fields of an agent that are known before it is written. */
export type NewAgentRow = Pick<Agent, "id" | "name" | "subdomain" | "status" | "createdAt">;

const insertSql = ({ isWithin }: AgentQuota) => `INSERT INTO agents
  (id, user_id, name, model, status, wanted, subdomain, tier, runtime_version, started_at, created_at, updated_at)
  SELECT ?4, ?1, ?5, ?6, ?10, 'up', ?7, ?8, ?9, ?2, ?2, ?2 WHERE ${isWithin}`;

const TIERS = ["starter", "pro", "enterprise"];

type Deps = Pick<Kernel, "database" | "events" | "marks" | "audit"> & {
  agents: AgentStore;
  quota: AgentQuota;
  configs: ConfigStore;
  logs: Pick<LogStore, "add">;
};

/**
 * Creates agents. Throws 400 for an invalid name, model or configuration, 401 for a disabled or deleted account, 402
 * `SUBSCRIPTION_REQUIRED`, and 429 `AGENT_LIMIT_REACHED` with `current` and `limit`. Concurrent requests can't exceed
 * the quota, which is checked in the write.
 */
export function createProvisioner({ database, events, marks, audit, agents, quota, configs, logs }: Deps) {
  const INSERT = insertSql(quota);
  return async function provision(request: NewAgent): Promise<Agent> {
    const {
      userId,
      isAdmin,
      name,
      model,
      config = "{}",
      tier,
      status = "running",
      imported = false,
      statementsBefore = [],
      isLong = false,
      statementsAfter,
    } = request;
    const write = isLong ? database.writeLong : database.write;
    const trimmedName = requireName(name);
    const choice = requireModel(model);
    await configs.requireValid(config);
    const tierHint = tier !== undefined && TIERS.includes(tier) ? tier : null;

    for (let attempt = 1; ; attempt++) {
      const id = marks.newId();
      const subdomain = marks.label(generateSubdomain(trimmedName));
      const now = Date.now();
      const insert: Statement = {
        sql: INSERT,
        args: [userId, now, isAdmin, id, trimmedName, choice, subdomain, tierHint, RUNTIME_VERSION, status],
        after: () => agents.invalidateOwner(userId),
      };
      const data = { id, name: trimmedName, model: choice, status, createdAt: new Date(now).toISOString() };
      try {
        await write([
          ...statementsBefore,
          insert,
          guard("quota"),
          ...configs.firstVersionStatements(id, config, { now, imported }),
          events.recordStatement("agent.created", { userId, agentId: id, data }),
          audit.record({
            action: "agent.create",
            target: { kind: "agent", id, name: trimmedName },
            details: { owner: userId, model: choice, ...(imported && { imported }) },
          }),
          ...(statementsAfter?.(id, { id, name: trimmedName, subdomain, status, createdAt: now }) ?? []),
        ]);
      } catch (error) {
        if (error instanceof GuardFailed && error.guard === "quota") throw await quota.error(userId, isAdmin);
        if (isUniqueViolation(error, "agents.subdomain") && attempt < 5) continue;
        throw error;
      }
      logs.add(id, "info", `create: the agent is ${status}`, "lifecycle");
      const agent = await agents.find(id);
      if (!agent) throw new AppError(409, "AGENT_GONE", "The agent was removed right after it was created.");
      return agent;
    }
  };
}

/** A warning for a tier that is not the plan of the owner, whose allowances count. */
export function findTierWarnings(tier: string | undefined, plan: string): Issue[] {
  if (tier === undefined || tier === plan) return [];
  const message = TIERS.includes(tier)
    ? `This is kept as a hint. What the agent may use follows the plan of your account, ${plan}.`
    : unknownName(`This is no tier, and is not kept. The tiers are: ${TIERS.join(", ")}.`, tier, TIERS);
  return [{ path: "tier", message }];
}

/** The trimmed name; 400 unless it has 1 to 64 characters, none of them a control character. */
export function requireName(name: string): string {
  const trimmed = name.trim();
  if (trimmed === "") throw invalidInput({ path: "name", message: "Give the agent a name." });
  if ([...trimmed].length > 64) throw invalidInput({ path: "name", message: "A name has at most 64 characters." });
  if (/[\p{Cc}\p{Zl}\p{Zp}]/u.test(trimmed)) {
    throw invalidInput({ path: "name", message: "A name has no control characters." });
  }
  return trimmed;
}

/** The model choice, `model_a` by default; 400 for an unknown one. */
export function requireModel(model = "model_a"): ModelChoice {
  const choice = MODEL_CHOICES.find((known) => known === model);
  if (!choice) throw invalidInput({ path: "model", message: `The model is one of: ${MODEL_CHOICES.join(", ")}.` });
  return choice;
}

/** A DNS label from the name and six random characters, so that it can't be guessed from the name alone. */
export function generateSubdomain(name: string): string {
  const slug = name
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, 40)
    .replace(/^-|-$/g, "");
  return `${slug || "agent"}-${randomLabel(SUBDOMAIN_RANDOM_LENGTH)}`;
}

/** Random letters and digits, without those that look alike. */
function randomLabel(length: number): string {
  const bytes = crypto.getRandomValues(new Uint8Array(length));
  return Array.from(bytes, (byte) => LABEL_ALPHABET[byte % LABEL_ALPHABET.length]).join("");
}
