// The web's routes of usage: what an account and its agents have used, by day, by model, by agent.
import { Elysia, type Static } from "elysia";
import type { Kernel, ServiceOf } from "../../src/plugin.ts";
import type { agents as agentsPlugin } from "../agents/index.ts";
import type { auth } from "../auth/index.ts";
import { type Period, periodEnd, periodStart } from "./budgets.ts";
import { MICRO_USD_PER_CREDIT } from "./credits.ts";
import { allowanceOf } from "./credits-plans.ts";
import { accountUsage, agentUsage, usageQuery } from "./usage-model.ts";
import { createReports, dateOf, MAX_DAYS, type Range, readRange } from "./usage-report.ts";

interface Deps extends Pick<Kernel, "database" | "config"> {
  accounts: Pick<ServiceOf<typeof auth>, "administration" | "identities">;
  agents: Pick<ServiceOf<typeof agentsPlugin>, "guards" | "list" | "settings">;
}

const description = `Days are UTC; without \`from\` the last 30, at most ${MAX_DAYS}. Calls under way are not in it yet.`;

export function usageRoutes({ database, config, accounts, agents }: Deps) {
  const reports = createReports({ database });
  const dates = ({ from, to }: Range) => ({ from: dateOf(from), to: dateOf(to) });

  async function budgetOf(agentId: string, period: Period, limitUsd: number | null) {
    const now = Date.now();
    const spentUsd = await reports.spentBy(agentId, periodStart(period, now));
    return { limitUsd, spentUsd, resetsAt: new Date(periodEnd(period, now)).toISOString() };
  }

  return new Elysia({ name: "ai.usage" })
    .use(accounts.identities.guards)
    .use(agents.guards)
    .get(
      "/api/usage",
      async ({ identity: { user }, query }): Promise<Static<typeof accountUsage>> => {
        const now = Date.now();
        const range = readRange(query, now);
        const [report, purse, own] = await Promise.all([
          reports.ofAccount(user.id, range),
          reports.purse(user.id, periodStart("month", now)),
          agents.list(user.id),
        ]);
        const names = new Map(own.map(({ id, name }) => [id, name]));
        const { plan, micro } = allowanceOf(user, { config, isAdmin: accounts.administration.isAdmin });
        return {
          ...dates(range),
          ...report,
          agents: report.agents.map((one) => ({ name: names.get(one.agentId ?? "") ?? null, ...one })),
          plan: {
            plan,
            limitUsd: Number.isFinite(micro) ? micro / 1e6 : null,
            spentUsd: purse.spentUsd,
            resetsAt: new Date(periodEnd("month", now)).toISOString(),
          },
          credits: { left: purse.credits, usdEach: MICRO_USD_PER_CREDIT / 1e6 },
        };
      },
      {
        signedIn: "read",
        query: usageQuery,
        response: { 200: accountUsage },
        detail: { tags: ["Usage"], summary: "What the caller's account and its agents have used", description },
      },
    )
    .get(
      "/api/agents/:id/usage",
      async ({ agent: { id: agentId }, query }): Promise<Static<typeof agentUsage>> => {
        const range = readRange(query, Date.now());
        const [report, { budget }] = await Promise.all([reports.ofAgent(agentId, range), agents.settings(agentId)]);
        const [day, month] = await Promise.all([
          budgetOf(agentId, "day", budget?.usdPerDay ?? null),
          budgetOf(agentId, "month", budget?.usdPerMonth ?? null),
        ]);
        return { agentId, ...dates(range), ...report, budget: { day, month } };
      },
      {
        ownAgent: { scope: "read", kind: "data" },
        query: usageQuery,
        response: { 200: agentUsage },
        detail: { tags: ["Usage"], summary: "What an agent has used, and what is left of its budget", description },
      },
    );
}
