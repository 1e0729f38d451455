// What a turn looks like on the wire, between the web surface and the backend.
import { t } from "elysia";

export const chatBody = t.Object({
  message: t.String({ minLength: 1, maxLength: 100_000, error: "Give a message of 1 to 100000 characters." }),
  /** A session of this agent; left out: the active one, or a new one. */
  sessionId: t.Optional(t.String({ maxLength: 64 })),
  /** A conversation of its own by name, instead of a session. */
  topic: t.Optional(t.String({ minLength: 1, maxLength: 200, error: "A topic has 1 to 200 characters." })),
});

/** The web surface says through which of its doors the message came. */
export const turnBody = t.Composite([chatBody, t.Object({ platform: t.Union([t.Literal("web"), t.Literal("api")]) })]);

export type TurnBody = typeof turnBody.static;

export const chatReply = t.Object({
  inboxId: t.String(),
  sessionId: t.String(),
  reply: t.String(),
  timestamp: t.Number({ description: "epoch ms" }),
});

export const newSession = t.Object({ sessionId: t.String(), status: t.String() });
