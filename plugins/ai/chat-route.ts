// The backend's route by which API clients chat with models in Berth's own form. Those under /v1 are in `openai-api`.
import { Elysia } from "elysia";
import { documentErrors } from "../../src/kernel/http/openapi/route-documentation.ts";
import { openRoutes } from "../../src/kernel/http/route-guards.ts";
import { cacheHeader } from "./cache/response-cache.ts";
import { type ApiCallers, readApiCall } from "./calls/api-callers.ts";
import type { createApiCalls } from "./calls/api-calls.ts";
import { chatErrors, chatRequestBody, chatResponses, parseChatBody } from "./calls/chat-request.ts";

interface Deps {
  callers: ApiCallers;
  /** The calls of API clients. */
  open: ReturnType<typeof createApiCalls>;
}

export function chatRoute({ callers, open }: Deps) {
  const chat = async ({ body, request }: { body: unknown; request: Request }) => {
    const { userId } = await callers.admit(request);
    return open.chat(readApiCall(request, userId, () => parseChatBody(body)));
  };

  return new Elysia({ name: "ai.chat" }).use(openRoutes).post("/api/ai/chat", chat, {
    open: true,
    detail: {
      tags: ["AI"],
      summary: "Chat with a model, passed through",
      description:
        "The provider's answer is passed through in the shape of OpenAI's chat completions, streamed with `stream: true`. Without `model`, `taskType` chooses one.",
      operationId: "createChatCompletion",
      ...documentErrors(chatErrors),
      parameters: [cacheHeader],
      requestBody: chatRequestBody,
      responses: chatResponses,
    },
  });
}
