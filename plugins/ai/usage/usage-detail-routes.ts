// Web routes for people who look closely at their usage: series for charts, budgets, plans, and a table as CSV.

import { Elysia, type Static } from "elysia";
import type { SettingsOf } from "../../../src/kernel/config/config.ts";
import { readLimit, readOffset } from "../../../src/kernel/http/paging.ts";
import type { Kernel, ServiceOf } from "../../../src/kernel/plugin.ts";
import type { agents as agentsPlugin } from "../../agents/index.ts";
import type { auth, PlanTable } from "../../auth/index.ts";
import { MICRO_USD_PER_CREDIT } from "../ledger/account-balances.ts";
import { periodEnd, periodStart } from "../ledger/budgets.ts";
import { allowanceOf, budgetOf } from "../ledger/plan-allowance.ts";
import type { budgetSettings } from "../settings.ts";
import { createAccountReports } from "./account-report.ts";
import { streamUsageCsv } from "./usage-csv.ts";
import { budgetList, budgetsQuery, planList, seriesQuery, toPlanItem, usageQuery, usageSeries } from "./usage-model.ts";
import { createUsageReports, dateOf, parseDayRange } from "./usage-reports.ts";
import { description } from "./usage-routes.ts";
import { createUsageSeries } from "./usage-series.ts";

interface Deps extends Pick<Kernel, "database"> {
  /** Adds all calls to the sums, which the reports read. */
  addUp(): Promise<void>;
  plans: PlanTable;
  budgets: SettingsOf<typeof budgetSettings>["planMicroUsd"];
  authService: Pick<ServiceOf<typeof auth>, "administration" | "identities">;
  agents: Pick<ServiceOf<typeof agentsPlugin>, "namesOf" | "listBudgeted" | "settings">;
}

const PAGE = 50;
const MAX_PAGE = 100;
const tags = ["Usage"];

export function usageDetailRoutes({ database, addUp, plans: table, budgets, authService, agents }: Deps) {
  const reports = createUsageReports({ database });
  const seriesOf = createUsageSeries({ database, reports: createAccountReports({ database }) });

  return new Elysia({ name: "ai.usage.details" })
    .use(authService.identities.guards)
    .get(
      "/api/usage/series",
      async ({ identity: { user }, query }): Promise<Static<typeof usageSeries>> => {
        const range = parseDayRange(query, Date.now());
        const { by = "model" } = query;
        await addUp();
        const { series, days } = await seriesOf(user.id, range, by);
        const ids = series.map(({ id }) => id).filter((id) => id !== "");
        const names = by === "agent" ? await agents.namesOf(user.id, ids) : new Map<string, string>();
        const nameOfSeries = (id: string) => (by === "agent" ? (names.get(id) ?? null) : id.slice(id.indexOf(":") + 1));
        return {
          from: dateOf(range.from),
          to: dateOf(range.to),
          by,
          series: series.map((one) => ({ ...one, name: one.id === "" ? null : nameOfSeries(one.id) })),
          days,
        };
      },
      {
        signedIn: "read",
        query: seriesQuery,
        response: { 200: usageSeries },
        detail: { tags, summary: "The account's cost by day and model, or by day and agent", description },
      },
    )
    .get(
      "/api/usage/budgets",
      async ({ identity: { user }, query }): Promise<Static<typeof budgetList>> => {
        const now = Date.now();
        const range = { limit: readLimit(query.limit, PAGE, MAX_PAGE), offset: readOffset(query.offset) };
        const found = await agents.listBudgeted(user.id, { ...range, limit: range.limit + 1 });
        const page = found.slice(0, range.limit);
        await addUp();
        const since = { day: periodStart("day", now), month: periodStart("month", now) };
        const spent = await reports.agentsSpentUsd(
          page.map(({ id }) => id),
          since,
        );
        const resets = { day: periodEnd("day", now), month: periodEnd("month", now) };
        const list = page.map(async ({ id, name }) => {
          const { budget } = await agents.settings(id);
          const { dayUsd = 0, monthUsd = 0 } = spent.get(id) ?? {};
          const status = (limitUsd: number | undefined, spentUsd: number, resetsAt: number) => ({
            limitUsd: limitUsd ?? null,
            spentUsd,
            resetsAt: new Date(resetsAt).toISOString(),
          });
          return {
            agentId: id,
            name,
            day: status(budget?.usdPerDay, dayUsd, resets.day),
            month: status(budget?.usdPerMonth, monthUsd, resets.month),
          };
        });
        const shown = await Promise.all(list);
        return { budgets: shown, count: shown.length, ...range, hasMore: found.length > range.limit };
      },
      {
        signedIn: "read",
        query: budgetsQuery,
        response: { 200: budgetList },
        detail: {
          tags,
          summary: "Budgets of the account's agents, and what is spent of them",
          description:
            "For each agent with a budget: its limits per day and month in US dollars, and what it has spent of them.",
        },
      },
    )
    .get(
      "/api/usage.csv",
      async ({ identity: { user }, query }) => {
        const range = parseDayRange(query, Date.now());
        await addUp();
        const rows = streamUsageCsv(user.id, range, {
          database,
          namesOf: (ids) => agents.namesOf(user.id, ids),
        });
        return new Response(rows, {
          headers: {
            "content-type": "text/csv; charset=utf-8",
            "content-disposition": `attachment; filename="usage-${dateOf(range.from)}-${dateOf(range.to)}.csv"`,
          },
        });
      },
      {
        signedIn: "read",
        query: usageQuery,
        detail: {
          tags,
          summary: "The account's usage by day, agent and model, as CSV",
          description: `${description} A text that a spreadsheet would take for a formula begins with an apostrophe.`,
          responses: {
            200: {
              description: "Rows with a header, oldest first",
              content: { "text/csv": { schema: { type: "string" as const } } },
            },
          },
        },
      },
    )
    .get(
      "/api/plans",
      ({ identity: { user } }): Static<typeof planList> => {
        const current = allowanceOf(user, { plans: table, budgets, ...authService.administration }).plan;
        const plans = table.plans
          .filter(({ id, hidden }) => !hidden || id === current)
          .map((plan) => toPlanItem(plan, budgetOf(plan, budgets), current));
        return { plans, count: plans.length, creditUsd: MICRO_USD_PER_CREDIT / 1e6 };
      },
      {
        signedIn: "read",
        response: { 200: planList },
        detail: {
          tags,
          summary: "The plans, what they include, and which one the caller has",
          description:
            "What each plan has room for, and what it costs, as the operator of this service has set it. A limit of null: any number. `creditUsd` is the worth of one credit.",
        },
      },
    );
}
