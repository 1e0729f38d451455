// Defines the API's request and response schemas of the chat on other sites.
import { t } from "elysia";
import { eventSchema } from "../../src/kernel/http/openapi/event-streams.ts";
import { messageId, visitorMessageBody, visitorReply } from "../public-page/index.ts";
import { visitorEvents } from "../runtime/index.ts";

export const languages = t.String({
  pattern: "^[A-Za-z0-9,-]{2,100}$",
  description: "Languages of the visitor, best first. The first that Berth speaks is used, else English",
  examples: ["fr,de-AT"],
});

export const chatLook = t.Object({
  name: t.String({ description: "The agent's name" }),
  greeting: t.String({ description: "What is shown before the first message; empty: `texts.hello`" }),
  accent: t.Union([t.String({ pattern: "^#[0-9a-fA-F]{6}$" }), t.Null()], { description: "Null: Berth's own colour" }),
  theme: t.Union([t.Literal("auto"), t.Literal("light"), t.Literal("dark")]),
  language: t.String({ description: "The language of the texts" }),
  texts: t.Record(t.String(), t.String(), { description: "The words of the chat, by name" }),
  errors: t.Record(t.String(), t.String(), { description: "Sentences for error codes; without one, an error's own" }),
});
export type ChatLook = typeof chatLook.static;

const visitor = t.Optional(
  t.String({ maxLength: 200, description: "The token of the last answer. Left out, or not valid: a new visitor" }),
);
export const messageBody = t.Object({ ...visitorMessageBody.properties, visitor });
export const stopBody = t.Object({ id: messageId, visitor });
export const stopped = t.Object(
  { stopped: t.Boolean({ description: "False if the message was not being answered" }) },
  { title: "StoppedVisit" },
);

export const embeddedReply = t.Object({
  reply: t.String(),
  timestamp: t.Number({ description: "Epoch ms" }),
  visitor: t.Union([t.String(), t.Null()], {
    description: "A token for the visitor's next message. Null in a replayed response",
  }),
});

export const embeddedEvent = eventSchema(
  "EmbedEvent",
  "One event of a reply; `visitor` is the first one, `reply` or `error` the last.",
  () => ({
    visitor: t.Object({ visitor: t.String({ description: "A token for the visitor's next message" }) }),
    ...visitorEvents(visitorReply),
  }),
);
