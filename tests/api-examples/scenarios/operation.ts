// What operators and other services ask: health, models, accounts, the whole installation.
import { Database } from "bun:sqlite";
import { join } from "node:path";
import { type Client, createClient } from "../../support/client.ts";
import { eventually } from "../../support/eventually.ts";
import type { CallOptions, Tour } from "../tour.ts";
import { withTwoFactor } from "../two-factor.ts";
import { asWebSurface, type World } from "../world.ts";

export async function operation(tour: Tour, { admin, upstream, openAi }: World): Promise<void> {
  const { call } = tour;
  await call("GET /healthz", { as: null });
  await call("GET /readyz", { as: null });
  await call("GET /api/setup");
  for (const fake of [upstream, openAi]) fake.script(() => ({ text: "Ahoy!" }));
  await call("GET /metrics", { as: null });
  await call("GET /api/ai/health", { as: null });
  await call("GET /api/ai/models", { as: null });
  await call("GET /api/ai/models/{provider}", { as: null, path: { provider: "provider_3" } });
  await call("POST /api/ai/models/select", { as: null, body: { taskType: "chat" } });
  await call("POST /api/ai/estimate-cost", {
    as: null,
    body: { model: "gpt-5-mini", inputTokens: 1000, outputTokens: 500 },
  });
  const chat = { model: "gpt-5-mini", messages: [{ role: "user", content: "Ahoy!" }] };
  await call("POST /api/ai/chat", { as: null, body: chat });
  await call("POST /api/ai/chat", { as: null, body: { ...chat, stream: true }, events: 20 });
  await call("POST /v1/chat/completions", { as: null, body: chat });
  await call("POST /v1/embeddings", { as: null, body: { model: "text-embedding-3-small", input: "Ahoy!" } });
  await call("GET /v1/models", { as: null });
  const as = { as: await admin() };
  if (tour.side === "web") await people(tour, as.as);
  await call("GET /api/admin/overview", as);
  await call("GET /api/admin/agents", as);
  await call("GET /api/admin/usage", as);
  await call("GET /api/admin/channels", as);
  await call("GET /api/admin/providers", as);
  await call("GET /api/admin/jobs", as);
  await call("GET /api/admin/figures", as);
  await call("GET /api/admin/settings", as);
  await call("GET /api/admin/storage", as);
  await call("GET /api/admin/versions", as);
  await call("POST /api/admin/agents/{id}/stop", { ...as, body: {} });
  await call("POST /api/admin/agents/{id}/start", { ...as, body: {} });
  await call("POST /api/admin/agents/{id}/freeze", { ...as, body: { reason: "It sends advertising." } });
  await call("POST /api/admin/agents/{id}/unfreeze", { ...as, body: {} });
  await call("POST /api/admin/jobs/{id}/retry", { ...as, path: { id: failedJob(tour) }, body: {} });
  await call("DELETE /api/admin/jobs/{id}", { ...as, path: { id: failedJob(tour) } });
  await call("GET /api/admin/model-providers", as);
  const path = { provider: "provider_5" };
  const settings = { apiKey: "sk-the-operators-key" };
  const sessions = await as.as.get<{ sessions: { id: string; current: boolean }[] }>("/api/auth/sessions");
  const credentialId = sessions.body.sessions.find(({ current }) => current)?.id ?? "";
  const userId = (await as.as.get<{ id: string }>("/api/settings")).body.id;
  /** On the backend, what only a session may do is done by the web surface in its name. */
  const inSession = (action: string): CallOptions =>
    tour.side === "web" ? as : { as: null, headers: asWebSurface({ userId, credentialId, isAdmin: true, action }) };
  await call("POST /api/admin/model-providers/{provider}/test", {
    ...inSession("model-providers"),
    path,
    body: { ...settings, model: "gpt-5-mini" },
  });
  await call("PUT /api/admin/model-providers/{provider}", { ...inSession("model-providers"), path, body: settings });
  await call("DELETE /api/admin/model-providers/{provider}", { ...inSession("model-providers"), path });
  await call("GET /api/admin/default-models", { ...as, query: { limit: "2" } });
  await call("PATCH /api/admin/default-models", {
    ...inSession("model-providers"),
    body: { model_b: "provider_3:fake-large" },
  });
  await backups(tour, as.as, inSession);
}

/** The id of a job that has failed too often: it takes a day until one has. */
function failedJob({ berth }: Tour): string {
  const id = Bun.randomUUIDv7();
  using database = new Database(join(berth.dir, "data/berth.db"));
  // The service may be writing.
  database.run("PRAGMA busy_timeout = 5000");
  database.run(
    "INSERT INTO jobs (id, kind, payload, state, run_at, attempt, max_attempts, last_error, created_at) VALUES (?, 'mail', 'null', 'failed', 1, 8, 8, 'The mail server is away.', 1)",
    [id],
  );
  return id;
}

async function people({ call, berth }: Tour, admin: Client): Promise<void> {
  const as = { as: admin };
  const email = `user-901-${crypto.randomUUID().slice(0, 8)}@example.com`;
  const { body } = await call("POST /api/admin/users", { ...as, body: { email, name: "Grace", invite: true } });
  const path = { id: body.id };
  await call("POST /api/admin/invitations", { ...as, body: { email: "lin@example.com" } });
  await call("GET /api/admin/users", as);
  await call("GET /api/admin/users/{id}", { ...as, path });
  await call("PATCH /api/admin/users/{id}", { ...as, path, body: { name: "Grace Hopper" } });
  await call("PUT /api/admin/users/{id}/subscription", { ...as, path, body: { plan: "pro", days: 30 } });
  await call("DELETE /api/admin/users/{id}/subscription", { ...as, path });
  await call("POST /api/admin/users/{id}/reset-password", { ...as, path, body: { delivery: "link" } });
  await call("POST /api/admin/users/{id}/freeze", { ...as, path, body: { reason: "Its agents send advertising." } });
  await call("POST /api/admin/users/{id}/unfreeze", { ...as, path, body: {} });
  const ada = await withTwoFactor(berth);
  await call("DELETE /api/admin/users/{id}/two-factor", { ...as, path: { id: ada.id } });
  await call("GET /api/admin/audit", { ...as, query: { limit: "2" } });
  const leaver = createClient(berth);
  const id = await leaver.join();
  await call("DELETE /api/admin/users/{id}", { ...as, path: { id } });
}

async function backups({ call }: Tour, admin: Client, inSession: (action: string) => CallOptions): Promise<void> {
  const as = { as: admin };
  await call("POST /api/admin/backups", { ...as, body: {} });
  const name = await eventually(
    async () => {
      const { body } = await admin.get<{ backups: { name: string; state: string }[] }>("/api/admin/backups");
      return body.backups.find(({ state }) => state === "done")?.name;
    },
    { timeoutMs: 30_000, what: "the backup is made" },
  );
  await call("GET /api/admin/backups", as);
  await call("GET /api/admin/backups/{name}/file", { ...inSession("fleet.download"), path: { name } });
  await call("DELETE /api/admin/backups/{name}", { ...inSession("fleet.change"), path: { name } });
}
