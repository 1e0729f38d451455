// Defines the web surface's routes of webhooks and of the event feed.
import { Elysia } from "elysia";
import { AppError, forbidden, invalidInput, notFound } from "../../src/kernel/errors.ts";
import { documentErrors } from "../../src/kernel/http/openapi/route-documentation.ts";
import { readFlag, readLimit, readOffset } from "../../src/kernel/http/paging.ts";
import { eventStreamResponse } from "../../src/kernel/http/sse-streams.ts";
import type { Kernel, ServiceOf } from "../../src/kernel/plugin.ts";
import { type auth, type PlanTable, requireFeature } from "../auth/index.ts";
import type { Deliveries } from "./delivery/deliveries.ts";
import { wakeStatementOf } from "./delivery/sender.ts";
import type { Endpoint, EndpointChanges, Endpoints } from "./endpoints/endpoints.ts";
import type { EventAccess } from "./endpoints/event-access.ts";
import { createWebhookGuards, ID_PATTERN, webhookNotFound } from "./endpoints/webhook-guards.ts";
import type { EventFeed } from "./event-feed.ts";
import { requireEventTypes } from "./event-patterns.ts";
import {
  createdWebhook,
  deliveryList,
  feedEventSchema,
  feedQuery,
  newWebhook,
  pageQuery,
  removeResult,
  replayResult,
  rotateResult,
  toDelivery,
  toWebhook,
  webhook,
  webhookChanges,
  webhookList,
} from "./model.ts";

interface Deps extends Pick<Kernel, "outbound" | "idempotency" | "jobs" | "events"> {
  identities: ServiceOf<typeof auth>["identities"];
  plans: PlanTable;
  endpoints: Endpoints;
  deliveries: Deliveries;
  eventAccess: Pick<EventAccess, "eventScopeOf">;
  eventFeed: EventFeed;
}

const ADDRESS_ERRORS = ["INVALID_ADDRESS", "ADDRESS_NOT_ALLOWED"];
const IDEMPOTENCY_ERRORS = ["IDEMPOTENCY_MISMATCH", "IDEMPOTENCY_IN_PROGRESS"];

/** Standard Webhooks 1.0; delivery/signing.ts. */
const SIGNATURE =
  "Each event comes as a POST with the JSON body `{ type, timestamp, data }`, signed as Standard Webhooks 1.0 says. Its headers are `webhook-id` (the same in each " +
  "repetition of the event), `webhook-timestamp` (seconds since 1970) and `webhook-signature`: one or more signatures, separated by spaces, each of them `v1,` and the " +
  "base64 of an HMAC-SHA256 over `<webhook-id>.<webhook-timestamp>.<body>`. Its key is the `secret` without `whsec_`, decoded from base64. Compare with each signature in " +
  "constant time, and refuse timestamps that are more than five minutes off. What `data` holds for each type is in the guide to events, at `/docs/events`.";
const PRIVATE_ADDRESS =
  "An address in a private network, such as `http://localhost:3000`, is refused (`ADDRESS_NOT_ALLOWED`) unless the operator of the service allows the network with `OUTBOUND_ALLOW`.";

