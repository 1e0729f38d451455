// Registers the tokens and the cost of model calls, by provider and model.
import type { Counter, Metrics } from "../../../src/kernel/telemetry/metrics.ts";
import type { CallUsage } from "../providers/token-usage.ts";

/** Models with series of their own; the others are counted together. */
const MAX_MODELS = 100;

interface Deps {
  metrics: Pick<Metrics, "counter">;
  /** Whether a list or the built-in table has the model: accounts with keys of their own may call any name. */
  isKnown(provider: string, model: string): boolean;
}

interface Series {
  input: Counter;
  output: Counter;
  cost: Counter;
}

/** Returns the function that counts a settled call. */
export function createCallMetrics({ metrics, isKnown }: Deps) {
  const tokens = metrics.counter("berth_ai_tokens_total", "Tokens of model calls.", ["provider", "model", "direction"]);
  const cost = metrics.counter("berth_ai_cost_usd_total", "Cost of model calls in USD, own keys included.", [
    "provider",
    "model",
  ]);
  const byModel = new Map<string, Series>();

  function seriesOf(provider: string, model: string): Series {
    const key = `${provider} ${model}`;
    const found = byModel.get(key);
    if (found) return found;
    const isOwn = model === "other" || (byModel.size < MAX_MODELS && isKnown(provider, model));
    if (!isOwn) return seriesOf(provider, "other");
    const made: Series = {
      input: tokens.labels({ provider, model, direction: "input" }),
      output: tokens.labels({ provider, model, direction: "output" }),
      cost: cost.labels({ provider, model }),
    };
    byModel.set(key, made);
    return made;
  }

  return (provider: string, model: string, { inputTokens, outputTokens }: CallUsage, microUsd: number): void => {
    const series = seriesOf(provider, model);
    series.input.inc(inputTokens);
    series.output.inc(outputTokens);
    series.cost.inc(microUsd / 1e6);
  };
}
