// Route macros for requests without an identity: rate limits per address, and bot detection.
import { Elysia } from "elysia";
import { isCountedElsewhere } from "../../../src/kernel/cells/cells.ts";
import { documentGuard } from "../../../src/kernel/http/openapi/route-documentation.ts";
import { contextOf } from "../../../src/kernel/http/request-context.ts";
import { guarded, type RouteGuard } from "../../../src/kernel/http/route-guards.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import type { BotDetection } from "./bot-detection.ts";

/**
 * Route macros. `visitor: rule` limits requests per address; `human: rule` does too, after refusing bots (403
 * `BOT_DETECTED`). Both run before the body is read, so that requests with an invalid body count as well. Only the
 * honeypot is checked afterwards.
 */
export function visitorGuards({
  botDetection,
  kernel: { limits, cells },
}: {
  botDetection: BotDetection;
  kernel: Pick<Kernel, "limits" | "cells">;
}) {
  const rateLimited =
    (rule: string): RouteGuard =>
    ({ request }) =>
      isCountedElsewhere(cells, request) ? undefined : limits.takeOrThrow(rule, contextOf(request).address);
  return new Elysia({ name: "auth.visitors" }).macro({
    visitor: (rule: string) => ({ ...guarded(rateLimited(rule)), detail: documentGuard([]) }),
    human: (rule: string) => {
      const hooks = guarded(({ request }) => botDetection.refuseByHeaders(request.headers), rateLimited(rule));
      const honeypot = ({ body }: { body: unknown }) => botDetection.refuseByBody(body);
      return { ...hooks, transform: [hooks.transform, honeypot], detail: documentGuard([], { 403: "BOT_DETECTED" }) };
    },
  });
}
