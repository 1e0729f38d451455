// What the whole server spends on models: by day in a chart, and by model, provider, account or agent in a table.

import { useQuery } from "@tanstack/react-query";
import { Download } from "lucide-react";
import { Link } from "wouter";
import { api } from "../../../api/api.ts";
import { Button } from "../../../parts/button.tsx";
import { Chart } from "../../../parts/charts/chart.tsx";
import { Choice } from "../../../parts/forms/choice.tsx";
import { type Column, Table } from "../../../parts/lists/table.tsx";
import { EmptyState } from "../../../parts/page/empty-state.tsx";
import { Loaded } from "../../../parts/page/loaded.tsx";
import { Figure, Page, Section } from "../../../parts/page/page.tsx";
import { useParameter } from "../../../viewer/address.ts";
import { formatNumber, formatUsd, t, text } from "../../../viewer/language.ts";
import type { Usage, UsageRow } from "../api-types.ts";
import { MissingCells } from "../missing-cells.tsx";
import { saveAsCsv } from "./csv.ts";
import { daysOf } from "./days.ts";

const GROUPS = ["model", "provider", "user", "agent"] as const;
type Group = (typeof GROUPS)[number];
const GROUP_LABELS = {
  model: text("Model"),
  provider: text("Provider"),
  user: text("Account"),
  agent: text("Agent"),
} as const;
const RANGES = ["7", "30", "90", "365"] as const;
const RANGE_LABELS = {
  "7": text("7 days"),
  "30": text("30 days"),
  "90": text("90 days"),
  "365": text("A year"),
} as const;
const DAY_MS = 86_400_000;

export default function UsagePage() {
  const [byText, setBy] = useParameter("by");
  const [daysText, setDays] = useParameter("days");
  const by = GROUPS.find((one) => one === byText) ?? "model";
  const days = RANGES.find((one) => one === daysText) ?? "30";
  const from = new Date(Date.now() - (Number(days) - 1) * DAY_MS).toISOString().slice(0, 10);
  const read = (group: Group | "day") => ({
    queryKey: ["admin", "usage", from, group],
    queryFn: () => api.get<Usage>("/api/admin/usage", { from, by: group }),
    refetchInterval: 60_000,
  });
  const daily = useQuery(read("day"));
  const grouped = useQuery(read(by));
  return (
    <Page
      title={t("Usage and cost")}
      intro={t("What models cost, at the prices of their providers. Days are UTC.")}
      actions={
        <Choice
          label={t("Time")}
          value={days}
          options={RANGES.map((value) => ({ value, label: t(RANGE_LABELS[value]) }))}
          onChange={setDays}
        />
      }
    >
      <MissingCells cells={daily.data?.cells} />
      <Section title={t("By day")}>
        <Loaded query={daily} height="h-64">
          {(usage) => (
            <>
              <Totals {...usage} />
              <Chart
                label={t("Cost by day")}
                kind="bars"
                isByDay
                height={180}
                times={daysOf(usage).times}
                series={[{ label: t("Cost"), values: daysOf(usage).costs, format: formatUsd }]}
              />
            </>
          )}
        </Loaded>
      </Section>
      <Section
        title={t("By part")}
        hint={t("The dearest first, at most 200.")}
        actions={
          <>
            <Choice
              label={t("By part")}
              value={by}
              options={GROUPS.map((value) => ({ value, label: t(GROUP_LABELS[value]) }))}
              onChange={setBy}
            />
            <Button disabled={!grouped.data} onClick={() => grouped.data && saveAsCsv(`usage-by-${by}`, grouped.data)}>
              <Download aria-hidden="true" />
              CSV
            </Button>
          </>
        }
      >
        <Loaded query={grouped} height="h-64">
          {(usage) =>
            usage.rows.length === 0 ? (
              <EmptyState title={t("No model was called")}>
                {t("As soon as agents answer, their use of models appears here.")}
              </EmptyState>
            ) : (
              <Table
                label={t("By part")}
                columns={columns(by, usage.total.costUsd)}
                rows={usage.rows}
                keyOf={({ key }) => key}
              />
            )
          }
        </Loaded>
      </Section>
    </Page>
  );
}

const Totals = ({ total }: Usage) => (
  <dl className="mb-3 grid grid-cols-2 gap-4 md:grid-cols-4">
    <Figure label={t("Cost")} value={formatUsd(total.costUsd)} />
    <Figure
      label={t("Of it on keys of users")}
      value={formatUsd(total.ownKeyUsd)}
      hint={t("They pay their provider themselves")}
    />
    <Figure label={t("Calls")} value={formatNumber(total.calls)} />
    <Figure label={t("Tokens in and out")} value={`${short(total.inputTokens)} / ${short(total.outputTokens)}`} />
  </dl>
);

const short = (value: number) => formatNumber(value, { notation: "compact", maximumFractionDigits: 1 });

const columns = (by: Group, total: number): Column<UsageRow>[] => [
  { key: "name", head: t(GROUP_LABELS[by]), cell: (row) => <Name by={by} {...row} /> },
  { key: "calls", head: t("Calls"), isNumber: true, cell: ({ calls }) => formatNumber(calls) },
  {
    key: "tokens",
    head: t("Tokens"),
    isNumber: true,
    cell: ({ inputTokens, outputTokens }) => short(inputTokens + outputTokens),
  },
  { key: "cost", head: t("Cost"), isNumber: true, cell: ({ costUsd }) => formatUsd(costUsd) },
  {
    key: "share",
    head: t("Share"),
    isNumber: true,
    cell: ({ costUsd }) => formatNumber(total > 0 ? costUsd / total : 0, { style: "percent" }),
  },
];

function Name({ by, key, name }: UsageRow & { by: Group }) {
  if (key === "")
    return <span className="text-soft">{by === "agent" ? t("Calls with API keys") : t("Public use")}</span>;
  if (by === "user" && name !== null) {
    return (
      <Link href={`/admin/users/${key}`} className="text-sea hover:underline">
        {name}
      </Link>
    );
  }
  if (by === "agent" && name !== null) {
    return (
      <Link href={`/admin/agents?query=${key}`} className="text-sea hover:underline">
        {name}
      </Link>
    );
  }
  return name ?? (by === "user" || by === "agent" ? <span className="text-soft">{t("Deleted")}</span> : key);
}
