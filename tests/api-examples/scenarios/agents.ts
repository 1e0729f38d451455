// Agents: their list, configuration, memory, skills, files, schedules, conversations and life.
import { eventually } from "../../support/eventually.ts";
import { skillMd, zipOf } from "../../support/zips.ts";
import type { Tour } from "../tour.ts";
import type { World } from "../world.ts";

export async function agents(tour: Tour, world: World): Promise<void> {
  const { call } = tour;
  const config = { instructions: "You are a cheerful harbour master.", budget: { usdPerMonth: 5 } };
  const { body: made } = await call("POST /api/agents", { body: { name: "Harbour", config } });
  tour.agentId = made.agent.id;
  await call("POST /api/agents/provision", { body: { name: "Lighthouse" } });
  await call("GET /api/agents");
  await call("GET /api/agents/provision");
  await call("GET /api/agents/overview");
  await call("GET /api/agents/{id}");
  await call("PATCH /api/agents/{id}", { body: { name: "Harbour master" } });
  await call("PUT /api/agents/{id}", { body: { name: "Harbour" } });
  await call("GET /api/agents/{id}/config");
  await call("PUT /api/agents/{id}/config", { body: { ...config, temperature: 0.4 } });
  await call("GET /api/agents/{id}/config/versions");
  await call("GET /api/agents/{id}/config/versions/{version}", { path: { version: "1" } });
  await call("POST /api/agents/{id}/config/restore", { body: { version: 1 } });
  await call("GET /api/templates");
  await call("GET /schemas/agent.json", { as: null });
  await call("GET /schemas/plans.json", { as: null });
  await call("GET /api/models", { query: { query: "fake", limit: "5" } });
  await call("GET /api/plans");
  await talk(tour, world);
  await memory(tour);
  await skills(tour, world);
  await files(tour, world);
  await schedules(tour);
  await usage(tour);
  await life(tour);
}

async function talk(tour: Tour, { upstream }: World): Promise<void> {
  const { call, agentId } = tour;
  upstream.script(({ lastUser }) => ({ text: `Ahoy! You said: ${lastUser}` }));
  const message = "Hello! What time is it?";
  await call("POST /api/agent", { body: { agentId, message } });
  await call("POST /api/agent", { body: { agentId, message }, events: 50 });
  for (const action of ["health"]) await call("GET /api/agent", { query: { action, agentId } });
  await call("POST /api/chat", { body: { agentId, message: "Any ships today?", topic: "ships" } });
  await call("POST /api/chat", { body: { agentId, message: "And now?" }, events: 50 });
  await call("GET /api/chat", { query: { agentId, limit: "10" } });
  await call("POST /api/agents/{id}/turns", { body: { message, platform: "api" } });
  await call("POST /api/agents/{id}/turns", { body: { message, platform: "api" }, events: 50 });
  await call("POST /api/agents/{id}/sessions", { body: {} });
  const { body: begun } = await call("POST /api/agents/{id}/conversations", { body: { message } });
  const { conversationId, turnId } = begun;
  await call("GET /api/agents/{id}/turns/{turnId}/events", { path: { turnId }, events: 50 });
  await call("GET /api/agents/{id}/conversations");
  await call("GET /api/agents/{id}/conversations/{conversationId}", { path: { conversationId } });
  await call("GET /api/agents/{id}/conversations/{conversationId}/messages", { path: { conversationId } });
  await call("GET /api/agents/{id}/turns", { query: { limit: "2" } });
  await call("GET /api/agents/{id}/turns/{turnId}", { path: { turnId } });
  await call("GET /api/agents/{id}/messages", { query: { include: "all" } });
  const { promise, resolve } = Promise.withResolvers<void>();
  upstream.script(async () => {
    await promise;
    return { text: "Late." };
  });
  const { body: next } = await call("POST /api/agents/{id}/conversations/{conversationId}/messages", {
    path: { conversationId },
    body: { message: "Take your time." },
  });
  await call("POST /api/agents/{id}/turns/{turnId}/cancel", { path: { turnId: next.turnId }, body: {} });
  resolve();
  upstream.script(({ lastUser }) => ({ text: `Ahoy! You said: ${lastUser}` }));
}

async function memory({ call }: Tour): Promise<void> {
  const text = "Ada loves lighthouses.";
  const { body } = await call("POST /api/agents/{id}/memories", { body: { text } });
  // What is known already is not stored again.
  await call("POST /api/agents/{id}/memories", { body: { text } });
  const path = { memoryId: body.memory.id };
  await call("GET /api/agents/{id}/memories", { query: { query: "lighthouse" } });
  await call("PATCH /api/agents/{id}/memories/{memoryId}", { path, body: { pinned: true } });
  await call("DELETE /api/agents/{id}/memories/{memoryId}", { path });
}

