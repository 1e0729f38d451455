// Defines the API's request and response schemas of webhooks and the event feed.
import { type Static, t } from "elysia";
import type { Delivery } from "./delivery/delivery-rows.ts";
import type { Endpoint } from "./endpoints/endpoints.ts";
import { EVENT_TYPES } from "./event-types.ts";

const text = (maxLength: number, error: string) => t.String({ maxLength, error });
const nullable = (schema: ReturnType<typeof t.String> | ReturnType<typeof t.Number>) => t.Union([schema, t.Null()]);

const url = text(2_048, "Give the http or https address to send events to, of at most 2,048 characters.");
const types = t.Array(text(64, "A type is text, such as agent.created."), {
  maxItems: 50,
  description: `Types of events, groups such as \`agent.*\`, or \`*\`. Left out: all. The types: ${EVENT_TYPES.join(", ")}.`,
  error: 'The types are a list, such as ["agent.created", "user.*"].',
});
const description = text(500, "A description is text of at most 500 characters.");
const active = t.Boolean({ error: "active is true or false." });

export const newWebhook = t.Object({ url, types: t.Optional(types), description: t.Optional(description) });

export const webhookChanges = t.Object({
  url: t.Optional(url),
  types: t.Optional(types),
  description: t.Optional(description),
  active: t.Optional(active),
});

const fields = {
  id: t.String(),
  url: t.String(),
  types: t.Array(t.String()),
  description: t.String(),
  active: t.Boolean(),
  disabledReason: nullable(t.String({ description: "Why it is not active" })),
  allEvents: t.Boolean({ description: "Receives the events of all users, as long as its owner is an admin" }),
  createdAt: t.String(),
  updatedAt: t.String(),
};

export const webhook = t.Object(fields);
export const createdWebhook = t.Object({
  ...fields,
  secret: nullable(t.String({ description: "Shown only in this response; null when it is replayed" })),
});
export const webhookList = t.Object({ webhooks: t.Array(webhook), count: t.Number() });
export const removeResult = t.Object({ success: t.Literal(true), id: t.String(), deleted: t.Literal(true) });
export const rotateResult = t.Object({
  secret: nullable(t.String({ description: "Shown only in this response; null when it is replayed" })),
});

export const delivery = t.Object(
  {
    id: t.String(),
    eventId: t.String({ description: "The `webhook-id` of every attempt" }),
    type: t.String(),
    status: t.Union([t.Literal("pending"), t.Literal("delivered"), t.Literal("failed")]),
    attempts: t.Number(),
    lastStatus: nullable(t.Number({ description: "The HTTP status of the receiver's last answer" })),
    lastError: nullable(t.String()),
    nextAttemptAt: nullable(t.String()),
    createdAt: t.String(),
    deliveredAt: nullable(t.String()),
  },
  { title: "WebhookDelivery" },
);
export const deliveryList = t.Object({
  deliveries: t.Array(delivery),
  count: t.Number(),
  nextCursor: nullable(t.String({ description: "For the next page" })),
});
export const replayResult = t.Object({ delivery });

export const pageQuery = t.Object({
  limit: t.Optional(t.String({ description: "1 to 100", examples: ["50"] })),
  offset: t.Optional(t.String({ description: "0 or more", examples: ["0"] })),
  cursor: t.Optional(
    t.String({
      pattern: "^[0-9]{1,15}$",
      description: "The `nextCursor` of the page before",
      error: "Give the nextCursor of the page before, or leave it out.",
    }),
  ),
});

export const feedQuery = t.Object({
  types: t.Optional(
    t.String({ description: "Types or groups, separated by commas", examples: ["agent.*,user.updated"] }),
  ),
  lastEventId: t.Optional(t.String({ description: "Like the header `Last-Event-ID`: resumes after this event" })),
  all: t.Optional(t.String({ description: "`1`: the events of all users, for admins", examples: ["1"] })),
});

const iso = (time: number) => new Date(time).toISOString();
const isoOrNull = (time: number | null) => (time === null ? null : iso(time));

export const toWebhook = (endpoint: Endpoint): Static<typeof webhook> => ({
  id: endpoint.id,
  url: endpoint.url,
  types: endpoint.types,
  description: endpoint.description,
  active: endpoint.active,
  disabledReason: endpoint.disabledReason,
  allEvents: endpoint.allEvents,
  createdAt: iso(endpoint.createdAt),
  updatedAt: iso(endpoint.updatedAt),
});

export const toDelivery = (row: Delivery): Static<typeof delivery> => ({
  ...row,
  nextAttemptAt: isoOrNull(row.nextAttemptAt),
  createdAt: iso(row.createdAt),
  deliveredAt: isoOrNull(row.deliveredAt),
});

const eventData = t.Object(
  {
    type: t.String(),
    timestamp: t.String({ description: "ISO 8601" }),
    data: t.Record(t.String(), t.Unknown(), { description: "By type: see the guide to events, at `/docs/events`" }),
  },
  { title: "WebhookEvent", description: "The same as the body of a webhook" },
);

/** One event of the feed. `declared` are the types of third-party plugins. */
export const feedEventSchema = (declared: readonly string[]) => ({
  title: "FeedEvent",
  description: "One event of the stream. Each has an id, so that a stream that broke off goes on after it.",
  type: "object" as const,
  required: ["id", "event", "data"],
  properties: {
    id: { type: "string" as const, description: "Where to resume: the header `Last-Event-ID`" },
    event: { type: "string" as const, enum: [...EVENT_TYPES, ...declared] },
    data: eventData,
  },
});
