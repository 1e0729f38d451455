// What public pages take and answer on the wire.
import { t } from "elysia";

export const MAX_MESSAGE = 4_000;
const MAX_GREETING = 500;

export const settingsBody = t.Object({
  enabled: t.Boolean({ error: "Say true or false." }),
  greeting: t.Optional(
    t.String({
      maxLength: MAX_GREETING,
      description: "What visitors read before they write; left out, it stays",
      error: `A greeting is text of at most ${MAX_GREETING} characters.`,
    }),
  ),
});

export const settings = t.Object({
  enabled: t.Boolean({ description: "Anybody may talk to the agent at its public address" }),
  greeting: t.String(),
});
export const settingsWithUrl = t.Object({ ...settings.properties, url: t.String({ description: "The address" }) });

export const messageBody = t.Object({
  message: t.String({
    minLength: 1,
    maxLength: MAX_MESSAGE,
    error: `Give a message of 1 to ${MAX_MESSAGE} characters.`,
  }),
});
/** What the web hands to the backend: the same, and who it is from. */
export const visitBody = t.Object({
  ...messageBody.properties,
  visitor: t.String({ pattern: "^[\\w-]{22}$" }),
});
export const reply = t.Object({ reply: t.String(), timestamp: t.Number({ description: "Epoch ms" }) });

/** The card, for programs. */
export const card = t.Object({
  name: t.String(),
  status: t.Union([t.Literal("online"), t.Literal("asleep"), t.Literal("unwell")]),
  verified: t.Boolean(),
  verificationType: t.Union([t.String(), t.Null()]),
  chat: t.Boolean({ description: "Anybody may talk to it: POST …/messages" }),
  greeting: t.String(),
  url: t.String(),
});
export type Card = typeof card.static;
