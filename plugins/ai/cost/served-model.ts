// Determines the price by which a call is settled: that of the model which answered, by the provider's response.
import type { ServedModel } from "../ledger/ledger.ts";
import type { Candidate } from "../providers/candidates.ts";
import type { Catalogue } from "../providers/catalogue.ts";
import { canonicalModelId } from "../providers/catalogue-entry.ts";
import { type CallUsage, costOfCall } from "../providers/token-usage.ts";

interface Deps {
  catalogue: Pick<Catalogue, "entry">;
}

/** Selects what a call is settled as. `answered`: the model's id in the response; undefined if it had none. */
export type SelectServedModel = (candidate: Candidate, usage: CallUsage, answered: string | undefined) => ServedModel;

/** If another model answered than was called, the dearer of the two counts; a price that nobody knows counts for nothing. */
export function createServedModels({ catalogue }: Deps): SelectServedModel {
  /** The last answer of each candidate: a dated name of the model comes with every call. */
  const lastAnswers = new WeakMap<Candidate, { answered: string; isSame: boolean }>();

  function isSameModel(candidate: Candidate, answered: string): boolean {
    const last = lastAnswers.get(candidate);
    if (last?.answered === answered) return last.isSame;
    const isSame = canonicalModelId(answered) === canonicalModelId(candidate.modelId);
    lastAnswers.set(candidate, { answered, isSame });
    return isSame;
  }

  return (candidate, usage, answered) => {
    const { upstream, modelId, pricing } = candidate;
    const { provider, demo, local } = upstream;
    const called = { provider, modelId, pricing };
    if (answered === undefined || answered === modelId || demo || local) return called;
    if (isSameModel(candidate, answered)) return called;
    const entry = catalogue.entry(provider, answered);
    if (!entry.priceKnown) return called;
    // A free variant of a model may answer under the model's name.
    if (usage.chargedMicroUsd === 0 && costOfCall(pricing, usage) === 0) return called;
    const other = { provider, modelId: entry.id, pricing: entry.pricing };
    if (!catalogue.entry(provider, modelId).priceKnown) return other;
    return costOfCall(other.pricing, usage) > costOfCall(pricing, usage) ? other : called;
  };
}
