// Client chats: conversations that programs of others hold with an agent in a protocol of their own. Here is what all of them
// need, and the AI SDK's UI message stream, by which `useChat` talks to an agent.

import { plugin } from "../../src/kernel/plugin.ts";
import { once } from "../../src/kernel/util/cache.ts";
import { agents } from "../agents/index.ts";
import { auth } from "../auth/index.ts";
import { runtime } from "../runtime/index.ts";
import { uploads } from "../uploads/index.ts";
import { createClientMessages } from "./client-messages.ts";
import type { UiChatBody } from "./ui-messages/model.ts";
import type { UiChatCall } from "./ui-messages/ui-chats.ts";

export { waitingWords } from "./approval-words.ts";
export { type ClientFile, type ClientMessage, topicConversation } from "./client-messages.ts";
export { readTurnEvents, type TurnEvent } from "./turn-events.ts";
export { uiChatFields } from "./ui-messages/model.ts";
export { asksForUiMessages } from "./ui-messages/protocol.ts";
export type { UiChatBody, UiChatCall };

export const clientChats = plugin("client-chats", ({ kernel, use }) => {
  const agentService = use(agents);
  const { identities } = use(auth);
  const runtimeService = use(runtime);
  const messages = createClientMessages({ runtime: runtimeService, uploads: use(uploads) });
  const uiChats = once(async () => {
    const { createUiChats } = await import("./ui-messages/ui-chats.ts");
    return createUiChats({ ...kernel, identities, runtime: runtimeService });
  });
  return {
    service: {
      /** Stores messages of clients, each once, on the backend. */
      messages,
      /** Answers a request in the form of `useChat`, on the web surface. */
      answerUiChat: async (call: UiChatCall, body: UiChatBody): Promise<Response> =>
        (await uiChats()).answer(call, body),
      /** Goes on with the stream of a chat that broke off; 204 if there is none. */
      resumeUiChat: async (call: UiChatCall, chatId: string): Promise<Response> =>
        (await uiChats()).resume(call, chatId),
    },
    lateRoutes: {
      web: [
        async () => {
          const { webRoutes } = await import("./ui-messages/web-routes.ts");
          return webRoutes({ agents: agentService, identities, uiChats: await uiChats() });
        },
      ],
      backend: [async () => (await import("./backend-routes.ts")).backendRoutes({ agents: agentService, messages })],
    },
  };
});
