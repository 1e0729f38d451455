// The events of replies and turns as they are streamed, for the API document.
import { type TSchema, t } from "elysia";
import { eventSchema } from "../../../src/kernel/http/openapi/event-streams.ts";
import { sentFile, sentFiles } from "../reply-files/sent-files.ts";

const delta = () => t.Object({ text: t.String({ description: "The next part of the reply" }) });

const error = () =>
  t.Object(
    { status: t.Integer(), error: t.String(), message: t.String(), code: t.String() },
    { title: "StreamedError", description: "As the body of an error response, with its status" },
  );

const chatEvents = () => ({
  delta: delta(),
  tool: t.Object({
    name: t.String(),
    state: t.Union([t.Literal("called"), t.Literal("done"), t.Literal("failed")]),
  }),
  file: sentFile,
  error: error(),
});

/** The events of a reply that its caller waits for. `reply` is the same as without a stream. */
export const chatEvent = (reply: TSchema) =>
  eventSchema("ChatEvent", "One event of a reply; `reply` or `error` is the last one.", () => ({
    ...chatEvents(),
    reply,
  }));

/** The data of the events of a reply to a visitor: which tools an agent has is private. */
export const visitorEvents = (reply: TSchema) => ({ delta: delta(), error: error(), reply });

/** The events of a reply to a visitor. */
export const visitorEvent = (reply: TSchema) =>
  eventSchema("VisitorEvent", "One event of a reply; `reply` or `error` is the last one.", () => visitorEvents(reply));

/** The events of a turn that runs in the background. */
export const turnEvent = eventSchema("TurnEvent", "One event of a turn; `end` is the last one.", () => {
  const turnId = t.String();
  return {
    turn: t.Object({ turnId, status: t.Union([t.Literal("waiting"), t.Literal("running")]) }),
    delta: delta(),
    tool: t.Object({
      id: t.String({ description: "The same when it is called and when it ends" }),
      parent: t.Optional(t.String({ description: "The call within which it was made" })),
      name: t.String(),
      input: t.Unknown({ description: "What the model gave it, without secrets" }),
      state: t.Union([t.Literal("called"), t.Literal("done"), t.Literal("failed")]),
      result: t.Optional(t.String({ description: "Shortened, without secrets; at the end" })),
      ms: t.Optional(t.Number()),
    }),
    file: sentFile,
    approval: t.Object({
      turnId,
      id: t.String(),
      callId: t.String(),
      tool: t.String(),
      class: t.String(),
      summary: t.String(),
    }),
    waiting: t.Object({
      turnId,
      code: t.String(),
      message: t.String(),
      retryInMs: t.Optional(t.Number({ description: "When it goes on by itself, if that is known" })),
    }),
    reset: t.Object({}, { description: "Forget what came before: the turn has begun anew" }),
    reply: t.Object({
      turnId,
      conversationId: t.String(),
      text: t.String(),
      timestamp: t.String({ description: "ISO 8601" }),
      files: sentFiles,
    }),
    error: t.Object({
      status: t.Optional(t.Integer()),
      error: t.String(),
      message: t.String(),
      code: t.String(),
    }),
    end: t.Object({
      turnId,
      status: t.Union([t.Literal("done"), t.Literal("failed"), t.Literal("cancelled"), t.Literal("waiting")]),
    }),
  };
});
