// The web's routes of webhooks and of the stream of events.
import { Elysia } from "elysia";
import { AppError, forbidden, invalid, notFound } from "../../src/errors.ts";
import { streamResponse } from "../../src/live-streams.ts";
import { mayAnswer } from "../../src/openapi/told.ts";
import { readLimit, readOffset } from "../../src/paging.ts";
import type { Kernel, ServiceOf } from "../../src/plugin.ts";
import type { auth } from "../auth/index.ts";
import type { Audience } from "./audience.ts";
import type { Deliveries } from "./deliveries.ts";
import type { Endpoint, EndpointChanges, Endpoints } from "./endpoints.ts";
import type { Feed } from "./feed.ts";
import { createWebhookGuards, IS_ID, noSuchWebhook } from "./guards.ts";
import {
  deliveryList,
  feedQuery,
  madeWebhook,
  newWebhook,
  page,
  removed,
  replayed,
  rotated,
  toDelivery,
  toWebhook,
  webhook,
  webhookChanges,
  webhookList,
} from "./model.ts";
import { requireTypes } from "./types.ts";

interface Deps extends Pick<Kernel, "outbound" | "idempotency" | "jobs"> {
  identities: ServiceOf<typeof auth>["identities"];
  endpoints: Endpoints;
  deliveries: Deliveries;
  audience: Pick<Audience, "reachOf">;
  feed: Feed;
}

/** The job that tells whoever sends that an endpoint's owner wants a delivery now. */
export const WAKE = "webhooks.wake";

const badAddress = ["INVALID_ADDRESS", "ADDRESS_NOT_ALLOWED"];
const repeated = ["IDEMPOTENCY_MISMATCH", "IDEMPOTENCY_IN_PROGRESS"];

