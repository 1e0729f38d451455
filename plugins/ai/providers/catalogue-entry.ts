// Makes catalogue entries: the wire form and exact price of a model, canonical ids, and the entry of the demo model.

import { FREE, fromUsdPerMillion, type Pricing } from "./pricing.ts";
import type { CatalogueRow, DearRow, ProviderId } from "./provider.ts";
import { defaultProvider } from "./registry.ts";

/** Task types that models are chosen by; anything else counts as `general`. */
export const taskTypes = ["general", "coding", "analysis", "creative", "long"] as const;

/** The wire form of a model; costs are USD per million tokens. */
export interface Model {
  id: string;
  name: string;
  provider: ProviderId;
  description: string;
  tags: string[];
  inputCost: number;
  outputCost: number;
  contextWindow: number;
  available: boolean;
}

export interface CatalogueEntry extends Model {
  /** False: the price is an assumed high one. */
  readonly priceKnown: boolean;
  readonly pricing: Pricing;
  /** False: the window is an assumed low one. */
  readonly windowKnown: boolean;
  /** The task types are from the built-in row; otherwise they are guessed from name and window. */
  readonly curated: boolean;
  /** When it came out, as Unix time in seconds, if its provider's list says it. */
  readonly releasedAt?: number;
}

const LONG_WINDOW_TOKENS = 900_000;

/** One id for all spellings of a model, such as `anthropic/claude-sonnet-4.5` and `claude-sonnet-4-5-20250929`. */
export function canonicalModelId(id: string): string {
  const baseName = id.slice(id.lastIndexOf("/") + 1).toLowerCase();
  return baseName.replaceAll(".", "-").replace(/-(?:\d{8}|\d{4}-\d{2}-\d{2})$/, "");
}

/** Whether the id is a dated version, or another spelling, of this model of the same maker: their prices are the same. */
export const isVersionOf = (modelId: string, id: string) =>
  withoutOldDate(canonicalModelId(modelId)) === withoutOldDate(canonicalModelId(id)) &&
  makerOf(modelId) === makerOf(id);
/** OpenAI's first models were dated by month and day. Other four digits may be another model: `deepseek-r1-0528`. */
const withoutOldDate = (canonicalId: string) => canonicalId.replace(/^(gpt-.+)-(?:0314|0613)$/, "$1");
const makerOf = (id: string) => id.slice(0, id.lastIndexOf("/") + 1).toLowerCase();

export function guessTaskTypes(id: string, contextWindow: number): string[] {
  const tags = ["general"];
  if (/cod(?:e|er|ex|estral)|devstral/i.test(id)) tags.push("coding");
  if (contextWindow >= LONG_WINDOW_TOKENS) tags.push("long");
  return tags;
}

export const pricingOfRow = (row: CatalogueRow): Pricing => ({
  input: fromUsdPerMillion(row[3]),
  output: fromUsdPerMillion(row[4]),
});

export const pricingOfDearRow = ([, input, output]: DearRow): Pricing => ({
  input: fromUsdPerMillion(input),
  output: fromUsdPerMillion(output),
});

export function entryFromRow(provider: ProviderId, row: CatalogueRow, available: boolean): CatalogueEntry {
  const [id, name, description, , , contextWindow, tags] = row;
  const entry = { id, name, provider, description: `${description}.`, tags: tags.split(" "), contextWindow, available };
  return withPricing({ ...entry, windowKnown: true, curated: true }, pricingOfRow(row), true);
}

export type UnpricedEntry = Omit<CatalogueEntry, "pricing" | "priceKnown" | "inputCost" | "outputCost">;

export const withPricing = (entry: UnpricedEntry, pricing: Pricing, priceKnown: boolean): CatalogueEntry => ({
  ...entry,
  pricing,
  priceKnown,
  inputCost: pricing.input / 1e6,
  outputCost: pricing.output / 1e6,
});

/** The built-in demo model; see demo/demo-provider.ts. */
export const DEMO_ENTRY: CatalogueEntry = withPricing(
  {
    id: "demo",
    name: "Demo model",
    provider: defaultProvider.id,
    description: "Built into Berth, to try things without a key. It follows rules and is no language model.",
    tags: [...taskTypes],
    contextWindow: 8_192,
    windowKnown: true,
    available: true,
    curated: true,
  },
  FREE,
  true,
);

export const toWireModel = ({
  id,
  name,
  provider,
  description,
  tags,
  inputCost,
  outputCost,
  contextWindow,
  available,
}: CatalogueEntry) => ({
  id,
  name,
  provider,
  description,
  tags,
  inputCost,
  outputCost,
  contextWindow,
  available,
});