async function skills(tour: Tour, { upstream, mcp, guarded, page }: World): Promise<void> {
  const { call, agentId, owner } = tour;
  await call("GET /api/skills");
  const zip = zipOf({ "tea/SKILL.md": skillMd("tea", "Makes tea") });
  await call("POST /api/skills", { file: new File([zip], "tea.zip", { type: "application/zip" }) });
  const tea = { id: "folder:tea" };
  await call("GET /api/skills/{id}", { path: tea });
  await call("GET /api/skills/{id}/file", { path: tea, query: { path: "SKILL.md" } });
  await call("PATCH /api/skills/{id}", { path: tea, body: { trusted: true } });
  await call("GET /api/agents/{id}/skills");
  await call("PUT /api/agents/{id}/skills/{skillId}", { path: { skillId: "clock" }, body: { enabled: true } });
  await call("GET /api/agents/{id}/web-search");
  await call("GET /api/agents/{id}/credentials");
  await call("PUT /api/agents/{id}/credentials/{key}", {
    path: { key: "provider_5" },
    body: { value: "sk-the-owners-key" },
  });
  await call("POST /api/agents/{id}/credentials/compare", { body: { values: { provider_5: "sk-the-owners-key" } } });
  await call("DELETE /api/skills/{id}", { path: tea });
  await call("POST /api/skills/{id}/restore", { path: tea, body: {} });

  const made = await owner.post<{ agent: { id: string } }>("/api/agents", {
    name: "Tides",
    config: { mcpServers: { tides: { url: mcp.url } } },
  });
  const tides = made.body.agent.id;
  await call("POST /api/agents/{id}/mcp/{name}/test", { path: { id: tides, name: "tides" }, body: {} });
  await call("GET /api/agents/{id}/mcp", { path: { id: tides } });
  await call("POST /api/agents/{id}/mcp/{name}/tools/{tool}/accept", {
    path: { id: tides, name: "tides", tool: "tide" },
    body: {},
  });
  await call("DELETE /api/agents/{id}/mcp/{name}/sign-in", { path: { id: tides, name: "tides" } });
  await call("GET /api/mcp/client.json", { as: null });
  const charts = await owner.post<{ agent: { id: string } }>("/api/agents", {
    name: "Charts",
    config: { mcpServers: { charts: { url: guarded.url } } },
  });
  const id = charts.body.agent.id;
  const back = async () => {
    await owner.post(`/api/agents/${id}/mcp/charts/test`, {});
    const { body } = await owner.get<{ servers: { authorizeUrl: string | null }[] }>(`/api/agents/${id}/mcp`);
    const answer = await fetch(body.servers[0]?.authorizeUrl ?? "", { redirect: "manual" });
    return new URL(answer.headers.get("location") ?? "");
  };
  const query = Object.fromEntries((await back()).searchParams);
  await call("GET /api/mcp/callback", { query });
  await owner.delete(`/api/agents/${id}/mcp/charts/sign-in`);
  const path = { id, name: "charts" };
  await call("POST /api/agents/{id}/mcp/{name}/callback", { path, body: { search: (await back()).search } });

  upstream.script(({ toolResults, lastUser }) => {
    if (toolResults.at(-1)?.content.includes("was not run")) return "Then I don't.";
    if (!toolResults.at(-1) && lastUser.startsWith("Read")) {
      return { toolCalls: [{ name: "web_fetch", arguments: { url: page.href } }] };
    }
    if (toolResults.at(-1)?.content.includes("inWords")) return "It is set.";
    return { toolCalls: [{ name: "remind_me", arguments: { text: "The tide turns", inMinutes: 60 } }] };
  });
  await owner.post("/api/agent", { agentId, message: "Read this page" });
  const { body } = await call("GET /api/agents/{id}/approvals");
  await call("GET /api/approvals", { query: { status: "pending" } });
  const approvalId = body.approvals[0]?.id ?? "unknown";
  await call("POST /api/agents/{id}/approvals/{approvalId}", { path: { approvalId }, body: { decision: "approve" } });
  const reminders = await eventually(
    async () => {
      const found = await owner.get<{ reminders: { id: string }[] }>(`/api/agents/${agentId}/reminders`);
      return found.body.reminders[0];
    },
    { what: "the approved reminder" },
  );
  await call("GET /api/agents/{id}/reminders");
  await call("PATCH /api/agents/{id}/reminders/{reminderId}", {
    path: { reminderId: reminders.id },
    body: { enabled: false },
  });
  upstream.script(({ lastUser }) => ({ text: `Ahoy! You said: ${lastUser}` }));
}

async function files({ call, agentId, owner }: Tour, { page }: World): Promise<void> {
  const file = new File(["High tide is at noon.\n"], "tides.txt", { type: "text/plain" });
  const { body: upload } = await call("POST /api/agents/{id}/uploads", { file });
  const path = { uploadId: upload.id };
  await call("GET /api/agents/{id}/uploads");
  await call("GET /api/agents/{id}/uploads/{uploadId}", { path });
  await call("DELETE /api/agents/{id}/uploads/{uploadId}", { path });
  await call("POST /api/agents/{id}/files", { file });
  const { body: address } = await call("POST /api/agents/{id}/files", { body: { url: page.href, refresh: "day" } });
  const fileId = address.file.id;
  await eventually(
    async () => {
      const { body } = await owner.get<{ file: { status: string } }>(`/api/agents/${agentId}/files/${fileId}`);
      return body.file.status === "ready" || body.file.status === "failed";
    },
    { what: "the file was read" },
  );
  await call("GET /api/agents/{id}/files");
  await call("GET /api/agents/{id}/files/{fileId}", { path: { fileId } });
  await call("PATCH /api/agents/{id}/files/{fileId}", { path: { fileId }, body: { refresh: "week" } });
  await call("GET /api/agents/{id}/knowledge", { query: { query: "tide" } });
  await call("POST /api/agents/{id}/files/{fileId}/read", { path: { fileId }, body: {} });
  await call("DELETE /api/agents/{id}/files/{fileId}", { path: { fileId } });
}

