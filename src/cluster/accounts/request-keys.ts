// What a request names that a cell has given out: the credential, or ids, tokens and names in its path and host.

import { forwardingOf } from "../../kernel/cells/forwarding.ts";
import { sha256Hex } from "../../kernel/util/tokens.ts";
import { isOfAccounts, readCredential } from "../cells/addressee.ts";

const ID = /[0-9a-f]{8}-[0-9a-f]{4}-[78][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/g;

/** As they are stored with the accounts that have left: ids and names as they are, tokens as their hashes too. */
export function keysOfRequest(request: Request, agentsDomain: string): string[] {
  const { hostname, pathname } = new URL(request.url);
  const domain = `.${agentsDomain.replace(/:\d+$/, "")}`;
  if (hostname.endsWith(domain)) return [hostname.slice(0, -domain.length)];
  // An admin whom another cell has authenticated acts on what the path names.
  const isSent = forwardingOf(request)?.learned !== undefined;
  const credential = isOfAccounts(pathname) && !isSent ? readCredential(request.headers) : undefined;
  if (credential !== undefined) return keysOfCredential(credential);
  const segments = pathname.split("/").filter((segment) => segment.length >= 8);
  return [...(pathname.match(ID) ?? []), ...segments, ...segments.filter(isToken).map(sha256Hex)];
}

/** Of an `Authorization` header, an API key or a session's cookie. */
function keysOfCredential(credential: string): string[] {
  const token = credential.replace(/^Bearer\s+/i, "");
  const session = sessionIn(token);
  return session === undefined ? [sha256Hex(token)] : [session];
}

/** The cell checks its signature as ever; here it only says where. */
function sessionIn(token: string): string | undefined {
  const [, claims, end] = token.split(".");
  if (claims === undefined || end === undefined) return undefined;
  try {
    const { sub } = JSON.parse(Buffer.from(claims, "base64url").toString()) as { sub?: unknown };
    return typeof sub === "string" ? sub : undefined;
  } catch {
    return undefined;
  }
}

const isToken = (segment: string) => /^[\w~-]{20,}$/.test(segment);
