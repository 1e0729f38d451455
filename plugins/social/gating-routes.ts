// Token gating over HTTP: whether an address holds enough. Open to all; with a social session, for its own address alone.
import { Elysia } from "elysia";
import { forbidden } from "../../src/errors.ts";
import { createMemo, guarded } from "../../src/http.ts";
import { guardedBy, mayAnswer } from "../../src/openapi/told.ts";
import { bearerOf, type Identities } from "../auth/index.ts";
import type { Gate } from "../gating/index.ts";
import * as model from "./model.ts";
import type { SocialSession, SocialSessions } from "./sessions.ts";

const tags = ["Social identity and token gating"];
const PATH = "/api/auth/token-gating/verify";

interface Deps {
  gate: Gate;
  identities: Pick<Identities, "recognize">;
  sessions: Pick<SocialSessions, "find">;
}

export function gatingRoutes({ gate, identities, sessions }: Deps) {
  const { minBalance, token, chain, contractAddress, rpcEndpoint } = gate.terms;

  async function check(address: string, session: SocialSession | undefined) {
    if (session && session.address !== address.toLowerCase()) {
      throw forbidden("ADDRESS_NOT_PROVEN", "This session was verified with another address, or with none.");
    }
    return { hasAccess: await gate.admits(address), tokenGated: gate.on, minBalance, token, chain };
  }

  return new Elysia({ name: "social.gating" })
    .use(socialSessions({ identities, sessions }))
    .post(
      PATH,
      async ({ body: { fid, address }, session }) => {
        const found = await check(address, session);
        return { fid, address, ...found, message: told(found), timestamp: new Date().toISOString() };
      },
      {
        maybeSocial: true,
        body: model.gateBody,
        response: { 200: model.gateAnswer },
        detail: { tags, summary: "Does this address hold enough of the token?", description, ...refusals },
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
        maybeSocial: true,
        query: model.gateQuery,
        response: { 200: model.gateDetails },
        detail: { tags, summary: "The same, with where it is looked up", description, ...refusals },
      },
    );
}

const description =
  "The balance is read from the chain, and remembered for five seconds. Needs no session; with a social session token as " +
  "the bearer only the address given at its verification may be asked for. When the chain can't tell, the answer is 500, " +
  "never access.";

const refusals = mayAnswer({
  401: "UNAUTHORIZED",
  403: ["ADDRESS_NOT_PROVEN", "MISSING_SCOPE"],
  500: "CHAIN_UNAVAILABLE",
});

function told({ hasAccess, tokenGated }: { hasAccess: boolean; tokenGated: boolean }): string {
  if (!tokenGated) return "Token gating is off: everyone has access.";
  return hasAccess ? "This address holds enough of the token." : "This address holds too little of the token.";
}

/** For routes open to all: who shows a bearer token at all must show one that is good. */
function socialSessions({ identities, sessions }: Omit<Deps, "gate">) {
  const known = createMemo<SocialSession | undefined>();

  async function shown(request: Request): Promise<SocialSession | undefined> {
    const bearer = bearerOf(request);
    if (bearer === undefined) return undefined;
    const session = known.get(request) ?? (await sessions.find(bearer));
    if (!session) await identities.recognize(request, "read");
    return known.set(request, session);
  }

  return new Elysia({ name: "social.sessions" }).macro({
    maybeSocial: (_: true) => ({
      ...guarded(async ({ request }) => void (await shown(request))),
      detail: guardedBy([]),
      resolve: async ({ request }: { request: Request }) => ({ session: await shown(request) }),
    }),
  });
}
