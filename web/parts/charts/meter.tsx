// How much of a limit is used, as a bar and in words.

import type { ReactNode } from "react";
import { t } from "../../viewer/language.ts";

interface Props {
  label: string;
  value: number;
  limit: number;
  /** "$3 of $10", beside the label. */
  words: string;
  hint?: ReactNode;
}

export function Meter({ label, value, limit, words, hint }: Props) {
  const share = limit > 0 ? Math.min(value / limit, 1) : value > 0 ? 1 : 0;
  const color = share >= 1 ? "bg-bad" : share >= 0.8 ? "bg-warn" : "bg-sea";
  return (
    <div>
      <div className="flex flex-wrap justify-between gap-x-3">
        <span className="min-w-0 font-medium">{label}</span>
        <span className={share >= 1 ? "text-bad" : share >= 0.8 ? "text-warn" : "text-soft"}>
          {words}
          {share >= 0.8 && <> · {share >= 1 ? t("used up") : t("nearly used up")}</>}
        </span>
      </div>
      <div
        role="meter"
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={limit}
        aria-valuenow={Math.min(value, limit)}
        aria-valuetext={share >= 1 ? `${words}, ${t("used up")}` : words}
        className="mt-1 h-2 overflow-hidden rounded-full border border-line bg-well"
      >
        <div className={`h-full ${color}`} style={{ width: `${share * 100}%` }} />
      </div>
      {hint && <p className="mt-0.5 text-soft text-sm">{hint}</p>}
    </div>
  );
}