export function webRoutes(deps: Deps) {
  const { plans, outbound, idempotency, jobs, events, identities, endpoints, deliveries, eventAccess, eventFeed } =
    deps;
  const tags = ["Webhooks"];
  const detail = { tags };

  /**
   * Refuses addresses that lead into private networks. A failed name lookup passes (the error has a 5xx status): the address
   * is checked again at each delivery.
   */
  async function requireAllowedAddress(url: string): Promise<void> {
    try {
      await outbound.check(url);
    } catch (error) {
      if (!(error instanceof AppError && error.status >= 500)) throw error;
    }
  }

  const requireTypes = (types: readonly string[] | undefined) => requireEventTypes(types, events.declaredTypes);

  return new Elysia({ name: "webhooks.web" })
    .use(identities.guards)
    .use(createWebhookGuards(identities, endpoints))

    .post(
      "/api/webhooks",
      ({ body, identity, request }) =>
        idempotency.respond(
          { request, userId: identity.user.id },
          async (keep) => {
            requireFeature(plans, identity.user, "webhooks");
            await requireAllowedAddress(body.url);
            const newEndpoint = {
              userId: identity.user.id,
              url: body.url,
              types: requireTypes(body.types),
              description: body.description ?? "",
              ...eventAccess.eventScopeOf(identity),
            };
            const responseBody = (created: Endpoint, secret: string) => ({ ...toWebhook(created), secret });
            const { endpoint, secret } = await endpoints.create(newEndpoint, (created, secret) =>
              keep({ status: 201, body: JSON.stringify(responseBody(created, secret)) }),
            );
            return Response.json(responseBody(endpoint, secret), { status: 201 });
          },
          { secretFields: ["secret"] },
        ),
      {
        webhookCreator: true,
        body: newWebhook,
        response: { 201: createdWebhook },
        detail: {
          ...detail,
          summary: "Register an address that receives events",
          description:
            "An admin's webhook receives the events of all users, any other those of its owner's account and agents. " +
            `An API key needs both \`read\` and \`write\`.\n\n${SIGNATURE}\n\n${PRIVATE_ADDRESS}`,
          ...documentErrors({
            400: ADDRESS_ERRORS,
            402: "FEATURE_NOT_IN_PLAN",
            409: ["WEBHOOK_LIMIT", ...IDEMPOTENCY_ERRORS],
          }),
        },
      },
    )
    .get(
      "/api/webhooks",
      async ({ identity }) => {
        const webhooks = (await endpoints.list(identity.user.id)).map(toWebhook);
        return { webhooks, count: webhooks.length };
      },
      {
        signedIn: "read",
        response: { 200: webhookList },
        detail: {
          ...detail,
          summary: "List the caller's webhooks, newest first",
          description: "Secrets are shown only once, when a webhook is made or its secret is replaced.",
        },
      },
    )
    .get("/api/webhooks/:id", ({ endpoint }) => toWebhook(endpoint), {
      ownWebhook: "read",
      response: { 200: webhook },
      detail: {
        ...detail,
        summary: "Show a webhook",
        description: "`disabledReason` says why Berth has switched it off, if it has.",
      },
    })
    .patch(
      "/api/webhooks/:id",
      async ({ body, endpoint, identity }) => {
        const { url, types, description, active } = body;
        if (url !== undefined) await requireAllowedAddress(url);
        const changes: EndpointChanges = {
          ...(url === undefined ? {} : { url }),
          ...(types === undefined ? {} : { types: requireTypes(types) }),
          ...(description === undefined ? {} : { description }),
          ...(active === undefined ? {} : { active }),
          ...(identity.isAdmin ? { eventScope: eventAccess.eventScopeOf(identity) } : {}),
        };
        const updated = await endpoints.update(endpoint.id, changes);
        if (!updated) throw webhookNotFound();
        return toWebhook(updated);
      },
      {
        ownWebhook: "read+write",
        body: webhookChanges,
        response: { 200: webhook },
        detail: {
          ...detail,
          summary: "Change a webhook, switch it off, or on again",
          description:
            "Switching it off gives up pending deliveries; switched on again, it receives later events. " +
            "An API key needs both `read` and `write`.",
          ...documentErrors({ 400: ADDRESS_ERRORS }),
        },
      },
    )
    .delete(
      "/api/webhooks/:id",
      async ({ endpoint: { id } }) => {
        await endpoints.remove(id);
        return { success: true as const, id, deleted: true as const };
      },
      {
        ownWebhook: "write",
        response: { 200: removeResult },
        detail: { ...detail, summary: "Remove a webhook", description: "Deliveries that wait are dropped." },
      },
    )
    .post(
      "/api/webhooks/:id/rotate",
      ({ endpoint, identity, request }) =>
        idempotency.respond(
          { request, userId: identity.user.id },
          async () => {
            const secret = await endpoints.rotateSecret(endpoint.id);
            if (secret === undefined) throw webhookNotFound();
            return Response.json({ secret });
          },
          { secretFields: ["secret"] },
        ),
      {
        ownWebhook: "write",
        response: { 200: rotateResult },
        detail: {
          ...detail,
          summary: "Replace a webhook's secret; the old one signs too for 24 hours",
          description: "The new secret is shown only in this answer.",
          operationId: "rotateWebhookSecret",
          ...documentErrors({ 409: IDEMPOTENCY_ERRORS }),
        },
      },
    )
    .get(
      "/api/webhooks/:id/deliveries",
      async ({ endpoint, query: { limit, offset, cursor } }) => {
        const { deliveries: found, nextCursor } = await deliveries.list(endpoint.id, {
          limit: readLimit(limit, 50, 100),
          offset: readOffset(offset),
          cursor: cursor === undefined ? undefined : Number(cursor),
        });
        return { deliveries: found.map(toDelivery), count: found.length, nextCursor };
      },
      {
        ownWebhook: "read",
        query: pageQuery,
        response: { 200: deliveryList },
        detail: {
          ...detail,
          summary: "List a webhook's deliveries, newest event first; kept for 30 days",
          description:
            "The attempts for each event, the status that the receiver answered last, and when the next attempt is.",
        },
      },
    )
    .post(
      "/api/webhooks/:id/deliveries/:deliveryId/replay",
      ({ endpoint, identity, params: { deliveryId }, request }) =>
        idempotency.respond({ request, userId: identity.user.id }, async () => {
          const { id, active } = endpoint;
          if (!ID_PATTERN.test(deliveryId) || !(await deliveries.find(id, deliveryId))) throw deliveryNotFound();
          if (!(await deliveries.isAllowedFor(endpoint, deliveryId))) throw eventNotAllowed();
          if (!active) throw new AppError(409, "WEBHOOK_INACTIVE", "This webhook is switched off. Switch it on first.");
          const wake = wakeStatementOf(jobs)(id);
          const replayedDelivery =
            (await deliveries.replay(id, deliveryId, [wake])) && (await deliveries.find(id, deliveryId));
          if (!replayedDelivery) throw deliveryNotFound();
          return Response.json({ delivery: toDelivery(replayedDelivery) }, { status: 202 });
        }),
      {
        ownWebhook: "write",
        response: { 202: replayResult },
        detail: {
          ...detail,
          summary: "Send an event again, under the same webhook-id",
          description: "Receivers recognize the repetition by its `webhook-id`.",
          ...documentErrors({
            403: "ADMIN_REQUIRED",
            404: "DELIVERY_NOT_FOUND",
            409: ["WEBHOOK_INACTIVE", ...IDEMPOTENCY_ERRORS],
          }),
        },
      },
    )
    .get(
      "/api/events",
      ({ identity, query, request }) => {
        const all = readFlag(query.all, "all");
        if (all && !identity.isAdmin)
          throw forbidden("ADMIN_REQUIRED", "Only admins can follow the events of all users.");
        return eventFeed.follow(identity, {
          all,
          types: query.types === undefined ? ["*"] : requireTypes(query.types.split(",").map((type) => type.trim())),
          after: parseEventId(request.headers.get("last-event-id") ?? query.lastEventId),
          request,
        });
      },
      {
        signedIn: "read",
        query: feedQuery,
        detail: {
          tags,
          summary: "Follow events as they happen",
          operationId: "followEvents",
          description:
            "Server-sent events: `id` is the place to resume from, `event` the type, `data` is `{ type, timestamp, data }`. " +
            "They are those of the caller's account and agents, or with `all=1`, for admins, those of all users. " +
            "The stream ends when the caller is signed out.",
          responses: { 200: eventStreamResponse(feedEventSchema(events.declaredTypes)) },
          ...documentErrors({ 403: "ADMIN_REQUIRED", 429: "TOO_MANY_STREAMS" }),
        },
      },
    );
}

const deliveryNotFound = () => notFound("This webhook has no delivery with this id.", "DELIVERY_NOT_FOUND");

const eventNotAllowed = () =>
  forbidden("ADMIN_REQUIRED", "This event is about another user: only admins can have it sent.");

/** Undefined if there is none, so that the feed starts with the next event. */
function parseEventId(given: string | undefined): number | undefined {
  if (given === undefined || given === "") return undefined;
  if (!/^\d{1,15}$/.test(given)) {
    throw invalidInput({
      path: "lastEventId",
      message: "Give the id of the last event you have seen, a whole number.",
    });
  }
  return Number(given);
}
