// How others reach an agent: channels, hooks, public page, other agents, live streams, gateway, webhooks.
import { createHmac } from "node:crypto";
import { eventually } from "../../support/eventually.ts";
import { provision } from "../../support/members.ts";
import type { Tour } from "../tour.ts";
import { asWebSurface, WHATSAPP_APP, type World } from "../world.ts";

export async function reach(tour: Tour, world: World): Promise<void> {
  const { call, agentId, owner } = tour;
  await channels(tour, world);
  await hooks(tour, world);
  await call("PUT /api/agents/{id}/public", { body: { enabled: true, greeting: "Ahoy!" } });
  await call("GET /api/agents/{id}/public");
  const { body } = await owner.get<{ agent: { subdomain: string } }>(`/api/agents/${agentId}`);
  const path = { subdomain: body.agent.subdomain };
  const asVisitor = { as: null, path };
  await call("GET /a/{subdomain}", { ...asVisitor, headers: { accept: "application/json" } });
  await call("POST /a/{subdomain}/messages", { ...asVisitor, body: { message: "Is the harbour open?" } });
  await call("POST /a/{subdomain}/messages", { ...asVisitor, body: { message: "And tomorrow?" }, events: 50 });
  await call("GET /a/{subdomain}/.well-known/agent-card.json", asVisitor);
  await call("POST /a/{subdomain}", {
    ...asVisitor,
    headers: { "a2a-version": "1.0" },
    body: {
      jsonrpc: "2.0",
      id: 1,
      method: "SendMessage",
      params: { message: { messageId: "message-1", role: "ROLE_USER", parts: [{ text: "Is the harbour open?" }] } },
    },
  });
  await call("GET /api/agents/{id}/token");
  await call("POST /api/agents/{id}/token/rotate", { body: {} });
  const userId = (await owner.get<{ id: string }>("/api/settings")).body.id;
  await call("GET /api/instance/{userId}/token", { path: { userId } });
  await call("POST /api/instance/{userId}/token/rotate", { path: { userId }, body: {} });
  await streams(tour);
  await webhooks(tour);
}

async function channels(tour: Tour, { telegram }: World): Promise<void> {
  const { call, on, side, agentId, owner } = tour;
  const token = `70000${String(Math.floor(Math.random() * 1e5)).padStart(5, "0")}:AAexample-token-0123456789-abcdefgh`;
  const bot = telegram.addBot(token);
  const path = { channel: "channel_a" };
  await call("GET /api/channels");
  await call("POST /api/agents/{id}/channels/{channel}/check", { path, body: { token } });
  await call("PUT /api/agents/{id}/channels/{channel}", { path, body: { token } });
  await call("GET /api/agents/{id}/channels");
  await call("GET /api/agents/{id}/channels/{channel}", { path });
  await call("POST /api/agents/{id}/channels/{channel}/retry", { path, body: {} });
  await call("GET /api/agents/{id}/channels/{channel}/access", { path });
  await call("PUT /api/agents/{id}/channels/{channel}/access", { path, body: { access: "pairing" } });
  await call("POST /api/agents/{id}/channels/{channel}/owner-link", { path, body: {} });
  bot.userSays(4242, "Ahoy!");
  const pairing = await eventually(
    async () => {
      const found = await owner.get<{ pairings: { senderId: string; code: string }[] }>(
        `/api/agents/${agentId}/channels/channel_a/pairings`,
      );
      return found.body.pairings?.[0];
    },
    { what: "a stranger asks to talk to the agent" },
  );
  await call("GET /api/agents/{id}/channels/{channel}/pairings", { path });
  await call("POST /api/agents/{id}/channels/{channel}/pairings", { path, body: { code: pairing.code } });
  const person = { ...path, senderId: pairing.senderId };
  await call("PUT /api/agents/{id}/channels/{channel}/pairings/{senderId}", {
    path: person,
    body: { status: "approved" },
  });
  await call("DELETE /api/agents/{id}/channels/{channel}/pairings/{senderId}", { path: person });
  await people(tour, pairing.senderId);
  await call("DELETE /api/agents/{id}/channels/{channel}", { path });
  const another = `71000${token.slice(5)}`;
  telegram.addBot(another);
  const third = `72000${token.slice(5)}`;
  telegram.addBot(third);
  // On the backend only a known caller may do it; for others, the web surface does it in the name of a new account.
  if (side === "backend") await call("POST /api/provision", { body: { channelAToken: third } });
  const { body } = await on("web", "POST /api/provision", { as: null, body: { channelAToken: another } });
  const claim = /claim\?token=([\w-]+)/.exec(body.metadata?.claimUrl ?? "")?.[1] ?? "unknown";
  await call("POST /api/provision/claim", { body: { token: claim } });
}

