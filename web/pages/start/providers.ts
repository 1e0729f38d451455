// The model providers of the operator's keys: the list, and the calls that try and change them. Keys are passed on and
// never kept: neither the cache of queries nor that of mutations sees them.

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { api, path } from "../../api/api.ts";
import { formatUsd, type Text, t, text } from "../../viewer/language.ts";

export interface Provider {
  id: string;
  label: string;
  source: "environment" | "stored" | "none";
  inUse: boolean;
  isOllama: boolean;
  hasKey: boolean;
  requiresKey: boolean;
  keyEnd: string | null;
  keyStart: string | null;
  keyPage: string | null;
  keySource: "environment" | "stored" | "default";
  keyVariable: string;
  baseUrl: string;
  ownBaseUrl: string;
  addressSource: "environment" | "stored" | "default";
  addressVariable: string;
  canChangeAddress: boolean;
  isOverridden: boolean;
  health: "up" | "down" | "resting" | "unknown" | null;
  updatedAt: string | null;
}

export interface ChosenModel {
  choice: "model_a" | "model_b";
  model: string;
  source: "environment" | "stored" | "default";
  variable: string;
  isUsable: boolean;
}

export interface ProviderList {
  providers: Provider[];
  serving: "keys" | "ollama" | "demo";
  ollama: { found: boolean; hasModels: boolean; inUse: boolean; baseUrl: string | null };
  models: ChosenModel[];
}

export type TryResult =
  | { ok: true; model: string; reply: string; ms: number; costUsd: number }
  | { ok: false; model: string; reason: string; message: string; detail: string | null; ms: number };

export interface Wanted {
  apiKey?: string | null;
  baseUrl?: string | null;
}

export const PROVIDERS_KEY = ["model-providers"] as const;

export const useProviders = () =>
  useQuery({
    queryKey: PROVIDERS_KEY,
    queryFn: () => api.get<ProviderList>("/api/admin/model-providers"),
    staleTime: 5_000,
  });

/** Reads everything again that depends on which models serve. */
export function useProvidersChanged(): () => Promise<void> {
  const client = useQueryClient();
  return async () => {
    await Promise.all(
      [PROVIDERS_KEY, ["default-models"], ["setup"], ["models"]].map((queryKey) =>
        client.invalidateQueries({ queryKey }),
      ),
    );
  };
}

export const tryProvider = (id: string, wanted: Wanted) =>
  api.post<TryResult>(path`/api/admin/model-providers/${id}/test`, wanted);
export const saveProvider = (id: string, wanted: Wanted) =>
  api.put<Provider>(path`/api/admin/model-providers/${id}`, wanted);
export const forgetProvider = (id: string) => api.delete<Provider>(path`/api/admin/model-providers/${id}`);

/** The provider whose keys begin like this one; the longest beginning counts. */
export function providerOfKey(key: string, providers: readonly Provider[]): Provider | undefined {
  const fitting = providers.filter(({ keyStart }) => keyStart !== null && key.trim().startsWith(keyStart));
  return fitting.sort((a, b) => (b.keyStart?.length ?? 0) - (a.keyStart?.length ?? 0))[0];
}

/** Why a provider gave no answer, and what to do. */
const FAILURES: Readonly<Record<string, Text>> = {
  wrong_key: text("{provider} does not accept this key. Copy it again, whole, or make a new one."),
  no_credit: text("{provider} accepts the key, but its account has no credit left. Add credit there, then try again."),
  no_model: text("{provider} does not know the model {model}, or this key may not use it. Choose another one."),
  rate_limited: text("{provider} has too many requests of this key right now. Wait a minute, then try again."),
  no_connection: text(
    "{provider} can't be reached from the machine on which Berth runs. Check its connection to the internet, and that no firewall stops it. Then try again.",
  ),
  unreachable: text("{provider} can't be reached. Check the address, and that this machine may connect to it."),
  timeout: text("{provider} did not answer in time. Try again, or choose a smaller model."),
  not_a_model_server: text(
    "Something answers at this address, but it is no model server. Does the address end in /v1?",
  ),
  failed: text("{provider} has a problem of its own right now. Try again in a minute."),
};

export function failureText(provider: string, { reason, message, model }: TryResult & { ok: false }): string {
  const known = FAILURES[reason];
  return known ? t(known, { provider, model }) : message;
}

/** "$0.0004" or "nothing". */
export const formatCost = (usd: number): string => (usd === 0 ? t("nothing") : formatUsd(usd));
