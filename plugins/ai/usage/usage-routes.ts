// Web routes for usage reports of accounts and agents, by day, model and agent.

import { Elysia, type Static } from "elysia";
import type { SettingsOf } from "../../../src/kernel/config/config.ts";
import type { Kernel, ServiceOf } from "../../../src/kernel/plugin.ts";
import type { agents as agentsPlugin } from "../../agents/index.ts";
import type { auth, PlanTable } from "../../auth/index.ts";
import { MICRO_USD_PER_CREDIT } from "../ledger/account-balances.ts";
import { type Period, periodEnd, periodStart } from "../ledger/budgets.ts";
import { allowanceOf } from "../ledger/plan-allowance.ts";
import type { budgetSettings } from "../settings.ts";
import { createAccountReports } from "./account-report.ts";
import { accountUsage, agentUsage, usageQuery } from "./usage-model.ts";
import { createUsageReports, type DayRange, dateOf, MAX_DAYS, parseDayRange } from "./usage-reports.ts";

interface Deps extends Pick<Kernel, "database"> {
  /** Adds all calls to the sums, which the reports read. */
  addUp(): Promise<void>;
  plans: PlanTable;
  budgets: SettingsOf<typeof budgetSettings>["planMicroUsd"];
  authService: Pick<ServiceOf<typeof auth>, "administration" | "identities">;
  agents: Pick<ServiceOf<typeof agentsPlugin>, "guards" | "namesOf" | "settings">;
  /** The name for people of what serves a model: the provider's, or the demo model's. */
  labelOf(provider: string, model: string): string;
}

export const description = `Days are UTC; without \`from\` the last 30, at most ${MAX_DAYS}. Calls in progress are not included.`;

export function usageRoutes({ database, addUp, plans, budgets, authService, agents, labelOf }: Deps) {
  const reports = createUsageReports({ database });
  const accountReports = createAccountReports({ database });
  const dates = ({ from, to }: DayRange) => ({ from: dateOf(from), to: dateOf(to) });

  async function budgetStatus(agentId: string, period: Period, limitUsd: number | null) {
    const now = Date.now();
    const spentUsd = await reports.agentSpentUsd(agentId, periodStart(period, now));
    return { limitUsd, spentUsd, resetsAt: new Date(periodEnd(period, now)).toISOString() };
  }

  /** A provider that this build does not have any more keeps its id. */
  const withProviderName = <Item extends { provider: string; model: string }>(item: Item) => ({
    ...item,
    providerName: labelOf(item.provider, item.model),
  });

  return new Elysia({ name: "ai.usage" })
    .use(authService.identities.guards)
    .use(agents.guards)
    .get(
      "/api/usage",
      async ({ identity: { user }, query }): Promise<Static<typeof accountUsage>> => {
        const now = Date.now();
        const range = parseDayRange(query, now);
        await addUp();
        const [report, balance] = await Promise.all([
          accountReports.report(user.id, range),
          reports.accountBalance(user.id, periodStart("month", now)),
        ]);
        const names = await agents.namesOf(
          user.id,
          report.agents.flatMap(({ agentId }) => agentId ?? []),
        );
        const { plan, microUsd } = allowanceOf(user, { plans, budgets, ...authService.administration });
        return {
          ...dates(range),
          ...report,
          models: report.models.map(withProviderName),
          agents: report.agents.map((one) => ({ name: names.get(one.agentId ?? "") ?? null, ...one })),
          plan: {
            plan,
            limitUsd: Number.isFinite(microUsd) ? microUsd / 1e6 : null,
            spentUsd: balance.spentUsd,
            resetsAt: new Date(periodEnd("month", now)).toISOString(),
          },
          credits: { left: balance.credits, usdEach: MICRO_USD_PER_CREDIT / 1e6 },
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
        const range = parseDayRange(query, Date.now());
        await addUp();
        const [report, { budget }] = await Promise.all([reports.forAgent(agentId, range), agents.settings(agentId)]);
        const [day, month] = await Promise.all([
          budgetStatus(agentId, "day", budget?.usdPerDay ?? null),
          budgetStatus(agentId, "month", budget?.usdPerMonth ?? null),
        ]);
        const models = report.models.map(withProviderName);
        return { agentId, ...dates(range), ...report, models, budget: { day, month } };
      },
      {
        ownAgent: { scope: "read", kind: "data" },
        query: usageQuery,
        response: { 200: agentUsage },
        detail: { tags: ["Usage"], summary: "Show an agent's usage and remaining budget", description },
      },
    );
}
