// Defines the API's request and response schemas of public pages.
import { t } from "elysia";
import { MAX_EMBED_ORIGINS } from "./embed-origins.ts";

export const MAX_MESSAGE = 4_000;
export const MAX_GREETING = 500;

export const settingsBody = t.Object({
  enabled: t.Boolean({ error: "enabled is true or false." }),
  greeting: t.Optional(
    t.String({
      maxLength: MAX_GREETING,
      description: "Shown to visitors before their first message. Left out: unchanged",
      error: `A greeting is text of at most ${MAX_GREETING} characters.`,
    }),
  ),
  embedOrigins: t.Optional(
    t.Array(t.String({ maxLength: 300 }), {
      maxItems: MAX_EMBED_ORIGINS,
      description: "Origins of sites that may show the page in a frame, scheme, host and port. Left out: unchanged",
      error: `This must be a list of at most ${MAX_EMBED_ORIGINS} addresses of sites.`,
    }),
  ),
});

export const settings = t.Object({
  enabled: t.Boolean({ description: "Visitors may talk to the agent at its public address" }),
  greeting: t.String(),
  embedOrigins: t.Array(t.String(), { description: "Sites that may show the page in a frame" }),
});
export const settingsWithUrl = t.Object({
  ...settings.properties,
  url: t.String({ description: "The public address" }),
});

/** Of a visitor's message. */
export const messageId = t.String({
  pattern: "^[\\w-]{20,64}$",
  description:
    "A random name of the message: with the same name it is the same message. It is answered once, and a request that comes while " +
    "it is answered gets the answer from its beginning. Without a name, the answer ends with the connection",
  examples: ["7c1de3a0-52f4-4c1b-9d7e-0a6f6c2b9a11"],
});

export const messageBody = t.Object({
  message: t.String({
    minLength: 1,
    maxLength: MAX_MESSAGE,
    error: `Give a message of 1 to ${MAX_MESSAGE} characters.`,
  }),
  id: t.Optional(messageId),
});
/** The web's request to the backend: a visitor's message with the visitor's id. */
export const visitBody = t.Object({
  ...messageBody.properties,
  visitor: t.String({ pattern: "^[\\w-]{22}$" }),
});
export const reply = t.Object(
  { reply: t.String(), timestamp: t.Number({ description: "Epoch ms" }) },
  { title: "VisitorReply" },
);

/** The card as JSON, for programs. */
export const card = t.Object(
  {
    name: t.String(),
    status: t.Union([t.Literal("online"), t.Literal("asleep"), t.Literal("unwell")]),
    verified: t.Boolean(),
    verificationType: t.Union([t.String(), t.Null()]),
    chat: t.Boolean({ description: "Visitors may talk to it: POST …/messages" }),
    greeting: t.String(),
    url: t.String(),
  },
  { title: "PublicCard" },
);
export type Card = typeof card.static;

/** Errors of a visitor's message, for the API's documentation. */
export const VISIT_ERRORS = {
  402: "BUDGET_EXCEEDED",
  404: "AGENT_NOT_FOUND",
  409: ["AGENT_STOPPED", "AGENT_FROZEN", "CANCELLED", "ALREADY_SETTLED"],
  502: "MODEL_UNAVAILABLE",
  503: ["STOPPING", "AGENT_CHANGING"],
};
