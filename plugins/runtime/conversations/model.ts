// Defines the schemas of requests and responses about conversations and turns. The console takes its types from here, so
// this file imports nothing of the server.
import { t } from "elysia";
import { integer } from "../../../src/kernel/http/body/response-types.ts";

const nullable = <Schema extends Parameters<typeof t.Union>[0][number]>(schema: Schema) => t.Union([schema, t.Null()]);
const time = (description: string) => t.String({ description: `ISO 8601. ${description}` });

const STATES = [
  t.Literal("running"),
  t.Literal("waiting"),
  t.Literal("done"),
  t.Literal("failed"),
  t.Literal("cancelled"),
] as const;
const STEP_STATES = [
  t.Literal("waiting"),
  t.Literal("running"),
  t.Literal("done"),
  t.Literal("failed"),
  t.Literal("cancelled"),
  t.Literal("unknown"),
] as const;
const state = t.Union([...STATES]);
const role = t.Union([t.Literal("user"), t.Literal("assistant")]);
const turnError = nullable(t.Object({ code: t.String(), message: t.String() }, { title: "TurnError" }));
const money = t.Number({ description: "USD" });

export const conversationItem = t.Object(
  {
    id: t.String(),
    platform: t.String(),
    name: t.String({ description: "The name of its latest sender; empty for you" }),
    isGroup: t.Boolean(),
    topic: nullable(t.String()),
    title: t.String({ description: "Its topic, or its first words" }),
    preview: t.String({ description: "The beginning of its latest message" }),
    previewRole: role,
    messageCount: integer(),
    waiting: integer({ description: "Messages that wait for their reply" }),
    status: t.Union([t.Literal("active"), t.Literal("idle"), t.Literal("completed")]),
    createdAt: time("Its beginning"),
    lastActivityAt: time("Its latest message"),
    match: nullable(
      t.Object(
        { seq: integer(), text: t.String() },
        { title: "FoundMessage", description: "The newest message that a search has found" },
      ),
    ),
  },
  { title: "Conversation" },
);

export const conversationList = t.Object({
  conversations: t.Array(conversationItem),
  count: integer(),
  nextCursor: nullable(t.String({ description: "The `cursor` of the next page; null at the end" })),
  complete: t.Boolean({
    description: "False if a search stopped at its bound of rows: the next page goes on with it",
  }),
});

export const conversationQuery = t.Object({
  query: t.Optional(
    t.String({ minLength: 1, maxLength: 200, description: "Searches messages, senders and topics, ignoring case" }),
  ),
  platform: t.Optional(
    t.String({ maxLength: 64, description: "Only of this platform: a channel, web, api, public or agent" }),
  ),
  limit: t.Optional(t.String({ description: "1 to 100, default 50" })),
  cursor: t.Optional(t.String({ description: "The `nextCursor` of the page before" })),
});

const stepFields = {
  name: t.String(),
  input: t.Unknown({ description: "With secrets blacked out" }),
  result: t.String({ description: "The first 4,000 characters" }),
  ok: t.Boolean(),
  startedAt: nullable(time("When it was called")),
  ms: nullable(integer({ description: "How long it took" })),
};
const partOf = integer({ description: "Which part of the delegated work it belongs to, from 1" });
const step = t.Object(
  {
    ...stepFields,
    steps: t.Optional(
      t.Array(t.Object({ ...stepFields, part: partOf }), {
        description:
          "The calls that it has made itself, as `delegate` does, with the first 500 characters of their texts",
      }),
    ),
  },
  { title: "TurnStep" },
);

export const attachment = t.Object(
  {
    id: t.String({ description: "Of the upload" }),
    name: t.String(),
    type: t.String(),
    size: integer(),
    kind: t.Optional(t.Union([t.Literal("picture"), t.Literal("audio"), t.Literal("voice"), t.Literal("document")])),
    caption: t.Optional(t.String()),
  },
  { description: "A file that came with a message; `kind` and `caption` are those of a file that a reply sends" },
);

