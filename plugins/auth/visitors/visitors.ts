// Routes for people who are not signed in: how often from one address, and no robots.
import { Elysia } from "elysia";
import type { RateLimitRule } from "../../../src/config.ts";
import { contextOf, type Guard, guarded } from "../../../src/http.ts";
import type { Limits } from "../../../src/limits.ts";
import { guardedBy } from "../../../src/openapi/told.ts";
import type { Bots } from "./bots.ts";

/**
 * Route macros. `visitor: rule` lets anyone in, so often from one address; `human: rule` does, and refuses robots first
 * (403 `BOT_DETECTED`). Both before the body is read, so that nothing is gained by sending a bad one.
 */
export function visitorGuards({ bots, limits }: { bots: Bots; limits: Pick<Limits, "require"> }) {
  const rated =
    (rule: RateLimitRule): Guard =>
    ({ request }) =>
      limits.require(rule, contextOf(request).address);
  return new Elysia({ name: "auth.visitors" }).macro({
    visitor: (rule: RateLimitRule) => ({ ...guarded(rated(rule)), detail: guardedBy([]) }),
    human: (rule: RateLimitRule) => {
      const { parse, transform } = guarded(({ request }) => bots.refuseByHeaders(request.headers), rated(rule));
      const honeypot = ({ body }: { body: unknown }) => bots.refuseByBody(body);
      return { parse, transform: [transform, honeypot], detail: guardedBy([], { 403: "BOT_DETECTED" }) };
    },
  });
}
