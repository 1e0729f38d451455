// Makes one attempt to deliver an event: sends a signed POST and classifies the response.
import { version } from "../../../package.json";
import { AppError } from "../../../src/kernel/errors.ts";
import type { Outbound } from "../../../src/kernel/security/outbound.ts";
import { SECOND } from "../../../src/kernel/util/time.ts";

import { OPERATOR_ENDPOINT_ID } from "../endpoints/operator-endpoint.ts";
import type { ClaimedDelivery } from "./delivery-rows.ts";
import { readRetryAfter } from "./retry-schedule.ts";
import { signedHeaders } from "./signing.ts";

/** The receiver must answer within this time. */
const TIMEOUT_MS = 15 * SECOND;

export type AttemptOutcome =
  | { kind: "delivered"; status: number }
  /** To be retried, at the earliest after `retryAfter` ms. */
  | { kind: "failed"; status?: number; error: string; retryAfter?: number }
  /** It can never be delivered. */
  | { kind: "lost"; error: string }
  /** The receiver wants no more events (410). */
  | { kind: "gone"; status: number }
  /** Aborted by Berth: the attempt does not count. */
  | { kind: "stopped" };

export type AttemptDelivery = (delivery: ClaimedDelivery, signal: AbortSignal) => Promise<AttemptOutcome>;

export interface DeliveryAttemptOptions {
  /** For users' endpoints: never connects to private networks. */
  outbound: Outbound;
  /** For the operator's endpoint. */
  unrestrictedOutbound: Outbound;
  now: () => number;
  timeoutMs?: number;
}

/** Any 2xx is a success, 410 ends the endpoint, and everything else (redirects too) is retried. Bodies are not read. */
export function createDeliveryAttempt({
  outbound,
  unrestrictedOutbound,
  now,
  timeoutMs = TIMEOUT_MS,
}: DeliveryAttemptOptions): AttemptDelivery {
  return async ({ endpointId, messageId, message, target }, signal) => {
    if ("lost" in message) return { kind: "lost", error: message.lost };
    const { body } = message;
    const { url, authorization } = extractCredentials(target.url);
    const client = endpointId === OPERATOR_ENDPOINT_ID ? unrestrictedOutbound : outbound;
    try {
      const { status, ok, headers } = await client.fetch(url, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          "user-agent": `Berth/${version} (webhooks)`,
          ...signedHeaders({ id: messageId, body }, target.secrets, now()),
          ...authorization,
        },
        body,
        signal,
        timeoutMs,
        maxRedirects: 0,
        headOnly: true,
      });
      if (ok) return { kind: "delivered", status };
      if (status === 410) return { kind: "gone", status };
      const error =
        status >= 300 && status < 400 ? `Answered ${status}: redirects are not followed.` : `Answered ${status}.`;
      return { kind: "failed", status, error, retryAfter: readRetryAfter(headers.get("retry-after"), now()) };
    } catch (error) {
      if (signal.aborted) return { kind: "stopped" };
      if (!(error instanceof AppError)) throw error;
      return { kind: "failed", error: error.message };
    }
  };
}

/** Moves credentials from the address into the `Authorization` header. Only the operator's address may contain some. */
function extractCredentials(address: string): { url: string; authorization: Record<string, string> } {
  const url = URL.parse(address);
  if (!url || (url.username === "" && url.password === "")) return { url: address, authorization: {} };
  const credentials = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  url.username = "";
  url.password = "";
  return { url: url.href, authorization: { authorization: `Basic ${Buffer.from(credentials).toString("base64")}` } };
}
