// Defines the schemas of requests and responses about the people who write to an agent. The console takes its types from here, so
// this file imports nothing of the server.
import { t } from "elysia";
import { cursor, nextCursor } from "../../../src/kernel/http/body/response-types.ts";

const nullable = <Schema extends Parameters<typeof t.Union>[0][number]>(schema: Schema) => t.Union([schema, t.Null()]);
const time = (description: string) => t.String({ description: `ISO 8601. ${description}` });

export const agentPerson = t.Object(
  {
    channel: t.String({ description: "A channel, such as `channel_a`, or `public` for visitors" }),
    id: t.String({ description: "As the channel calls them; of a visitor, what their cookie says" }),
    name: t.String({ description: "The latest one that they have given; empty without one" }),
    messages: t.Integer({ description: "How many of theirs are kept" }),
    firstAt: time("Their first message, or when they asked to talk"),
    lastAt: time("Their latest message"),
  },
  { title: "AgentPerson" },
);

export const agentPeople = t.Object({
  people: t.Array(agentPerson),
  count: t.Integer(),
  hasMore: t.Boolean(),
});

export const peopleQuery = t.Object({
  query: t.Optional(t.String({ maxLength: 200, description: "A part of their name or id, in any case" })),
  limit: t.Optional(t.String({ description: "1 to 100, default 50" })),
  offset: t.Optional(t.String({ description: "How many to leave out" })),
});

export const erasureQuery = t.Object({
  limit: t.Optional(t.String({ description: "1 to 100, default 50" })),
  offset: t.Optional(t.String({ description: "How many to leave out" })),
  cursor,
});

/** As `berth person verify` takes it. */
export const erasureReceipt = t.Object(
  {
    format: t.Literal("berth.erasure-receipt/1"),
    id: t.String(),
    person: t.Object(
      {
        channel: t.String(),
        hash: t.String({ description: "An HMAC of channel and id: the receipt names nobody" }),
      },
      { title: "ErasedPerson" },
    ),
    agent: t.Optional(t.String({ description: "The only agent from which the person was erased" })),
    by: t.Object({ kind: t.String(), name: t.String() }, { title: "Eraser" }),
    startedAt: time("When it began"),
    endedAt: time("When nothing was left"),
    deleted: t.Record(t.String(), t.Integer(), { description: "Rows and files, by kind" }),
    remains: t.Array(
      t.Object(
        {
          what: t.String(),
          why: t.String(),
          until: nullable(t.String({ description: "A time, or an event; null: until somebody deletes it" })),
        },
        { title: "Remainder" },
      ),
    ),
    signature: t.String({
      description: "Checked by `POST /api/agents/{id}/erasures/verify` and `berth person verify`",
    }),
  },
  { title: "ErasureReceipt" },
);

/** As text, since a field that occurs twice is lost in the parsed one. */
export const receiptCheck = t.Object({
  receipt: t.String({ minLength: 1, maxLength: 100_000, description: "The file of the receipt, as it was written" }),
});

export const receiptVerdict = t.Object({
  genuine: t.Boolean({ description: "This service made it, and nothing of it was changed" }),
});

export const erasureList = t.Object({
  erasures: t.Array(
    t.Object(
      {
        id: t.String(),
        startedAt: time("When it was asked for"),
        receipt: nullable(erasureReceipt),
      },
      { title: "Erasure", description: "`receipt` is null while it is under way" },
    ),
  ),
  count: t.Integer(),
  nextCursor,
});
