// What may be spent, and how much of it is: the plan's part, credits, and the budgets of agents.

import { useState } from "react";
import { Link } from "wouter";
import { Button } from "../../parts/button.tsx";
import { Meter } from "../../parts/charts/meter.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { EmptyState } from "../../parts/page/empty-state.tsx";
import { Section } from "../../parts/page/page.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import { formatNumber, formatTime, formatUsd, rich, t, tn } from "../../viewer/language.ts";
import { type Report, useBudgets } from "./usage.ts";

const PAGE = 20;
const MAX = 100;

const dayText = (at: string) => formatTime(Date.parse(at), { dateStyle: "medium", timeZone: "UTC" });
const ofLimit = (spent: number, limit: number) =>
  t("{spent} of {limit}", { spent: formatUsd(spent), limit: formatUsd(limit) });

export function PlanBudget({ report: { plan, credits } }: { report: Report }) {
  const creditWords = tn("{credits} credit left, worth {usd}", "{credits} credits left, worth {usd}", credits.left, {
    credits: formatNumber(credits.left, { maximumFractionDigits: 1 }),
    usd: formatUsd(credits.left * credits.usdEach),
  });
  return (
    <Section title={t("This month")} hint={t("Calls on your own provider keys don't count here: you pay them there.")}>
      <div className="flex flex-col gap-4">
        {plan.limitUsd === null ? (
          <p>{t("{spent} spent this month; your plan sets no limit.", { spent: formatUsd(plan.spentUsd) })}</p>
        ) : (
          <Meter
            label={t("Included in your plan")}
            value={plan.spentUsd}
            limit={plan.limitUsd}
            words={ofLimit(plan.spentUsd, plan.limitUsd)}
            hint={t("Begins anew on {date}.", { date: dayText(plan.resetsAt) })}
          />
        )}
        <p>
          <span className="font-medium">{creditWords}</span>{" "}
          <span className="text-soft">{t("They are used when the plan's part of the month is.")}</span>
        </p>
      </div>
    </Section>
  );
}

export function AgentBudgets() {
  const [limit, setLimit] = useState(PAGE);
  const { data, error, refetch } = useBudgets(limit);
  return (
    <Section title={t("Budgets of agents")} hint={t("An agent with a budget stops answering when it is used up.")}>
      {error && !data && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Skeleton className="h-24" />}
      {data?.budgets.length === 0 && (
        <EmptyState title={t("No agent has a budget")}>
          {rich("Set one a day or a month under <a>an agent's set-up</a>, and this much is never exceeded.", {
            a: (words, key) => (
              <Link key={key} href="/" className="text-sea underline">
                {words}
              </Link>
            ),
          })}
        </EmptyState>
      )}
      <ul className="grid gap-x-8 gap-y-5 md:grid-cols-2">
        {data?.budgets.map(({ agentId, name, day, month }) => (
          <li key={agentId} className="flex min-w-0 flex-col gap-2">
            <h3>
              <Link href={`/agents/${agentId}/set-up`} className="font-semibold text-sea underline">
                {name}
              </Link>
            </h3>
            {day.limitUsd !== null && (
              <Meter
                label={t("Today")}
                value={day.spentUsd}
                limit={day.limitUsd}
                words={ofLimit(day.spentUsd, day.limitUsd)}
              />
            )}
            {month.limitUsd !== null && (
              <Meter
                label={t("This month")}
                value={month.spentUsd}
                limit={month.limitUsd}
                words={ofLimit(month.spentUsd, month.limitUsd)}
                hint={t("Begins anew on {date}.", { date: dayText(month.resetsAt) })}
              />
            )}
          </li>
        ))}
      </ul>
      {data?.hasMore && limit < MAX && (
        <div className="mt-4">
          <Button onClick={() => setLimit((before) => Math.min(MAX, before + PAGE))}>{t("Show more")}</Button>
        </div>
      )}
    </Section>
  );
}
