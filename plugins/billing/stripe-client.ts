// Stripe's own SDK, loaded at the first use, and what its errors mean for people.

import type Stripe from "stripe";
import { AppError } from "../../src/kernel/errors.ts";
import type { OutageWatch } from "../../src/kernel/telemetry/outages.ts";
import { once } from "../../src/kernel/util/cache.ts";

export interface StripeAccess {
  key: string;
  webhookSecret: string;
  apiUrl: string;
}

const TIMEOUT_MS = 20_000;

export type StripeClient = ReturnType<typeof createStripeClient>;

/** Errors that say nothing about Stripe itself: it answers, and refuses this one request. */
const ANSWERS = new Set(["StripeCardError", "StripeInvalidRequestError", "StripeIdempotencyError"]);

export function createStripeClient({ key, webhookSecret, apiUrl }: StripeAccess, outage: OutageWatch) {
  const load = once(async () => {
    const { default: Sdk } = await import("stripe");
    const { protocol, hostname, port } = new URL(apiUrl);
    return new Sdk(key, {
      protocol: protocol === "http:" ? "http" : "https",
      host: hostname,
      port: port || (protocol === "http:" ? "80" : "443"),
      httpClient: Sdk.createFetchHttpClient(),
      // Repetitions carry the SDK's idempotency key.
      maxNetworkRetries: 2,
      timeout: TIMEOUT_MS,
      // It reports how long calls took.
      telemetry: false,
    });
  });

  return {
    /** Throws 402 `PAYMENT_FAILED` if the card was refused, and 502 `STRIPE_UNAVAILABLE` for any other failure. */
    async call<T>(use: (stripe: Stripe) => Promise<T>): Promise<T> {
      try {
        const answer = await use(await load());
        outage.worked();
        return answer;
      } catch (error) {
        if (isStripeError(error) && !ANSWERS.has(String(error.type))) outage.failed(error);
        throw toAppError(error);
      }
    },
    /** The event of a webhook; undefined if Stripe has not signed it, or more than five minutes ago. */
    async readEvent(body: string, signature: string): Promise<Stripe.Event | undefined> {
      const stripe = await load();
      try {
        return await stripe.webhooks.constructEventAsync(body, signature, webhookSecret);
      } catch {
        return undefined;
      }
    },
  };
}

const isStripeError = (error: unknown): error is Error & { type: unknown } => error instanceof Error && "type" in error;

function toAppError(error: unknown): unknown {
  if (!isStripeError(error)) return error;
  if (error.type === "StripeCardError") {
    const text = `The payment was refused: ${error.message} Use another card in the customer portal.`;
    return new AppError(402, "PAYMENT_FAILED", text, {}, { cause: error });
  }
  const text = "Stripe can't be reached, or refuses the request. Nothing was changed. Try again later.";
  return new AppError(502, "STRIPE_UNAVAILABLE", text, {}, { cause: error });
}
