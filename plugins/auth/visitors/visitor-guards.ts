// Route macros for requests without an identity: rate limits per address, and bot detection.
import { Elysia } from "elysia";
import type { RateLimitRule } from "../../../src/kernel/config/config.ts";
import { contextOf, guarded, type RouteGuard } from "../../../src/kernel/http/http.ts";
import { documentGuard } from "../../../src/kernel/http/openapi/route-documentation.ts";
import type { RateLimiter } from "../../../src/kernel/security/rate-limits/rate-limiter.ts";
import type { BotDetection } from "./bot-detection.ts";

/**
 * Route macros. `visitor: rule` limits requests per address; `human: rule` does too, after refusing bots (403
 * `BOT_DETECTED`). Both run before the body is read, so that requests with an invalid body count as well. Only the
 * honeypot is checked afterwards.
 */
export function visitorGuards({
  botDetection,
  limits,
}: {
  botDetection: BotDetection;
  limits: Pick<RateLimiter, "takeOrThrow">;
}) {
  const rateLimited =
    (rule: RateLimitRule): RouteGuard =>
    ({ request }) =>
      limits.takeOrThrow(rule, contextOf(request).address);
  return new Elysia({ name: "auth.visitors" }).macro({
    visitor: (rule: RateLimitRule) => ({ ...guarded(rateLimited(rule)), detail: documentGuard([]) }),
    human: (rule: RateLimitRule) => {
      const { parse, transform } = guarded(
        ({ request }) => botDetection.refuseByHeaders(request.headers),
        rateLimited(rule),
      );
      const honeypot = ({ body }: { body: unknown }) => botDetection.refuseByBody(body);
      return { parse, transform: [transform, honeypot], detail: documentGuard([], { 403: "BOT_DETECTED" }) };
    },
  });
}
