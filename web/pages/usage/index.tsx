// What the account's agents cost: by day, model and agent, against budgets and the plan.

import { Download } from "lucide-react";
import { withQuery } from "../../api/api.ts";
import { ButtonLink } from "../../parts/button.tsx";
import { ErrorNote } from "../../parts/error-note.tsx";
import { Choice } from "../../parts/forms/choice.tsx";
import { TextField } from "../../parts/forms/field.tsx";
import { EmptyState } from "../../parts/page/empty-state.tsx";
import { Figure, Page } from "../../parts/page/page.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import { formatNumber, formatUsd, t, tn } from "../../viewer/language.ts";
import { Breakdown } from "./breakdown.tsx";
import { AgentBudgets, PlanBudget } from "./budgets.tsx";
import { CostChart } from "./cost-chart.tsx";
import { Plans } from "./plans.tsx";
import { dayOf, PRESET_LABELS, PRESETS, type Range, useRange } from "./range.ts";
import { type Report, type Sums, useReport } from "./usage.ts";

export default function UsagePage() {
  const { preset, range, setPreset, setFrom, setTo } = useRange();
  const { data, error, refetch } = useReport(range);
  return (
    <Page
      title={t("Usage")}
      intro={t("What your agents cost, and how much of your plan and budgets is used.")}
      actions={<Export range={range} />}
    >
      <div className="mb-5 flex flex-wrap items-end gap-3">
        <div className="max-w-full overflow-x-auto">
          <Choice
            label={t("Time")}
            value={preset}
            onChange={(value) => setPreset(value === "30d" ? "" : value)}
            options={PRESETS.map((value) => ({ value, label: t(PRESET_LABELS[value]) }))}
          />
        </div>
        {preset === "own" && (
          <>
            <TextField
              label={t("From")}
              type="date"
              value={range.from}
              max={range.to}
              onChange={(event) => setFrom(event.target.value)}
            />
            <TextField
              label={t("To")}
              type="date"
              value={range.to}
              min={range.from}
              max={dayOf(Date.now())}
              onChange={(event) => setTo(event.target.value)}
            />
          </>
        )}
      </div>
      {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Skeleton className="h-96" />}
      {data && <Shown report={data} range={range} />}
    </Page>
  );
}

function Shown({ report, range }: { report: Report; range: Range }) {
  return (
    <>
      <Figures total={report.total} />
      {report.total.calls === 0 ? (
        <div className="mb-5">
          <EmptyState
            title={t("No calls in this time")}
            action={<ButtonLink href="/">{t("To your agents")}</ButtonLink>}
          >
            {t("As soon as an agent answers, its calls, tokens and cost are counted here, call by call.")}
          </EmptyState>
        </div>
      ) : (
        <>
          <CostChart range={range} />
          <Breakdown report={report} />
        </>
      )}
      <PlanBudget report={report} />
      <AgentBudgets />
      <Plans />
    </>
  );
}

function Figures({ total }: { total: Sums }) {
  const { calls, cachedCalls, estimatedCalls, inputTokens, outputTokens, costUsd, ownKeyUsd, creditsUsd } = total;
  const compact = (value: number) => formatNumber(value, { notation: "compact", maximumFractionDigits: 1 });
  return (
    <dl className="mb-5 grid grid-cols-2 gap-x-6 gap-y-4 rounded-large border border-edge bg-card p-4 lg:grid-cols-4">
      <Figure
        label={t("Cost")}
        value={formatUsd(costUsd)}
        hint={ownKeyUsd > 0 && t("{usd} of it on own keys", { usd: formatUsd(ownKeyUsd) })}
      />
      <Figure
        label={t("Calls of models")}
        value={formatNumber(calls)}
        hint={
          cachedCalls > 0
            ? t("{n} from the cache, for nothing", { n: formatNumber(cachedCalls) })
            : calls > 0 && t("{usd} a call", { usd: formatUsd(costUsd / calls) })
        }
      />
      <Figure
        label={t("Tokens in / out")}
        value={`${compact(inputTokens)} / ${compact(outputTokens)}`}
        hint={estimatedCalls > 0 && tn("{n} call is an estimate", "{n} calls are estimates", estimatedCalls)}
      />
      <Figure
        label={t("Paid by credits")}
        value={formatUsd(creditsUsd)}
        hint={creditsUsd === 0 && t("The plan's part is used first.")}
      />
    </dl>
  );
}

/** A plain link, so that the browser saves the table while it is read. */
const Export = ({ range }: { range: Range }) => (
  <a
    href={withQuery("/api/usage.csv", { ...range })}
    download
    className="inline-flex min-h-8 items-center gap-1.5 rounded-round border border-line bg-card px-3 py-1 font-medium hover:bg-hover"
  >
    <Download className="size-4" aria-hidden="true" />
    {t("Export as CSV")}
  </a>
);
