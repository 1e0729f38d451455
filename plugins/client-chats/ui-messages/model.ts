// Defines the schemas of requests and responses in the form of the AI SDK's `useChat`.
import { type Static, t } from "elysia";
import { schemaWhenAsked } from "../../../src/kernel/http/openapi/event-streams.ts";

/** Of a part, only these fields are read; what else a client keeps there is its own. */
const part = t.Object({ type: t.String({ maxLength: 200 }) }, { additionalProperties: true });

export const uiMessage = t.Object(
  {
    id: t.Optional(t.String({ maxLength: 200 })),
    role: t.Union([t.Literal("user"), t.Literal("assistant"), t.Literal("system")], {
      error: "The role is user, assistant or system.",
    }),
    parts: t.Array(part, { maxItems: 2_000, error: "A message has a list of parts." }),
  },
  { title: "UiMessage", additionalProperties: true, description: "A UIMessage" },
);

/** An id of a conversation (`sess_…`), or any id that the client gives its chat. */
export const chatId = t.String({ minLength: 1, maxLength: 200, error: "The id of a chat has 1 to 200 characters." });

/** What `useChat` sends of itself; `message` is the last one alone, of clients that send only that. */
export const uiChatFields = {
  id: t.Optional(chatId),
  messages: t.Optional(t.Array(uiMessage, { maxItems: 5_000, error: "Give the messages of the chat." })),
  trigger: t.Optional(t.Union([t.Literal("submit-message"), t.Literal("regenerate-message")])),
  messageId: t.Optional(t.Union([t.String({ maxLength: 200 }), t.Null()])),
};

export const uiChatBody = t.Object({
  ...uiChatFields,
  message: t.Optional(t.Union([uiMessage, t.String({ maxLength: 100_000 })])),
});

export type UiChatBody = Static<typeof uiChatBody>;
/** A part of a message, with fields by its type. */
export interface UiPart {
  type: string;
  [field: string]: unknown;
}
export type UiMessage = Omit<Static<typeof uiMessage>, "parts"> & { parts: UiPart[] };

export const uiChat = t.Object({
  id: t.String(),
  messages: t.Array(
    t.Object({
      id: t.String(),
      role: t.Union([t.Literal("user"), t.Literal("assistant")]),
      metadata: t.Object({ createdAt: t.String({ description: "ISO 8601" }), turnId: t.String() }),
      parts: t.Array(part),
    }),
    { description: "Oldest first: the `messages` of `useChat`" },
  ),
});

export const agentOfChat = t.Object({
  agentId: t.Optional(t.String({ maxLength: 64, description: "Without it, the newest agent" })),
});

export const stoppedChat = t.Object({
  success: t.Boolean(),
  turnId: t.Union([t.String(), t.Null()], { description: "The turn that is cancelled; null if none ran or waited" }),
});

/** The types of chunks that Berth sends, as the AI SDK names them (https://ai-sdk.dev/docs/ai-sdk-ui/stream-protocol). */
const CHUNK_TYPES = [
  ...["start", "start-step", "text-start", "text-delta", "text-end", "tool-input-available"],
  ...["tool-approval-request", "tool-output-available", "tool-output-error", "file", "data-waiting"],
  ...["finish-step", "finish", "abort", "error"],
];

/** One event of the UI message stream, for the API document. Its events have no name. */
export const uiMessageEvent = schemaWhenAsked(() => {
  const chunk = t.Object(
    { type: t.Union(CHUNK_TYPES.map((type) => t.Literal(type))) },
    {
      title: "UiMessageChunk",
      description: "One chunk of the AI SDK's UI message stream, whose fields depend on `type`",
      additionalProperties: true,
    },
  );
  return t.Object(
    {
      data: t.Union([chunk, t.Literal("[DONE]", { description: "The end of the stream; it is sent without quotes" })]),
    },
    { title: "UiMessageEvent", description: "One event of the stream, which has no name; its data is sent as JSON" },
  );
});
