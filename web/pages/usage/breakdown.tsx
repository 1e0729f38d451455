// The tables by model and by agent, each with its share of the cost.

import type { ReactNode } from "react";
import { Link } from "wouter";
import { type Column, Table } from "../../parts/lists/table.tsx";
import { Section } from "../../parts/page/page.tsx";
import { formatNumber, formatUsd, said, t } from "../../viewer/language.ts";
import type { Report, Sums } from "./usage.ts";

const compact = (value: number) => formatNumber(value, { notation: "compact", maximumFractionDigits: 1 });

/** The columns that both tables have. */
function sumColumns<Row extends Sums>(total: Sums): Column<Row>[] {
  return [
    { key: "cost", head: t("Cost"), isNumber: true, cell: ({ costUsd }) => formatUsd(costUsd) },
    {
      key: "share",
      head: t("Share"),
      isNumber: true,
      cell: ({ costUsd }) => <Share share={total.costUsd > 0 ? costUsd / total.costUsd : 0} />,
    },
    { key: "calls", head: t("Calls"), isNumber: true, cell: ({ calls }) => formatNumber(calls) },
    {
      key: "tokens",
      head: t("Tokens in / out"),
      isNumber: true,
      cell: ({ inputTokens, outputTokens }) => `${compact(inputTokens)} / ${compact(outputTokens)}`,
    },
  ];
}

const Share = ({ share }: { share: number }) => (
  <span className="flex items-center justify-end gap-2">
    <span aria-hidden="true" className="hidden h-1.5 w-16 overflow-hidden rounded-full bg-well sm:block">
      <span className="block h-full bg-sea" style={{ width: `${share * 100}%` }} />
    </span>
    <span className="min-w-9">{formatNumber(share, { style: "percent" })}</span>
  </span>
);

export function Breakdown({ report: { models, agents, total } }: { report: Report }) {
  const modelName = ({ providerName, model }: Report["models"][number]): ReactNode => (
    <div className="min-w-44">
      <span className="font-mono text-sm">{model}</span> <span className="text-soft text-sm">{said(providerName)}</span>
    </div>
  );
  return (
    <>
      <Section title={t("By model")}>
        <Table
          label={t("Cost by model")}
          columns={[
            { key: "model", head: t("Model"), cell: modelName },
            ...sumColumns<Report["models"][number]>(total),
          ]}
          rows={models}
          keyOf={({ provider, model }) => `${provider}:${model}`}
        />
      </Section>
      <Section title={t("By agent")} hint={agents.length >= 200 ? t("The 200 dearest; the CSV has all.") : undefined}>
        <Table
          label={t("Cost by agent")}
          columns={[
            {
              key: "agent",
              head: t("Agent"),
              cell: (row) => (
                <div className="min-w-44">
                  <AgentName {...row} />
                </div>
              ),
            },
            ...sumColumns<Report["agents"][number]>(total),
          ]}
          rows={agents}
          keyOf={({ agentId }) => agentId ?? ""}
        />
      </Section>
    </>
  );
}

function AgentName({ agentId, name }: Report["agents"][number]) {
  if (agentId === null) return <span className="text-soft">{t("Your own API calls")}</span>;
  if (name === null) return <span className="text-soft">{t("A deleted agent")}</span>;
  return (
    <Link href={`/agents/${agentId}`} className="text-sea underline">
      {name}
    </Link>
  );
}
