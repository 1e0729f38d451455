// Defines the schemas of the backend routes for messages of agents on other hosts.
import { t } from "elysia";

export const peerMessageBody = t.Object({
  messageId: t.String({ minLength: 1, maxLength: 120, description: "Unique for the agent" }),
  conversation: t.String({ pattern: "^[\\w.:-]{1,120}$", description: "Names the conversation" }),
  path: t.Array(t.String({ maxLength: 300, pattern: "^\\S+$" }), {
    maxItems: 8,
    description: "The addresses of the agents that it has come through",
  }),
  sender: t.String({ maxLength: 200, description: "The sender's own name, if it has one" }),
  text: t.String({ minLength: 1, maxLength: 16_000 }),
});
export const peerTurn = t.Object({ turnId: t.String(), conversationId: t.String() });
export const peerOutcome = t.Object({
  status: t.Union([
    t.Literal("running"),
    t.Literal("waiting"),
    t.Literal("done"),
    t.Literal("failed"),
    t.Literal("cancelled"),
  ]),
  conversation: t.String(),
  reply: t.Union([t.String(), t.Null()]),
  at: t.Union([t.Number({ description: "Epoch ms of the reply" }), t.Null()]),
});
export const peerListQuery = t.Object({
  conversation: t.String({ pattern: "^[\\w.:-]{1,120}$", description: "The name of the conversation" }),
});
export const peerList = t.Object({
  messages: t.Array(
    t.Object({
      messageId: t.String(),
      status: peerOutcome.properties.status,
      reply: peerOutcome.properties.reply,
      at: t.Number(),
    }),
  ),
});
export const cancelledPeerTurn = t.Object({ success: t.Boolean() });
