// Answers the request with which Meta verifies an address before it posts there.
import { isEqualSecret } from "../shared/webhook-answers.ts";

/**
 * The text with which Meta wants an address to prove itself; undefined if this is not such a request with this token:
 * https://developers.facebook.com/docs/graph-api/webhooks/getting-started#verification-requests
 */
export function findChallenge(query: URLSearchParams, verifyToken: string): string | undefined {
  const challenge = query.get("hub.challenge") ?? "";
  const isMeta =
    query.get("hub.mode") === "subscribe" && isEqualSecret(query.get("hub.verify_token") ?? "", verifyToken);
  return isMeta && /^[\w-]{1,256}$/.test(challenge) ? challenge : undefined;
}
