// Gives an account one of each thing that routes of the API name by an id, and fills the paths of these routes.

import type { Client } from "./client.ts";
import { eventually } from "./eventually.ts";
import type { TestServer } from "./server.ts";
import type { WhatsApp } from "./whatsapp.ts";

const CHANNEL = "channel_c";
const PERSON = "31620000001";
/** A site that may show the agent's chat. */
const SITE = "https://shop.example";

export interface ReadTargets {
  /** The path of a route like `/api/agents/{id}/turns/{turnId}`; undefined if a parameter has no value. */
  pathOf(route: string): string | undefined;
  /** Those that a route needs besides the cookie. */
  headersOf(route: string): Record<string, string>;
}

/** Makes an agent with conversations, files, schedules and a WhatsApp bot, and an address for events. Needs a plan with channels. */
export async function makeReadTargets(client: Client, { web }: TestServer, whatsapp: WhatsApp): Promise<ReadTargets> {
  const made = async <T>(path: string, body: unknown, put = false): Promise<T> => {
    const { status, body: answer, text } = await (put ? client.put<T>(path, body) : client.post<T>(path, body));
    if (status >= 300) throw new Error(`${path}: ${status} ${text}`);
    return answer;
  };
  const config = { channels: { [CHANNEL]: { access: "open" } }, embed: { origins: [SITE] } };
  const { agent } = await made<{ agent: { id: string } }>("/api/agents/provision", {
    ...{ name: "Harbour", config },
  });
  const own = `/api/agents/${agent.id}`;
  await made(`${own}/public`, { enabled: true }, true);
  const { subdomain } = (await client.get<{ agent: { subdomain: string } }>(own)).body.agent;
  const sendFile = async (path: string, name: string, text: string) => {
    const body = new FormData();
    body.append("file", new File([text], name, { type: "text/plain" }));
    const response = await fetch(`${web}${path}`, { method: "POST", body, headers: { cookie: client.cookie } });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as { id: string; file: { id: string } };
  };
  const sent = await made<{ turnId: string; conversationId: string }>(`${own}/conversations`, { message: "Hello" });
  await made("/api/chat", { message: "Hello", topic: "tides" });
  const asked = await made<{ id: string }>("/v1/responses", { model: agent.id, input: "Hello" });
  const { schedule } = await made<{ schedule: { id: string } }>(`${own}/schedules`, {
    ...{ name: "Morning", prompt: "Which ships come today?", cron: "0 8 * * *" },
  });
  const webhook = await made<{ id: string }>("/api/webhooks", { url: "https://nowhere.invalid/hook" });
  const upload = await sendFile(`${own}/uploads`, "tides.txt", "The tide comes in at six.");
  const document = await sendFile(`${own}/files`, "tides.txt", "The tide comes in at six.");
  const skill = await sendFile(
    "/api/skills",
    "SKILL.md",
    "---\nname: tea\ndescription: Makes tea.\n---\nBoil water.\n",
  );
  const account = whatsapp.addAccount("EAAtokenOfHarbour", { waba: "102290129340001" });
  await made(`${own}/channels/${CHANNEL}`, { token: "EAAtokenOfHarbour" }, true);
  account.says("hello", { from: PERSON });
  await eventually(() => account.sent().length > 0, { what: "an answer of the bot" });
  await eventually(async () => (await client.get(`${own}/turns/${sent.turnId}`)).text.includes('"done"'), {
    what: "the end of a turn",
  });
  const { body: profile } = await client.get<{ users: { id: string }[] }>("/api/admin/users");

  const common: Readonly<Record<string, string | undefined>> = {
    ...{ id: agent.id, agentId: agent.id, subdomain, agent: subdomain },
    // A name of agents, too, in routes that are deprecated.
    ...{ userId: agent.id, turnId: sent.turnId, conversationId: sent.conversationId, version: "1" },
    ...{ scheduleId: schedule.id, uploadId: upload.id, fileId: document.file.id },
    ...{ channel: CHANNEL, personId: PERSON },
  };
  const ids: readonly (readonly [route: RegExp, id: string | undefined])[] = [
    [/^\/v1\/models\//, `agent:${subdomain}`],
    [/^\/v1\/responses\//, asked.id],
    [/^\/api\/skills\//, skill.id],
    [/^\/api\/webhooks\//, webhook.id],
    [/^\/api\/admin\/users\//, profile.users[0]?.id],
  ];
  const queries: Readonly<Record<string, string>> = {
    "/api/agents/{id}/knowledge": "?query=tide",
    "/api/skills/{id}/file": "?path=SKILL.md",
  };
  return {
    pathOf(route) {
      let isWhole = true;
      const path = route.replace(/\{(\w+)\}/g, (_, name: string) => {
        const value = (name === "id" && ids.find(([pattern]) => pattern.test(route))?.[1]) || common[name];
        isWhole &&= value !== undefined;
        return encodeURIComponent(value ?? "");
      });
      return isWhole ? `${path}${queries[route] ?? ""}` : undefined;
    },
    headersOf: (route) => (route.startsWith("/api/embed/") ? { origin: SITE } : {}),
  };
}
