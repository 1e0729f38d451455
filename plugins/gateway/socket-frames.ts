// The frames of the gateway's socket, for the API document. socket-chat.ts and gateway-sockets.ts send and read them.
import { t } from "elysia";
import { frameSchema, schemaWhenAsked } from "../../src/kernel/http/openapi/event-streams.ts";
import { logLine } from "../agents/index.ts";
import { sentFile, sentFiles } from "../runtime/index.ts";

/** Every frame, in either direction. Made when the document is. */
export const gatewayFrame = schemaWhenAsked(() => {
  const id = t.String({
    minLength: 1,
    maxLength: 128,
    description: "Yours: it comes back with every frame of the reply",
  });

  const clientFrames = frameSchema("GatewayClientFrame", "What a client sends.", [
    t.Object(
      { type: t.Literal("chat"), id, message: t.String({ minLength: 1 }), sessionId: t.Optional(t.String()) },
      { title: "GatewayChatFrame", description: "A message to the agent; at most 16 are answered at once" },
    ),
    t.Object({ type: t.Literal("cancel"), id }, { title: "GatewayCancelFrame", description: "Stop the reply" }),
    t.Object({ type: t.Literal("ping") }, { title: "GatewayPingFrame" }),
  ]);

  const serverFrames = frameSchema("GatewayServerFrame", "What the server sends.", [
    t.Object(
      {
        type: t.Literal("status"),
        status: t.String(),
        reason: t.Union([t.String(), t.Null()]),
        agentId: t.String(),
        name: t.String(),
      },
      { title: "GatewayStatusFrame", description: "First of all, and whenever the agent's status changes" },
    ),
    t.Object(
      { type: t.Literal("delta"), id, text: t.String() },
      { title: "GatewayDeltaFrame", description: "The next part of the reply" },
    ),
    t.Object(
      {
        type: t.Literal("tool"),
        id,
        name: t.String(),
        state: t.Union([t.Literal("called"), t.Literal("done"), t.Literal("failed")]),
      },
      { title: "GatewayToolFrame", description: "A tool at work" },
    ),
    t.Object(
      { type: t.Literal("file"), id, file: sentFile },
      { title: "GatewayFileFrame", description: "A file that comes with the reply" },
    ),
    t.Object(
      {
        type: t.Literal("reply"),
        id,
        inboxId: t.String(),
        agentId: t.String(),
        sessionId: t.String(),
        reply: t.String(),
        timestamp: t.Number({ description: "Epoch ms" }),
        files: sentFiles,
      },
      { title: "GatewayReplyFrame", description: "The whole reply; the message is answered" },
    ),
    t.Object(
      {
        type: t.Literal("error"),
        id: t.Union([t.String(), t.Null()], { description: "Null if no message is meant" }),
        error: t.String(),
        message: t.String(),
        code: t.String(),
        status: t.Optional(t.Integer()),
      },
      { title: "GatewayErrorFrame" },
    ),
    t.Object(
      { type: t.Literal("log"), ...logLine.properties },
      { title: "GatewayLogFrame", description: "A line of the agent's log; left out for a reader that is far behind" },
    ),
    t.Object({ type: t.Literal("pong") }, { title: "GatewayPongFrame" }),
  ]);

  return {
    title: "GatewayFrame",
    description: "One frame of the socket, as JSON.",
    oneOf: [clientFrames, serverFrames],
  };
});
