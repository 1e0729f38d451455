// Routes that report whether an address holds enough of the gating token. They need no session; a caller with a social
// session may only check the address of that session, under its own fid.
import { Elysia } from "elysia";
import { forbidden } from "../../src/kernel/errors.ts";
import { documentErrors, documentGuard } from "../../src/kernel/http/openapi/route-documentation.ts";
import { createRequestMemo } from "../../src/kernel/http/request-context.ts";
import { guarded } from "../../src/kernel/http/route-guards.ts";
import { bearerOf, type Identities } from "../auth/index.ts";
import type { Gate } from "../gating/index.ts";
import * as model from "./model.ts";
import type { SocialSession, SocialSessions } from "./social-sessions.ts";

const tags = ["Social identity and token gating"];
const PATH = "/api/auth/token-gating/verify";

interface Deps {
  gate: Gate;
  identities: Pick<Identities, "authenticateOptional">;
  sessions: Pick<SocialSessions, "find">;
}

export function gatingRoutes({ gate, identities, sessions }: Deps) {
  const { minBalance, token, chain, contractAddress, rpcEndpoint } = gate.requirement;

  async function check(address: string, session: SocialSession | undefined, fid = session?.fid) {
    if (session && session.address !== address.toLowerCase()) {
      throw forbidden(
        "ADDRESS_NOT_PROVEN",
        "This session was verified with another address, or with none. Verify again with this address.",
      );
    }
    if (session && session.fid !== fid) {
      throw forbidden("FID_NOT_PROVEN", "This session belongs to another fid. Give its own one.");
    }
    return { hasAccess: await gate.hasAccess(address), tokenGated: gate.enabled, minBalance, token, chain };
  }

  return new Elysia({ name: "social.gating" })
    .use(socialSessionGuard({ identities, sessions }))
    .post(
      PATH,
      async ({ body: { fid, address }, session }) => {
        const found = await check(address, session, fid);
        return { fid, address, ...found, message: messageFor(found), timestamp: new Date().toISOString() };
      },
      {
        optionalSocialSession: true,
        body: model.gateBody,
        response: { 200: model.gateResponse },
        detail: {
          tags,
          summary: "Check whether an address holds enough of the token",
          operationId: "checkTokenGate",
          description,
          ...errorDocs,
        },
      },
    )
    .get(
      PATH,
      async ({ query: { address }, session }) => ({
        address,
        ...(await check(address, session)),
        contractAddress,
        rpcEndpoint,
      }),
      {
        optionalSocialSession: true,
        query: model.gateQuery,
        response: { 200: model.gateDetailsResponse },
        detail: {
          tags,
          summary: "Check an address, and show the token's contract and the RPC",
          operationId: "getTokenGate",
          description,
          ...errorDocs,
        },
      },
    );
}

const description =
  "The balance is read from the chain and cached for five seconds. No session is needed. With a social session token as " +
  "the bearer, only the address given at its verification can be checked, with the fid of the session. If the chain gives no balance, the answer is " +
  "500, never access.";

const errorDocs = documentErrors({
  401: "UNAUTHORIZED",
  403: ["ADDRESS_NOT_PROVEN", "FID_NOT_PROVEN", "MISSING_SCOPE"],
  500: "CHAIN_UNAVAILABLE",
});

function messageFor({ hasAccess, tokenGated }: { hasAccess: boolean; tokenGated: boolean }): string {
  if (!tokenGated) return "Token gating is off: everyone has access.";
  return hasAccess ? "This address holds enough of the token." : "This address holds too little of the token.";
}

/** A guard for open routes: a request may come without a bearer token, but a token that it does carry must be valid. */
function socialSessionGuard({ identities, sessions }: Omit<Deps, "gate">) {
  const sessionMemo = createRequestMemo<SocialSession | undefined>();

  async function readSession(request: Request): Promise<SocialSession | undefined> {
    const bearer = bearerOf(request);
    if (bearer === undefined) return undefined;
    const session = sessionMemo.get(request) ?? (await sessions.find(bearer));
    if (!session) await identities.authenticateOptional(request, "read");
    return sessionMemo.set(request, session);
  }

  return new Elysia({ name: "social.sessions" }).macro({
    optionalSocialSession: (_: true) => ({
      ...guarded(async ({ request }) => void (await readSession(request))),
      detail: documentGuard([]),
      resolve: async ({ request }: { request: Request }) => ({ session: await readSession(request) }),
    }),
  });
}