/** Somebody who asked to talk, and wants to be forgotten. */
async function people({ call, agentId, owner }: Tour, personId: string): Promise<void> {
  await owner.put(`/api/agents/${agentId}/channels/channel_a/pairings/${personId}`, {
    status: "approved",
    name: "Grace",
  });
  const path = { channel: "channel_a", personId };
  await call("GET /api/agents/{id}/people", { query: { query: "grace" } });
  await call("GET /api/agents/{id}/people/{channel}/{personId}/export", { path });
  await call("DELETE /api/agents/{id}/people/{channel}/{personId}", { path });
  const { body } = await call("GET /api/agents/{id}/erasures");
  await call("POST /api/agents/{id}/erasures/verify", { body: { receipt: JSON.stringify(body.erasures[0].receipt) } });
}

async function hooks({ call, on, owner, side }: Tour, { whatsapp }: World): Promise<void> {
  const token = `EAAexampleToken${side}`;
  const account = whatsapp.addAccount(token, { waba: side === "web" ? "102290129340001" : "102290129340002" });
  const { id } = await provision(owner, "Pier", { channels: { channel_c: { access: "open" } } });
  const { status, text } = await owner.put(`/api/agents/${id}/channels/channel_c`, { token });
  if (status !== 200) throw new Error(`WhatsApp can't be connected: ${text}`);
  const callback = new URL(account.subscriptions[0]?.callback ?? "http://none").pathname;
  const path = { channel: "channel_c", callbackId: callback.split("/").at(-1) ?? "" };
  const body = JSON.stringify({ object: "whatsapp_business_account", entry: [] });
  const signature = `sha256=${createHmac("sha256", WHATSAPP_APP.secret).update(body).digest("hex")}`;
  const post = { as: null, body, headers: { "content-type": "application/json", "x-hub-signature-256": signature } };
  const challenge = (token: string) => ({
    as: null,
    query: { "hub.mode": "subscribe", "hub.verify_token": token, "hub.challenge": "1158201444" },
  });
  const verification = challenge(account.verifyTokenOf(WHATSAPP_APP.id) ?? "");
  await call("POST /hooks/{channel}/{callbackId}", { ...post, path });
  await call("GET /hooks/{channel}/{callbackId}", { ...verification, path });
  if (side === "backend") {
    // As the web surface forwards it.
    const { id: userId } = (await owner.get<{ id: string }>("/api/settings")).body;
    const forwarded = asWebSurface({ userId, agentId: id, action: "channel.receive" });
    const operation = "/api/hooks/{channel}/{callbackId}";
    await on(side, `POST ${operation}`, { ...post, path, headers: { ...post.headers, ...forwarded } });
    await on(side, `GET ${operation}`, { ...verification, path, headers: forwarded });
  }
  await call("POST /hooks/{channel}", { ...post, path: { channel: "channel_c" } });
  await call("GET /hooks/{channel}", { ...challenge("berth"), path: { channel: "channel_c" } });
}

async function streams({ call }: Tour): Promise<void> {
  const { body } = await call("PUT /api/agents/{id}/stream", { body: {} });
  await call("GET /api/agents/{id}/stream");
  const path = { liveStreamId: body.liveStreamId };
  await call("GET /live/{liveStreamId}", { as: null, path, headers: { accept: "text/html" } });
  await call("GET /live/{liveStreamId}/{file}", { as: null, path: { ...path, file: "index.m3u8" } });
  await call("GET /api/live/{liveStreamId}/{file}", { path: { ...path, file: "index.m3u8" } });
  await call("POST /api/agents/{id}/stream/rotate", { body: {} });
  await call("DELETE /api/agents/{id}/stream");
}

async function webhooks({ call, owner }: Tour): Promise<void> {
  const { body: made } = await call("POST /api/webhooks", {
    body: { url: "http://127.0.0.1:9/berth", types: ["agent.*"], description: "Harbour office" },
  });
  const id = made.id ?? made.webhook?.id;
  await call("GET /api/webhooks");
  await call("GET /api/webhooks/{id}", { path: { id } });
  await call("PATCH /api/webhooks/{id}", { path: { id }, body: { types: ["agent.created"] } });
  await call("POST /api/webhooks/{id}/rotate", { path: { id }, body: {} });
  const events = call("GET /api/events", { query: { types: "agent.created" }, events: 1 });
  await eventually(
    async () => {
      await provision(owner, "Buoy");
      const { body } = await owner.get<{ deliveries: object[] }>(`/api/webhooks/${id}/deliveries`);
      return body.deliveries.length > 0;
    },
    { everyMs: 300, what: "an event is delivered" },
  );
  await events;
  const { body } = await call("GET /api/webhooks/{id}/deliveries", { path: { id }, query: { limit: "2" } });
  const deliveryId = body.deliveries[0]?.id ?? "unknown";
  await call("POST /api/webhooks/{id}/deliveries/{deliveryId}/replay", { path: { id, deliveryId }, body: {} });
  await call("DELETE /api/webhooks/{id}", { path: { id } });
}
