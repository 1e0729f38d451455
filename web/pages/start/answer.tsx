// Shows what a provider answered when it was tried, or why it did not.

import { Notice, Status } from "../../parts/values/status.tsx";
import { formatDuration, t } from "../../viewer/language.ts";
import { failureText, formatCost, type TryResult } from "./providers.ts";

export function Answer({ provider, result }: { provider: string; result: TryResult }) {
  if (!result.ok) {
    return (
      <div role="alert">
        <Notice tone="bad">
          <p>{failureText(provider, result)}</p>
          {result.detail && (
            <p className="text-sm">{t("{provider} says: {words}", { provider, words: result.detail })}</p>
          )}
        </Notice>
      </div>
    );
  }
  const { reply, model, ms, costUsd } = result;
  return (
    <div role="status" className="rounded-large border border-edge bg-well p-3">
      <p className="mb-2">
        <Status tone="good">{t("{provider} answers", { provider })}</Status>
      </p>
      <blockquote className="w-fit max-w-prose rounded-large rounded-tl-none border border-edge bg-card px-3 py-2">
        {reply || t("(The model answered without words.)")}
      </blockquote>
      <p className="mt-2 text-soft text-sm">
        {t("{model}, in {time}, for {cost}", { model, time: formatDuration(ms), cost: formatCost(costUsd) })}
      </p>
    </div>
  );
}
