// Makes sure that no call is reserved at too low a price: waits for the list that has the price, and refuses the call if
// nobody can know it.

import { AppError } from "../../../src/kernel/errors.ts";
import { SECOND } from "../../../src/kernel/util/time.ts";
import type { Candidate } from "./candidates.ts";
import type { Catalogue } from "./catalogue.ts";

/** What to do with a model whose price nobody knows: refuse it, or count it at the dearest price of its provider. */
export type UnknownPrice = "refuse" | "dearest";

export interface PriceCheck {
  /**
   * The candidates that may be called, of those that `find` returns. Where a price is unknown it waits for the provider's
   * first list, for as long as the request for it may take (5 s), calls `find` again, and leaves out those that can't be
   * priced. If none is left it rejects with 402 `PRICE_UNKNOWN`, or with 503 `PRICE_UNAVAILABLE` and `Retry-After` if the
   * list can't be had now.
   */
  priced(find: () => readonly Candidate[]): readonly Candidate[] | Promise<readonly Candidate[]>;
  /** Whether the price is known, or may be counted as the dearest of the provider. */
  isPriced(candidate: Pick<Candidate, "priceUnknown">): boolean;
}

interface Deps {
  catalogue: Pick<Catalogue, "untilListed" | "retryInMs">;
  unknownPrice: UnknownPrice;
}

export function createPriceCheck({ catalogue, unknownPrice }: Deps): PriceCheck {
  const isPriced: PriceCheck["isPriced"] = ({ priceUnknown }) => !priceUnknown || unknownPrice === "dearest";

  async function waitForPrices(find: () => readonly Candidate[]): Promise<readonly Candidate[]> {
    const unpriced = find().filter(({ priceUnknown }) => priceUnknown);
    const providers = [...new Set(unpriced.map(({ upstream }) => upstream.provider))];
    const answers = await Promise.all(providers.map(catalogue.untilListed));
    const silent = providers.filter((_, index) => !answers[index]);
    const found = find();
    const usable = found.filter(
      (one) => !one.priceUnknown || (isPriced(one) && !silent.includes(one.upstream.provider)),
    );
    if (usable.length > 0 || found.length === 0) return usable;
    if (silent.length === 0) throw unknownError();
    throw unavailableError(Math.min(...silent.map(catalogue.retryInMs)));
  }

  return {
    priced(find) {
      const found = find();
      return found.some(({ priceUnknown }) => priceUnknown) ? waitForPrices(find) : found;
    },
    isPriced,
  };
}

const unknownError = () =>
  new AppError(
    402,
    "PRICE_UNKNOWN",
    "Nobody knows the price of this model, so it is not used here. Choose another model.",
  );

function unavailableError(retryInMs: number): AppError {
  const seconds = Math.max(1, Math.ceil(retryInMs / SECOND));
  const message = `The price of this model can't be looked up, because its provider does not answer. Try again in ${seconds} seconds, or choose another model.`;
  return new AppError(503, "PRICE_UNAVAILABLE", message, {}, { headers: { "retry-after": String(seconds) } });
}