export function webRoutes(deps: Deps) {
  const { outbound, idempotency, jobs, identities, endpoints, deliveries, audience, feed } = deps;
  const tags = ["Webhooks"];
  const detail = { tags };

  /** Refuses what leads into our own network. A name that can't be asked now may be good later, when it is checked again. */
  async function requireAddress(url: string): Promise<void> {
    try {
      await outbound.check(url);
    } catch (error) {
      if (!(error instanceof AppError && error.status >= 500)) throw error;
    }
  }

  return new Elysia({ name: "webhooks.web" })
    .use(identities.guards)
    .use(createWebhookGuards(identities, endpoints))

    .post(
      "/api/webhooks",
      ({ body, identity, request }) =>
        idempotency.respond(
          { request, userId: identity.user.id },
          async (keep) => {
            await requireAddress(body.url);
            const wanted = {
              userId: identity.user.id,
              url: body.url,
              types: requireTypes(body.types),
              description: body.description ?? "",
              ...audience.reachOf(identity),
            };
            const answer = (made: Endpoint, secret: string) => ({ ...toWebhook(made), secret });
            const { endpoint, secret } = await endpoints.create(wanted, (made, secret) =>
              keep({ status: 201, body: JSON.stringify(answer(made, secret)) }),
            );
            return Response.json(answer(endpoint, secret), { status: 201 });
          },
          { secretFields: ["secret"] },
        ),
      {
        mayHaveSent: true,
        body: newWebhook,
        response: { 201: madeWebhook },
        detail: {
          ...detail,
          summary: "Have events sent to an address",
          description:
            "An admin's gets the events of all users, anybody else's those of the own account and agents. " +
            "An API key needs both `read` and `write`.",
          ...mayAnswer({ 400: badAddress, 409: ["WEBHOOK_LIMIT", ...repeated] }),
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
        detail: { ...detail, summary: "The caller's webhooks, newest first" },
      },
    )
    .get("/api/webhooks/:id", ({ endpoint }) => toWebhook(endpoint), {
      ownWebhook: "read",
      response: { 200: webhook },
      detail: { ...detail, summary: "A webhook" },
    })
    .patch(
      "/api/webhooks/:id",
      async ({ body, endpoint, identity }) => {
        const { url, types, description, active } = body;
        if (url !== undefined) await requireAddress(url);
        const changes: EndpointChanges = {
          ...(url === undefined ? {} : { url }),
          ...(types === undefined ? {} : { types: requireTypes(types) }),
          ...(description === undefined ? {} : { description }),
          ...(active === undefined ? {} : { active }),
          ...(identity.isAdmin ? { reach: audience.reachOf(identity) } : {}),
        };
        const updated = await endpoints.update(endpoint.id, changes);
        if (!updated) throw noSuchWebhook();
        return toWebhook(updated);
      },
      {
        ownWebhook: "sending",
        body: webhookChanges,
        response: { 200: webhook },
        detail: {
          ...detail,
          summary: "Change a webhook, switch it off, or on again",
          description:
            "Switching it off gives up what waits; switched on again, it gets the events from then on. " +
            "An API key needs both `read` and `write`.",
          ...mayAnswer({ 400: badAddress }),
        },
      },
    )
    .delete(
      "/api/webhooks/:id",
      async ({ endpoint: { id } }) => {
        await endpoints.remove(id);
        return { success: true as const, id, deleted: true as const };
      },
      { ownWebhook: "write", response: { 200: removed }, detail: { ...detail, summary: "Remove a webhook" } },
    )
    .post(
      "/api/webhooks/:id/rotate",
      ({ endpoint, identity, request }) =>
        idempotency.respond(
          { request, userId: identity.user.id },
          async () => {
            const secret = await endpoints.rotate(endpoint.id);
            if (secret === undefined) throw noSuchWebhook();
            return Response.json({ secret });
          },
          { secretFields: ["secret"] },
        ),
      {
        ownWebhook: "write",
        response: { 200: rotated },
        detail: {
          ...detail,
          summary: "Give a webhook a new secret; the old one signs too for 24 hours",
          ...mayAnswer({ 409: repeated }),
        },
      },
    )
    .get(
      "/api/webhooks/:id/deliveries",
      async ({ endpoint, query: { limit, offset } }) => {
        const found = await deliveries.list(endpoint.id, {
          limit: readLimit(limit, 50, 100),
          offset: readOffset(offset),
        });
        return { deliveries: found.map(toDelivery), count: found.length };
      },
      {
        ownWebhook: "read",
        query: page,
        response: { 200: deliveryList },
        detail: { ...detail, summary: "What was sent to a webhook, newest event first; kept 30 days" },
      },
    )
    .post(
      "/api/webhooks/:id/deliveries/:deliveryId/replay",
      ({ endpoint, identity, params: { deliveryId }, request }) =>
        idempotency.respond({ request, userId: identity.user.id }, async () => {
          const { id, active } = endpoint;
          if (!IS_ID.test(deliveryId) || !(await deliveries.find(id, deliveryId))) throw noSuchDelivery();
          if (!(await deliveries.isMeant(endpoint, deliveryId))) throw notMeant();
          if (!active) throw new AppError(409, "WEBHOOK_INACTIVE", "This webhook is switched off. Switch it on first.");
          const wake = jobs.enqueue(WAKE, { endpointId: id }, { uniqueKey: id });
          const again = (await deliveries.replay(id, deliveryId, [wake])) && (await deliveries.find(id, deliveryId));
          if (!again) throw noSuchDelivery();
          return Response.json({ delivery: toDelivery(again) }, { status: 202 });
        }),
      {
        ownWebhook: "write",
        response: { 202: replayed },
        detail: {
          ...detail,
          summary: "Send an event again, under the same webhook-id",
          ...mayAnswer({ 403: "ADMIN_REQUIRED", 404: "DELIVERY_NOT_FOUND", 409: ["WEBHOOK_INACTIVE", ...repeated] }),
        },
      },
    )
    .get(
      "/api/events",
      ({ identity, query, request }) => {
        const all = query.all === "1" || query.all === "true";
        if (all && !identity.isAdmin)
          throw forbidden("ADMIN_REQUIRED", "Only admins can follow the events of all users.");
        return feed.follow(identity, {
          all,
          types: query.types === undefined ? ["*"] : requireTypes(query.types.split(",").map((type) => type.trim())),
          after: readEventId(request.headers.get("last-event-id") ?? query.lastEventId),
          request,
        });
      },
      {
        signedIn: "read",
        query: feedQuery,
        detail: {
          tags,
          summary: "Events as they happen",
          description:
            "Server-sent events: `id` is the place to resume from, `event` the type, `data` is `{ type, timestamp, data }`. " +
            "The own account's and agents' events, or with `all=1` everybody's, for admins. Ends when the caller is signed out.",
          responses: { 200: streamResponse },
          ...mayAnswer({ 403: "ADMIN_REQUIRED", 429: "TOO_MANY_STREAMS" }),
        },
      },
    );
}

const noSuchDelivery = () => notFound("This webhook has no delivery with this id.", "DELIVERY_NOT_FOUND");

const notMeant = () => forbidden("ADMIN_REQUIRED", "This event is about somebody else: only admins can have it sent.");

/** Undefined: from now on. */
function readEventId(given: string | undefined): number | undefined {
  if (given === undefined || given === "") return undefined;
  if (!/^\d{1,15}$/.test(given)) {
    throw invalid({ path: "lastEventId", message: "Give the id of the last event you have seen, a whole number." });
  }
  return Number(given);
}
