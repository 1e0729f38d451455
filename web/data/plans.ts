// The operator's plans, for the pages that show, buy or give one.

import { useQuery } from "@tanstack/react-query";
import { api } from "../api/api.ts";
import { formatNumber } from "../viewer/language.ts";

export interface Plans {
  plans: {
    id: string;
    /** As the operator calls it. */
    name: string | null;
    /** A month's; null: it is not for sale. */
    price: { minorUnits: number; currency: string } | null;
    trialDays: number;
    /** Null, also below: any number. */
    agents: number | null;
    schedules: number | null;
    streams: number | null;
    channels: number | null;
    skills: number | null;
    skillBytes: number | null;
    fileBytes: number | null;
    features: string[];
    includedUsd: number | null;
    isCurrent: boolean;
  }[];
  creditUsd: number;
}

export const usePlans = () =>
  useQuery({ queryKey: ["usage", "plans"], queryFn: () => api.get<Plans>("/api/plans"), staleTime: 60_000 });

export type Plan = Plans["plans"][number];

/** An amount in the smallest unit of its currency, as people read it: "$29.00". */
export function formatPrice({ minorUnits, currency }: { minorUnits: number; currency: string }): string {
  const options = { style: "currency", currency: currency.toUpperCase() } as const;
  const digits = new Intl.NumberFormat("en", options).resolvedOptions().maximumFractionDigits ?? 2;
  return formatNumber(minorUnits / 10 ** digits, options);
}
