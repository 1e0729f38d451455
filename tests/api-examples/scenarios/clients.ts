// Chats in other programs: the AI SDK's useChat, and the chat on sites of the agent's owner.
import { provision } from "../../support/members.ts";
import type { Tour } from "../tour.ts";
import type { World } from "../world.ts";

export async function clients(tour: Tour, { upstream }: World): Promise<void> {
  if (tour.side === "backend") return;
  upstream.script(({ lastUser }) => ({ text: `Ahoy! You said: ${lastUser}` }));
  await useChat(tour);
  await embed(tour);
}

async function useChat({ call, owner }: Tour): Promise<void> {
  const { id } = await provision(owner, "Jetty", { instructions: "Be brief." });
  const chatId = "harbour-tour";
  const part = { type: "text", text: "Is the harbour open?" };
  const messages = [{ id: "message-1", role: "user", parts: [part] }];
  await call("POST /api/agents/{id}/chat", { path: { id }, body: { id: chatId, messages }, events: 50 });
  await call("GET /api/agents/{id}/chat/{chatId}/stream", { path: { id, chatId }, events: 50 });
  await call("POST /api/agents/{id}/chat/{chatId}/stop", { path: { id, chatId } });
  const ofAgent = { path: { chatId }, query: { agentId: id } };
  await call("GET /api/chat/{chatId}/stream", { ...ofAgent, events: 50 });
  await call("POST /api/chat/{chatId}/stop", ofAgent);
  // Afterwards there is nothing to go on with.
  await call("GET /api/agents/{id}/chat/{chatId}", { path: { id, chatId } });
}

async function embed({ call, owner }: Tour): Promise<void> {
  const site = "https://shop.example.com";
  const { id } = await provision(owner, "Quay", { embed: { origins: [site], greeting: "Ahoy!" } });
  const { body } = await owner.get<{ agent: { subdomain: string } }>(`/api/agents/${id}`);
  // A browser names the site in this header.
  const fromSite = { as: null, path: { agent: body.agent.subdomain }, headers: { origin: site } };
  await call("GET /api/embed/{agent}", { ...fromSite, query: { languages: "de,en" } });
  await call("POST /api/embed/{agent}/messages", { ...fromSite, body: { message: "Is the harbour open?" } });
  await call("POST /api/embed/{agent}/messages", { ...fromSite, body: { message: "And tomorrow?" }, events: 50 });
  await call("POST /api/embed/{agent}/stop", { ...fromSite, body: { id: "7c1de3a0-52f4-4c1b-9d7e-0a6f6c2b9a11" } });
}
