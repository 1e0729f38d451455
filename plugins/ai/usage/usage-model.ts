// Schemas of usage reports on the wire.
import { type Static, t } from "elysia";
import { integer } from "../../../src/kernel/http/body/response-types.ts";
import { type Plan, UNLIMITED } from "../../auth/index.ts";

const date = (description: string) => t.String({ description });
const usd = (description: string) => t.Number({ description: `USD. ${description}` });
const nullable = <Schema extends Parameters<typeof t.Union>[0][number]>(schema: Schema) => t.Union([schema, t.Null()]);

export const usageQuery = t.Object({
  from: t.Optional(t.String({ description: "First day, such as 2026-07-02, or an ISO 8601 time in it; UTC" })),
  to: t.Optional(t.String({ description: "Last day, which is in the report; by default today" })),
});

const sums = {
  calls: integer(),
  cachedCalls: integer({ description: "Of them answered from the cache, for nothing" }),
  estimatedCalls: integer({ description: "Of them without a count of the provider: tokens and cost are a guess" }),
  inputTokens: integer(),
  outputTokens: integer(),
  costUsd: usd("At the prices of the catalogue"),
  ownKeyUsd: usd("Part of the cost that went to the provider on own keys"),
  creditsUsd: usd("Part of the cost that credits paid"),
};

const report = {
  from: date("First day, UTC"),
  to: date("Last day, UTC"),
  total: t.Object(sums, { title: "UsageTotal" }),
  days: t.Array(t.Object({ date: date("UTC"), ...sums }, { title: "UsageDay" }), {
    description: "Days with calls, oldest first",
  }),
  models: t.Array(
    t.Object(
      { provider: t.String(), providerName: t.String({ description: "For people" }), model: t.String(), ...sums },
      { title: "ModelUsage" },
    ),
    { description: "The dearest first" },
  ),
};

const budget = t.Object(
  {
    limitUsd: nullable(usd("Null: no limit")),
    spentUsd: t.Number(),
    resetsAt: t.String({ description: "ISO 8601: the period ends, UTC" }),
  },
  { title: "SpentBudget" },
);

export const accountUsage = t.Object({
  ...report,
  agents: t.Array(
    t.Object({
      agentId: nullable(t.String({ description: "Null: calls of the account itself, with its API keys" })),
      name: nullable(t.String({ description: "Null also for an agent that was deleted" })),
      ...sums,
    }),
    { description: "The dearest first, at most 200" },
  ),
  plan: t.Object({
    plan: t.String({ description: "In force now" }),
    ...budget.properties,
    limitUsd: nullable(usd("What the plan includes of the operator's keys this month; null: no limit")),
  }),
  credits: t.Object({
    left: t.Number({ description: "With the part of the one that is begun" }),
    usdEach: t.Number({ description: "USD of model use that one is worth, once the plan's part is used" }),
  }),
});

export const agentUsage = t.Object({
  agentId: t.String(),
  ...report,
  budget: t.Object({ day: budget, month: budget }),
});

export const seriesQuery = t.Object({
  ...usageQuery.properties,
  by: t.Optional(
    t.Unsafe<"model" | "agent">(
      t.Union([t.Literal("model"), t.Literal("agent")], {
        description: "Default `model`",
        error: "Give model or agent.",
      }),
    ),
  ),
});

export const usageSeries = t.Object({
  from: date("First day, UTC"),
  to: date("Last day, UTC"),
  by: t.Union([t.Literal("model"), t.Literal("agent")]),
  series: t.Array(
    t.Object({
      id: t.String({ description: "`provider_N:model`, or an agent's id; empty: all others together" }),
      name: nullable(t.String({ description: "For people; null for an agent that was deleted" })),
      costUsd: t.Number(),
    }),
    { description: "The dearest first, at most six and the others" },
  ),
  days: t.Array(
    t.Object({
      date: date("UTC"),
      costUsd: t.Array(t.Number(), { description: "In the order of `series`" }),
      calls: integer(),
      tokens: integer(),
    }),
    { description: "Every day of the range, oldest first" },
  ),
});

export const budgetsQuery = t.Object({
  limit: t.Optional(t.String({ description: "1 to 100; more counts as 100. Default 50" })),
  offset: t.Optional(t.String({ description: "0 or more. Default 0" })),
});

export const budgetList = t.Object({
  budgets: t.Array(t.Object({ agentId: t.String(), name: t.String(), day: budget, month: budget }), {
    description: "Agents whose configuration sets a budget, newest first",
  }),
  count: integer(),
  limit: integer(),
  offset: integer(),
  hasMore: t.Boolean(),
});

const limit = (description: string) => nullable(integer({ description }));

export const planList = t.Object({
  plans: t.Array(
    t.Object({
      id: t.String(),
      name: nullable(t.String({ description: "As the operator calls it; null for the name of the id" })),
      price: nullable(
        t.Object(
          {
            minorUnits: integer({ description: "Such as cents" }),
            currency: t.String({ description: "Such as usd" }),
          },
          { description: "Of a month; null: it is not for sale" },
        ),
      ),
      trialDays: integer({ description: "Before the first payment" }),
      agents: limit("How many it has room for; 0: it includes none"),
      schedules: limit("Of all agents together"),
      streams: limit("Live streams at a time"),
      channels: limit("Connected bots of all agents together"),
      skills: limit("Folders with a SKILL.md"),
      skillBytes: limit("Of their texts, in all versions"),
      fileBytes: limit("Of files that people send to agents"),
      knowledgeFiles: limit("That one agent knows"),
      knowledgeBytes: limit("Of the files that one agent knows"),
      knowledgePassages: limit("Of these files that are searched"),
      features: t.Array(t.String(), { description: "`apiKeys` and `webhooks`, if it includes them" }),
      includedUsd: nullable(usd("What it includes of the operator's keys a month; null: no limit")),
      isCurrent: t.Boolean(),
    }),
    { description: "Those that are offered, and the caller's own, in the operator's order" },
  ),
  count: integer(),
  creditUsd: usd("What one credit is worth, once the plan's part is used"),
});

/** @param budget whole micro-USD a month */
export function toPlanItem(plan: Plan, budget: number, current: string): Static<typeof planList>["plans"][number] {
  const { id, name = null, price = null, trialDays, features } = plan;
  const room = (limit: number) => (limit === UNLIMITED ? null : limit);
  return {
    ...{ id, name, price, trialDays, features: [...features], isCurrent: id === current },
    ...{ agents: room(plan.agents), schedules: room(plan.schedules), streams: room(plan.streams) },
    ...{ channels: room(plan.channels), skills: room(plan.skills), skillBytes: room(plan.skillBytes) },
    ...{ fileBytes: room(plan.fileBytes), knowledgeFiles: room(plan.knowledgeFiles) },
    ...{ knowledgeBytes: room(plan.knowledgeBytes), knowledgePassages: room(plan.knowledgePassages) },
    includedUsd: Number.isFinite(budget) ? budget / 1e6 : null,
  };
}
