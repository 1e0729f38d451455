// Defines the schemas of the backend route that stores messages of clients.
import { t } from "elysia";

export const clientMessageBody = t.Object({
  conversation: t.String({ minLength: 1, maxLength: 300, description: "A conversation's id, or its address" }),
  key: t.String({ minLength: 1, maxLength: 200, description: "The same key is the same message" }),
  text: t.String({ maxLength: 100_000, error: "A message has at most 100000 characters." }),
  files: t.Optional(
    t.Array(
      t.Object({
        name: t.String({ maxLength: 300 }),
        type: t.String({ maxLength: 200 }),
        data: t.String({ description: "Base64" }),
      }),
      { maxItems: 10, error: "A message takes 10 files." },
    ),
  ),
  attachments: t.Optional(t.Array(t.String({ maxLength: 64 }), { maxItems: 10, description: "Ids of uploads" })),
});

export const acceptedMessage = t.Object({
  turnId: t.String(),
  conversationId: t.String(),
  isNew: t.Boolean({ description: "False: the message was stored before" }),
});
