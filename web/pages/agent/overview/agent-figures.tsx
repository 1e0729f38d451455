// Key figures of an agent, and its answers and costs of two weeks.

import { useState } from "react";
import { Link } from "wouter";
import type { AgentOverview } from "../../../data/agents.ts";
import { modelName, useModelChoices } from "../../../data/models.ts";
import { Chart } from "../../../parts/charts/chart.tsx";
import { ErrorNote } from "../../../parts/error-note.tsx";
import { Choice } from "../../../parts/forms/choice.tsx";
import { Figure, Section } from "../../../parts/page/page.tsx";
import { Skeleton } from "../../../parts/skeleton.tsx";
import { When } from "../../../parts/values/when.tsx";
import { formatNumber, formatUsd, t } from "../../../viewer/language.ts";
import { everyDay, useAgentUsage } from "../usage.ts";

const DAYS = 14;

interface Props {
  id: string;
  agent: AgentOverview | undefined;
  /** Whether what is known of the agent can't be had now. */
  hasFailed: boolean;
}

export function AgentFigures({ id, agent, hasFailed }: Props) {
  const { data: usage, error, refetch } = useAgentUsage(id, DAYS);
  const { data: models } = useModelChoices(id);
  const [shown, setShown] = useState<"calls" | "cost">("calls");
  const days = usage ? everyDay(usage) : [];
  const hasData = days.some(({ calls }) => calls > 0);
  const series =
    shown === "calls"
      ? { label: t("Calls of the model"), values: days.map(({ calls }) => calls) }
      : { label: t("Cost"), values: days.map(({ costUsd }) => costUsd), format: formatUsd };
  return (
    <Section
      title={t("The last two weeks")}
      actions={
        hasData && (
          <Choice
            label={t("Show")}
            value={shown}
            onChange={setShown}
            options={[
              { value: "calls", label: t("Calls") },
              { value: "cost", label: t("Cost") },
            ]}
          />
        )
      }
    >
      {error && (
        <div className="mb-4">
          <ErrorNote error={error} onRetry={() => void refetch()} />
        </div>
      )}
      <dl className="grid grid-cols-[repeat(auto-fit,minmax(9.75rem,1fr))] gap-x-3 gap-y-3">
        <Figure label={t("Cost today")} value={agent ? formatUsd(agent.costTodayUsd) : missing(hasFailed)} />
        <Figure
          label={t("This month")}
          value={usage ? formatUsd(usage.budget.month.spentUsd) : missing(error !== null)}
          hint={
            usage?.budget.month.limitUsd
              ? t("of {limit}", { limit: formatUsd(usage.budget.month.limitUsd) })
              : undefined
          }
        />
        <Figure
          label={t("Calls in 14 days")}
          value={usage ? formatNumber(usage.total.calls) : missing(error !== null)}
        />
        <Figure
          label={t("Last used")}
          value={agent ? agent.lastActivityAt ? <When at={agent.lastActivityAt} /> : t("Not yet") : missing(hasFailed)}
        />
      </dl>
      {hasData && (
        <div className="mt-4">
          <Chart
            label={series.label}
            times={days.map(({ at }) => at)}
            series={[series]}
            kind="bars"
            isByDay
            height={160}
          />
        </div>
      )}
      <p className="mt-3 border-edge border-t pt-3 text-soft">
        {t("Model")}: <span className="text-ink">{agent ? modelName(agent, models) : ""}</span>{" "}
        <Link href={`/agents/${id}/set-up`} className="text-sea underline">
          {t("Change")}
        </Link>
      </p>
    </Section>
  );
}

const missing = (hasFailed: boolean) => (hasFailed ? "–" : <Skeleton className="mt-1 h-5 w-16" />);
