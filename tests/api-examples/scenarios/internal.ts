// Routes of the backend that only the web surface calls, with its service token.
import { eventually } from "../../support/eventually.ts";
import type { CallOptions, Tour } from "../tour.ts";
import { asWebSurface, type World } from "../world.ts";

export async function internal(tour: Tour, { upstream }: World): Promise<void> {
  if (tour.side === "web") return;
  const { call, owner } = tour;
  upstream.script(({ lastUser }) => ({ text: `Ahoy! You said: ${lastUser}` }));
  await owner.post(`/api/agents/${tour.agentId}/start`, {});
  const { body: account } = await owner.get<{ id: string }>("/api/settings");
  const granted = (action: string, options: CallOptions = {}): CallOptions => {
    const grant = { userId: account.id, agentId: tour.agentId, action };
    return { ...options, as: null, headers: { ...options.headers, ...asWebSurface(grant) } };
  };
  await owner.put(`/api/agents/${tour.agentId}/public`, { enabled: true });
  const visitor = "visitor-0000000000-abc";
  await call("POST /api/agents/{id}/visits", granted("agent.visit", { body: { message: "Is it open?", visitor } }));
  const message = {
    messageId: "message-1",
    conversation: "conversation-1",
    path: [],
    sender: "lighthouse.example",
    text: "Ahoy!",
  };
  const path = { messageId: "message-1" };
  await call("POST /api/agents/{id}/peers/messages", granted("agent.peer", { body: message }));
  await call("GET /api/agents/{id}/peers/messages/{messageId}/events", granted("agent.peer", { path, events: 50 }));
  await call("GET /api/agents/{id}/peers/messages/{messageId}", granted("agent.peer", { path }));
  await call(
    "GET /api/agents/{id}/peers/messages",
    granted("agent.peer", { query: { conversation: "conversation-1" } }),
  );
  await cancelled(tour, upstream, granted, message);
  const sent = { conversation: "chat:harbour-tour", key: "message-1", text: "Is the harbour open?" };
  await call("POST /api/agents/{id}/clients/messages", granted("agent.chat", { body: sent }));
  await call("POST /api/agents/{id}/assistant/messages", {
    body: { message: "Which ships come today?", trusted: true },
  });
  await call("POST /api/agents/{id}/assistant/facts", { body: { text: "Ada loves tea.", trusted: true } });
  await call("POST /api/agents/{id}/assistant/schedules", {
    body: { prompt: "Which ships come today?", cron: "0 8 * * *", trusted: true },
  });
}

/** Cancels a message whose reply takes long. */
async function cancelled(
  { call }: Tour,
  upstream: World["upstream"],
  granted: (action: string, options?: CallOptions) => CallOptions,
  message: object,
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let isAsked = false;
  upstream.script(async () => {
    isAsked = true;
    await promise;
    return { text: "Late." };
  });
  await call(
    "POST /api/agents/{id}/peers/messages",
    granted("agent.peer", { body: { ...message, messageId: "message-2" } }),
  );
  await eventually(() => isAsked, { what: "the model is asked" });
  await call(
    "POST /api/agents/{id}/peers/messages/{messageId}/cancel",
    granted("agent.peer", { path: { messageId: "message-2" }, body: {} }),
  );
  resolve();
  upstream.script(({ lastUser }) => ({ text: `Ahoy! You said: ${lastUser}` }));
}
