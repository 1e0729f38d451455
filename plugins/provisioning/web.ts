// The web's routes of provisioning with channel tokens: anybody may ask, so often from one address; the backend does it.
import { Elysia } from "elysia";
import { type BackendTransport, passOn } from "../../src/backend.ts";
import { contextOf, guarded, openRoutes } from "../../src/http.ts";
import type { Limits } from "../../src/limits.ts";
import { guardedBy, mayAnswer } from "../../src/openapi/told.ts";
import type { ServiceOf } from "../../src/plugin.ts";
import { accountPage, type auth, type Identity } from "../auth/index.ts";
import { CLAIM, MAKE } from "./backend.ts";
import claimPage from "./claim.htm" with { type: "text" };
import { CLAIM_ERRORS, claimBody, claimed, PROVISION_ERRORS, provisionBody, provisioned } from "./model.ts";

interface Deps {
  backend: BackendTransport;
  identities: ServiceOf<typeof auth>["identities"];
  limits: Limits;
}

/** Said by the backend, and of use to the caller. */
const PASSED_ON = ["idempotency-replayed"];

export function webRoutes({ backend, identities, limits }: Deps) {
  const tags = ["Channels"];

  const guards = new Elysia({ name: "provisioning.guards" }).macro({
    /** Anybody, so often from one address; somebody who shows a session or a key is told when it is not good. */
    provisioning: (_: true) => ({
      ...guarded(async ({ request }) => {
        const identity = await identities.recognize(request, "write");
        await limits.require("provision", contextOf(request).address);
        if (identity) await limits.require("provision", `user ${identity.user.id}`);
      }),
      detail: guardedBy([]),
      resolve: async ({ request }: { request: Request }) => ({
        identity: await identities.recognize(request, "write"),
      }),
    }),
  });

  /** Asks the backend for the same, in the caller's name or in nobody's, and passes its answer on. */
  async function forward(request: Request, identity: Identity | undefined, action: string): Promise<Response> {
    const { address, bodyText = "" } = contextOf(request);
    const grant = identity
      ? identities.grant(identity, request, action)
      : { userId: "", isAdmin: false, action, address };
    const key = request.headers.get("idempotency-key");
    const answer = await backend.fetch(grant, new URL(request.url).pathname, {
      method: "POST",
      body: bodyText,
      signal: request.signal,
      headers: { "content-type": "application/json", ...(key === null ? {} : { "idempotency-key": key }) },
    });
    const passed = passOn(answer);
    passed.headers.set("cache-control", "no-store");
    for (const name of PASSED_ON) {
      const value = answer.headers.get(name);
      if (value !== null) passed.headers.set(name, value);
    }
    return passed;
  }

  return new Elysia({ name: "provisioning.web" })
    .use(openRoutes)
    .use(guards)
    .use(identities.guards)
    .post(
      "/api/provision",
      async ({ request, identity }) => {
        const answer = await forward(request, identity, MAKE);
        const left = limits.headers(limits.peek("provision", contextOf(request).address));
        for (const [name, value] of Object.entries(left)) if (name !== "retry-after") answer.headers.set(name, value);
        return answer;
      },
      {
        provisioning: true,
        body: provisionBody,
        response: { 201: provisioned },
        detail: {
          tags,
          summary: "Make an agent with its channels and a live stream",
          description:
            "Nobody has to be signed in: then the agent belongs to an account of its own, and `metadata.claimUrl` makes it " +
            "somebody's within 7 days, after which it is removed. With a session or an API key it is the caller's, by the " +
            "rules of `POST /api/agents/provision`. All tokens are checked with their platforms first, and nothing is kept " +
            "unless all are good. Where an agent with just these tokens was made already and nobody has claimed it, the refusal " +
            "(409 `CHANNEL_IN_USE`) has its link in `claimUrl`. Each token may also come under its platform's name; the neutral name comes first.",
          ...mayAnswer({
            ...PROVISION_ERRORS,
            401: "UNAUTHORIZED",
            403: "MISSING_SCOPE",
            502: ["CHANNEL_UNREACHABLE", "BACKEND_UNAVAILABLE"],
          }),
        },
      },
    )
    .post("/api/provision/claim", ({ request, identity }) => forward(request, identity, CLAIM), {
      signedIn: "write",
      body: claimBody,
      response: { 200: claimed },
      detail: {
        tags,
        summary: "Make an unclaimed agent your own",
        description:
          "`token` is the one in the link that provisioning gave. It works once. Its bots, its memory and what was used go " +
          "along; who was its owner on a channel stays so.",
        ...mayAnswer({ ...CLAIM_ERRORS, 502: "BACKEND_UNAVAILABLE" }),
      },
    })
    .get("/claim", accountPage(claimPage, "Claim an agent"), { open: true, detail: { hide: true } });
}
