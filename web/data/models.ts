// The catalogue of models, and what the choices of agents stand for.

import { useQuery } from "@tanstack/react-query";
import { api } from "../api/api.ts";
import { formatNumber, formatUsd, said, t } from "../viewer/language.ts";

/** An item of `GET /api/models`; costs are US dollars per million tokens. */
export interface Model {
  reference: string;
  id: string;
  name: string;
  provider: string;
  providerName: string;
  description: string;
  inputCost: number;
  outputCost: number;
  priceKnown: boolean;
  contextWindow: number | null;
  available: boolean;
  inputs: readonly string[];
  tools: boolean | null;
}

export interface ModelChoice {
  /** null: the demo model. */
  reference: string | null;
  name: string;
  providerName: string;
  inputCost: number;
  outputCost: number;
  priceKnown: boolean;
  contextWindow: number | null;
  ownKey: boolean;
  demo: boolean;
}

export interface ModelList {
  models: Model[];
  total: number;
  providers: { id: string; name: string; configured: boolean; models: number }[];
  choices: { model_a: ModelChoice; model_b: ModelChoice };
  demo: boolean;
}

/** What the choices stand for, with the keys of an agent if one is named. */
export const useModelChoices = (agentId?: string) =>
  useQuery({
    queryKey: ["models", "choices", agentId],
    async queryFn(): Promise<ModelList> {
      const list = await api.get<ModelList>("/api/models", { limit: 1, agentId });
      const { model_a, model_b } = list.choices;
      return { ...list, choices: { model_a: named(model_a), model_b: named(model_b) } };
    },
    staleTime: 5 * 60_000,
  });

/** The demo model is Berth's own; other models are called as their makers do. */
const named = (choice: ModelChoice): ModelChoice => (choice.demo ? { ...choice, name: said(choice.name) } : choice);

/** The name of an agent's model; its own id while the catalogue is not there. */
export function modelName(agent: { model: string; ownModel: string | null }, list: ModelList | undefined): string {
  if (agent.model === "custom" && agent.ownModel) return agent.ownModel.replace(/^provider_\d+:/, "");
  return list?.choices[agent.model === "model_b" ? "model_b" : "model_a"].name ?? "";
}

/** "$3.00 in, $15.00 out per million tokens", or what to know instead. */
export function priceText(price: { inputCost: number; outputCost: number; priceKnown: boolean }): string {
  if (!price.priceKnown) return t("Price not known, counted as the dearest");
  if (price.inputCost === 0 && price.outputCost === 0) return t("Free");
  return t("{in} in, {out} out per million tokens", {
    in: formatUsd(price.inputCost),
    out: formatUsd(price.outputCost),
  });
}

/** "128K tokens". */
export const windowText = (tokens: number): string =>
  t("{n} tokens at once", { n: formatNumber(tokens, { notation: "compact", maximumFractionDigits: 1 }) });
