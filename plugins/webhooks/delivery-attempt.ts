// One attempt to deliver: a signed POST, and what its answer means.
import { version } from "../../package.json";
import { AppError } from "../../src/kernel/errors.ts";
import type { Outbound } from "../../src/kernel/security/outbound.ts";
import type { AttemptOutcome, ClaimedDelivery } from "./deliveries.ts";
import { OPERATOR_ENDPOINT_ID } from "./endpoints.ts";
import { readRetryAfter } from "./retry-schedule.ts";
import { signedHeaders } from "./signing.ts";

/** Contract §9. */
const TIMEOUT_MS = 15_000;

export type AttemptDelivery = (delivery: ClaimedDelivery, signal: AbortSignal) => Promise<AttemptOutcome>;

export interface DeliveryAttemptOptions {
  /** For addresses that users gave: never into a private network. */
  outbound: Outbound;
  /** For the operator's own address. */
  unrestrictedOutbound: Outbound;
  now: () => number;
  timeoutMs?: number;
}

/** Any 2xx is success, 410 the end; everything else, a redirect too, is tried again. The answer's body is not read. */
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

/** Only the operator's address may hold some; they go where HTTP wants them. */
function extractCredentials(address: string): { url: string; authorization: Record<string, string> } {
  const url = URL.parse(address);
  if (!url || (url.username === "" && url.password === "")) return { url: address, authorization: {} };
  const credentials = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  url.username = "";
  url.password = "";
  return { url: url.href, authorization: { authorization: `Basic ${Buffer.from(credentials).toString("base64")}` } };
}