export const messageItem = t.Object(
  {
    id: t.String(),
    seq: nullable(integer({ description: "Its position; null while it waits for its reply" })),
    role: role,
    kind: t.Union([t.Literal("message"), t.Literal("command"), t.Literal("reminder")]),
    text: t.String(),
    transcribedBy: nullable(
      t.String({ description: "The model that wrote down its recordings, whose words are at the end of the text" }),
    ),
    senderName: t.String({ description: "Empty for you and for the agent" }),
    byOwner: t.Boolean(),
    createdAt: time("When it arrived, or was written"),
    turnId: t.String(),
    state,
    error: turnError,
    steps: t.Array(step),
    attachments: t.Array(attachment),
    usage: nullable(
      t.Object({
        model: nullable(t.String()),
        inputTokens: integer(),
        outputTokens: integer(),
        costUsd: money,
        ms: integer({ description: "From the message to its reply" }),
      }),
    ),
  },
  { title: "ConversationMessage" },
);

export const conversationMessages = t.Object({
  messages: t.Array(messageItem),
  count: integer(),
  before: nullable(integer({ description: "The `before` of the next, older page; null at the beginning" })),
});

export const messagesOfConversationQuery = t.Object({
  before: t.Optional(t.String({ description: "Only messages before this position" })),
  limit: t.Optional(t.String({ description: "1 to 100, default 50" })),
});

export const turnItem = t.Object(
  {
    id: t.String(),
    sessionId: t.String({ description: "The id of the conversation" }),
    platform: t.String(),
    status: state,
    error: turnError,
    model: nullable(t.String()),
    steps: integer({ description: "Calls of the model and of tools" }),
    inputTokens: integer(),
    outputTokens: integer(),
    costUsd: money,
    startedAt: time("The first call of the model, or the arrival of the message"),
    endedAt: nullable(time("When it was settled")),
  },
  { title: "Turn" },
);

export const turnList = t.Object({
  turns: t.Array(turnItem),
  count: integer(),
  nextCursor: nullable(t.String({ description: "The `cursor` of the next page; null at the end" })),
});

export const turnQuery = t.Object({
  status: t.Optional(
    t.Union([...STATES], {
      description: "Only turns in this state",
      error: "The status is one of: running, waiting, done, failed, cancelled.",
    }),
  ),
  limit: t.Optional(t.String({ description: "1 to 100, default 50" })),
  offset: t.Optional(t.String({ description: "Turns to skip, default 0" })),
  cursor: t.Optional(
    t.String({
      pattern: "^[0-9a-f-]{36}$",
      description: "The `nextCursor` of the page before",
      error: "Give the nextCursor of the page before, or leave it out.",
    }),
  ),
});

export const turnWithSteps = t.Object({
  turn: turnItem,
  steps: t.Array(
    t.Object({
      seq: integer(),
      parent: nullable(
        integer({ description: "The `seq` of the call within which this one was made, as `delegate` does" }),
      ),
      part: nullable(partOf),
      kind: t.Union([t.Literal("model"), t.Literal("tool")]),
      name: t.String(),
      input: t.Unknown({
        description: "Of a tool, with secrets blacked out; null for a model, which reads the conversation so far",
      }),
      output: t.Unknown({ description: "The result of a tool; what a model has said, null if it only called tools" }),
      ok: t.Boolean(),
      state: t.Union([...STEP_STATES], {
        description:
          "`waiting`: for the owner's approval; `cancelled`: its turn ended before it ran; `unknown`: the call was interrupted, and may have had its effect",
      }),
      inputTokens: nullable(integer()),
      outputTokens: nullable(integer()),
      costUsd: nullable(money),
      startedAt: nullable(time("When it began")),
      endedAt: nullable(time("When it ended")),
    }),
  ),
});

const ids = (description: string) =>
  t.Optional(
    t.Array(t.String({ maxLength: 64 }), { maxItems: 10, description, error: "Give up to 10 ids of uploads." }),
  );

export const detachedMessageBody = t.Object({
  message: t.Optional(t.String({ maxLength: 100_000, error: "A message has at most 100000 characters." })),
  attachments: ids("Ids of uploads"),
  voice: ids("Those of the uploads that you have spoken for this message"),
});

export const detachedTurn = t.Object({
  turnId: t.String({ description: "The id of the message and of its turn" }),
  conversationId: t.String(),
});

export const cancelledTurn = t.Object({ turnId: t.String(), success: t.Boolean() });
