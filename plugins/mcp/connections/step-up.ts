// Asks the owner for more rights at a server that has refused a request for want of them (RFC 6750, insufficient_scope).
import type { Outbound } from "../../../src/kernel/security/outbound.ts";
import type { HttpServer } from "./connection.ts";
import { createGuardedFetch } from "./guarded-fetch.ts";

/** What a server asks for in its refusal. */
export interface MissingScope {
  scope: string | undefined;
  resourceMetadataUrl: URL | undefined;
}

/** Begins a sign-in with the rights that were granted before and those that are missing. */
export async function askForScope(
  { url, headers, oauth }: HttpServer,
  outbound: Pick<Outbound, "stream">,
  { scope, resourceMetadataUrl }: MissingScope,
): Promise<void> {
  if (!oauth) return;
  const { auth, computeScopeUnion } = await import("@modelcontextprotocol/client");
  const wanted = computeScopeUnion((await oauth.tokens())?.scope, scope);
  await auth(oauth, {
    serverUrl: url,
    fetchFn: createGuardedFetch(outbound, url, headers),
    // A refreshed token would have the rights of the old one.
    forceReauthorization: true,
    ...(wanted !== undefined && { scope: wanted }),
    ...(resourceMetadataUrl && { resourceMetadataUrl }),
  });
}
