// Names what belongs to the AI SDK's UI message stream (ai-sdk.dev, "Stream Protocols"): its header, and who asks for it.
import { TURN_ERRORS } from "../../runtime/index.ts";

/** The header of the stream; a client that sends it asks for one. */
export const UI_STREAM_HEADER = "x-vercel-ai-ui-message-stream";
export const UI_STREAM_VERSION = "v1";

export const UI_STREAM_HEADERS = {
  "content-type": "text/event-stream;charset=utf-8",
  "cache-control": "no-store",
  "x-accel-buffering": "no",
  [UI_STREAM_HEADER]: UI_STREAM_VERSION,
};

/** Whether a request wants a UI message stream: it says so, or its body is the one of `useChat`. */
export const asksForUiMessages = (request: Request, body: { messages?: unknown }): boolean =>
  request.headers.has(UI_STREAM_HEADER) || body.messages !== undefined;

export const UI_CHAT_ERRORS = {
  400: ["SESSION_ELSEWHERE", "TOO_MANY_ATTACHMENTS", "SCOPE_NOT_ALLOWED"],
  402: TURN_ERRORS[402],
  404: ["CONVERSATION_NOT_FOUND", "UPLOAD_NOT_FOUND", "TURN_NOT_FOUND", "APPROVAL_NOT_FOUND"],
  409: ["AGENT_STOPPED", "AGENT_FROZEN", "ALREADY_DECIDED"],
  410: "EXPIRED",
  413: ["BODY_TOO_LARGE", "UPLOAD_TOO_LARGE", "UPLOAD_QUOTA_EXCEEDED"],
  429: ["TOO_MANY_WAITING", "TOO_MANY_UPLOADS", "TOO_MANY_STREAMS"],
  500: "UPLOAD_NOT_STORED",
  502: "BACKEND_UNAVAILABLE",
  503: ["STOPPING", "TURN_BUSY"],
};
