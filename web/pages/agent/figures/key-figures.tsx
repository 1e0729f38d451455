// The sums of the chosen time in one row.

import { Figure } from "../../../parts/page/page.tsx";
import { formatDuration, formatNumber, formatUsd, t, tn } from "../../../viewer/language.ts";
import type { Figures } from "./data.ts";

export function KeyFigures({ total }: { total: Figures }) {
  const turns = total.turnsOk + total.turnsFailed;
  const { averageAnswerMs: average, p95AnswerMs: slow } = total;
  return (
    <dl className="grid grid-cols-2 gap-4 sm:grid-cols-3 lg:grid-cols-5">
      <Figure
        label={t("Messages received")}
        value={formatNumber(total.received)}
        hint={tn("{n} answer", "{n} answers", total.sent)}
      />
      <Figure label={t("Cost")} value={formatUsd(total.costUsd)} hint={perAnswer(total)} />
      <Figure
        label={t("Answer time")}
        value={average === null ? "–" : formatDuration(average)}
        hint={slow === null ? undefined : t("95 of 100 within {time}", { time: formatDuration(slow) })}
      />
      <Figure
        label={t("Tokens")}
        value={compact(total.inputTokens + total.outputTokens)}
        hint={t("{n} of them written", { n: compact(total.outputTokens) })}
      />
      <Figure
        label={t("Success")}
        value={turns === 0 ? "–" : formatNumber(total.turnsOk / turns, { style: "percent", maximumFractionDigits: 1 })}
        hint={t("{n} failed", { n: formatNumber(total.turnsFailed) })}
      />
    </dl>
  );
}

const compact = (value: number) => formatNumber(value, { notation: "compact", maximumFractionDigits: 1 });

const perAnswer = ({ costUsd, turnsOk }: Figures) =>
  turnsOk === 0 ? undefined : t("{cost} an answer", { cost: formatUsd(costUsd / turnsOk) });