async function schedules({ call }: Tour): Promise<void> {
  const given = {
    name: "Morning report",
    prompt: "Which ships come today?",
    cron: "0 8 * * 1-5",
    timezone: "Europe/Vienna",
  };
  const { body } = await call("POST /api/agents/{id}/schedules", { body: given });
  const path = { scheduleId: body.schedule.id };
  await call("GET /api/agents/{id}/schedules");
  await call("GET /api/agents/{id}/schedules/targets");
  await call("POST /api/agents/{id}/schedules/preview", { body: { cron: "@daily", timezone: "Europe/Vienna" } });
  await call("GET /api/agents/{id}/schedules/{scheduleId}", { path });
  await call("PATCH /api/agents/{id}/schedules/{scheduleId}", { path, body: { cron: "0 9 * * 1-5" } });
  await call("POST /api/agents/{id}/schedules/{scheduleId}/run", { path, body: {} });
  await call("GET /api/agents/{id}/schedules/{scheduleId}/runs", { path });
  await call("DELETE /api/agents/{id}/schedules/{scheduleId}", { path });
}

async function usage({ call, owner, agentId }: Tour): Promise<void> {
  await call("GET /api/usage");
  await call("GET /api/usage/series");
  await call("GET /api/usage/budgets");
  await call("GET /api/usage.csv");
  await call("GET /api/agents/{id}/usage");
  await call("GET /api/agents/{id}/cache");
  await call("PUT /api/agents/{id}/cache", { body: { enabled: true } });
  await call("GET /api/agents/{id}/figures", { query: { range: "week" } });
  await call("GET /api/agents/{id}/stats");
  await call("GET /api/agents/{id}/logs", { query: { limit: "2" } });
  const followed = call("GET /api/agents/{id}/logs", { query: { follow: "1" }, events: 1 });
  // The stream begins after the newest line; each of these writes another.
  let isRead = false;
  void followed.finally(() => {
    isRead = true;
  });
  await eventually(
    async () => {
      await owner.put(`/api/agents/${agentId}/config`, { instructions: `Be brief. ${crypto.randomUUID()}` });
      return isRead;
    },
    { everyMs: 300, what: "a line of the log is streamed" },
  );
  await followed;
}

async function life(tour: Tour): Promise<void> {
  const { call } = tour;
  const userId = (await tour.owner.get<{ id: string }>("/api/settings")).body.id;
  await call("GET /api/instance/{userId}", { path: { userId } });
  await call("GET /api/instance/{userId}/stats", { path: { userId } });
  for (const operation of ["stop", "start", "restart", "repair", "update", "reset-memory"]) {
    await call(`POST /api/agents/{id}/${operation}`, { body: {} });
    await call(`POST /api/instance/{userId}/${operation}`, { path: { userId }, body: {} });
    if (operation === "stop") await call("POST /api/agents/{id}/start", { body: {} });
  }
  const { body } = await call("POST /api/agents/{id}/backups", { body: {} });
  await call("GET /api/agents/{id}/backups");
  const backupPath = body.backup.path;
  await call("POST /api/agents/{id}/rollback", { body: { backupPath } });
  const { backups } = (await tour.owner.get<{ backups: { path: string }[] }>(`/api/agents/${tour.agentId}/backups`))
    .body;
  await call("POST /api/instance/{userId}/rollback", {
    path: { userId: tour.agentId },
    body: { backupPath: backups[0]?.path ?? "" },
  });
  const config = { instructions: "Be brief." };
  // To an agent that is up, and to one that is stopped.
  for (const isUp of [true, false]) {
    if (!isUp) await tour.owner.post(`/api/agents/${tour.agentId}/stop`);
    await call("POST /api/agents/{id}/deploy", { body: { config } });
    if (!isUp) await tour.owner.post(`/api/agents/${tour.agentId}/stop`);
    await call("POST /api/deployments", { body: { agentId: tour.agentId, config } });
  }
  const { body: exported } = await call("GET /api/agents/{id}/export");
  await call("POST /api/agents/import/preview", { body: { ...exported, sessions: [] } });
  await call("POST /api/agents/import", {
    body: { format: "berth.agent/1", name: "Imported", model: "model_a", config: { instructions: "Be brief." } },
  });
  const { body: spare } = await call("POST /api/agents/provision", { body: { name: "Spare" } });
  await call("DELETE /api/agents/{id}", { path: { id: spare.agent.id } });
}
