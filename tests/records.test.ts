// What the service and its agents record of what happened, over a kill: the admin's overview, and the lines of agents' logs.
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { startBerth } from "./support/berth.ts";
import { type Client, createClient } from "./support/client.ts";
import { eventually } from "./support/eventually.ts";
import { provision } from "./support/members.ts";
import { temporaryDir } from "./support/process.ts";
import { startUpstream } from "./support/upstream.ts";

interface Line {
  level: string;
  source: string;
  message: string;
  links: Record<string, string | number>;
}

const linesOf = async (client: Client, agentId: string) =>
  (await client.get<{ logs: Line[] }>(`/api/agents/${agentId}/logs?limit=100`)).body.logs;
const codesOf = async (client: Client) =>
  (await client.get<{ problems: { code: string; values: object }[] }>("/api/admin/overview")).body.problems;

test("a kill is in the overview and in the log of the agent whose turn it interrupted; an orderly stop is not", async () => {
  const upstream = await startUpstream();
  const release = Promise.withResolvers<void>();
  upstream.script(async ({ lastUser }) => {
    if (lastUser.includes("slow")) await release.promise;
    return { text: `echo: ${lastUser}` };
  });
  const env = { PROVIDER_3_BASE_URL: upstream.url, MODEL_A: "provider_3:fake-small", RATE_LIMITS: "off" };
  await using berth = await startBerth({ env });
  const root = createClient(berth);
  const { email } = await root.signUp();
  expect((await berth.command("user", "admin", email)).exitCode).toBe(0);
  await root.grant("enterprise");
  await root.signIn();
  const { id } = await provision(root);
  /** A run is recorded a moment after the start. */
  const recorded = (count: number) =>
    eventually(() => {
      using database = new Database(join(berth.dir, "data/berth.db"), { readonly: true });
      return database.query("SELECT 1 FROM instance_runs").all().length === count;
    });
  await recorded(1);
  await berth.restart({ keepPorts: true });
  await recorded(2);
  expect((await codesOf(root)).map(({ code }) => code)).not.toContain("STOPPED_SUDDENLY");

  const sent = await root.post<{ turnId: string }>(`/api/agents/${id}/conversations`, { message: "a slow one" });
  expect(sent.status).toBe(202);
  await eventually(() => upstream.requests.some(({ path }) => path.endsWith("/chat/completions")));
  await berth.kill();
  release.resolve();
  await berth.restart({ keepPorts: true });
  const found = await eventually(async () => (await codesOf(root)).find(({ code }) => code === "STOPPED_SUDDENLY"));
  expect(found).toMatchObject({ values: { turns: 1, times: 1 } });
  const { output } = berth;
  await eventually(() => (output().stderr + output().stdout).includes("stopped without warning"));
  const line = (await linesOf(root, id)).find(({ message }) => message.startsWith("Berth was restarted"));
  expect(line).toMatchObject({ level: "info", source: "runtime", links: { turn: sent.body.turnId } });
  await upstream.stop();
});

test("an agent's log says what failed, what was decided and what was changed, and nothing about ordinary replies", async () => {
  const upstream = await startUpstream();
  upstream.script(({ lastUser, toolResults }) => {
    if (!lastUser.startsWith("read") || toolResults.length > 0) return { text: "Done." };
    return { toolCalls: [{ name: "web_fetch", arguments: { url: "http://127.0.0.1:1/secret-path" } }] };
  });
  const env = { PROVIDER_3_BASE_URL: upstream.url, MODEL_A: "provider_3:fake-small", RATE_LIMITS: "off" };
  await using berth = await startBerth({ env });
  const ada = createClient(berth);
  await ada.signUp();
  await ada.grant("enterprise");
  await ada.signIn();
  const { id } = await provision(ada);
  const before = (await linesOf(ada, id)).length;
  for (const message of ["Hello", "Hello again"]) {
    expect((await ada.post("/api/agent", { action: "chat", agentId: id, message })).status).toBe(200);
  }
  expect(await linesOf(ada, id)).toHaveLength(before);

  await ada.post("/api/agent", { action: "chat", agentId: id, message: "read that" });
  await ada.put(`/api/agents/${id}/config`, { config: { instructions: "Be brief." } });
  const made = await ada.post<{ schedule: { id: string } }>(`/api/agents/${id}/schedules`, {
    prompt: "Hi",
    cron: "0 9 * * *",
    name: "Morning",
  });
  await ada.post(`/api/agents/${id}/schedules/${made.body.schedule.id}/run`);
  const file = new File(["Harbour dues are 12 euros."], "dues.txt", { type: "text/plain" });
  const form = new FormData();
  form.set("file", file);
  const headers = { cookie: ada.cookie };
  const uploaded = await fetch(`${berth.web}/api/agents/${id}/files`, { method: "POST", body: form, headers });
  expect(uploaded.status).toBe(202);
  const lines = await eventually(async () => {
    const all = await linesOf(ada, id);
    return all.some(({ source }) => source === "knowledge") ? all : undefined;
  });
  const shown = lines.slice(0, lines.length - before).map(({ level, source, message, links }) => ({
    ...{ level, source, message },
    links: Object.keys(links).sort().join(),
  }));
  expect(shown.toReversed()).toEqual([
    { level: "warning", source: "runtime", message: "A call of web_fetch did not work.", links: "turn" },
    {
      level: "info",
      source: "configuration",
      message: "The configuration was changed: version 2 is in force.",
      links: "version",
    },
    { level: "info", source: "schedules", message: 'The schedule "Morning" runs.', links: "schedule,turn" },
    { level: "info", source: "knowledge", message: 'The file "dues.txt" was read.', links: "file" },
  ]);
  expect(JSON.stringify(lines)).not.toMatch(/secret-path|Hello|12 euros/);
  await upstream.stop();
});

test("the audit log reaches AUDIT_TO whole and in order over kills; verify proves it, and names what was changed by hand", async () => {
  const sent = (dir: string) => {
    const path = join(dir, "audit.jsonl");
    const text = existsSync(path) ? readFileSync(path, "utf8").trim() : "";
    return text === "" ? [] : text.split("\n").map((line) => JSON.parse(line) as { seq: number; mac: string });
  };
  const dir = temporaryDir();
  try {
    const env = { RATE_LIMITS: "off", AUDIT_TO: `file:${join(dir.path, "audit.jsonl")}` };
    await using berth = await startBerth({ env });
    const client = createClient(berth);
    await client.join();
    for (let round = 0; round < 3; round++) {
      // The kill comes while keys are made.
      const made = Array.from({ length: 6 }, (_, at) => client.post("/api/keys", { name: `key ${round}.${at}` }));
      await Promise.race(made);
      await berth.kill();
      await Promise.allSettled(made);
      await berth.restart({ keepPorts: true });
    }
    const stored = () => {
      using database = new Database(join(berth.dir, "data/berth.db"), { readonly: true });
      return database.query<{ seq: number; mac: string }, []>("SELECT seq, mac FROM audit_seals ORDER BY seq").all();
    };
    await eventually(() => sent(dir.path).at(-1)?.seq === stored().at(-1)?.seq && stored().length > 3);
    const lines = sent(dir.path);
    // Repeated ones have the same hash; without them, each number comes once, in order.
    const unique = [...new Map(lines.map(({ seq, mac }) => [seq, mac]))].map(([seq, mac]) => ({ seq, mac }));
    expect(unique).toEqual(stored());

    const verified = await berth.command("audit", "verify");
    expect(verified.exitCode).toBe(0);
    expect(verified.stdout).toContain("The audit log is as it was written");
    const head = /Head: (\S+)/.exec(verified.stdout)?.[1] ?? "";
    expect(await berth.command("audit", "verify", "--head", head)).toMatchObject({ exitCode: 0 });

    await berth.kill();
    using database = new Database(join(berth.dir, "data/berth.db"));
    database.run("DROP TRIGGER audit_log_unchanged");
    database.run(
      "UPDATE audit_log SET actor_name = 'nobody' WHERE id = (SELECT entry_id FROM audit_seals WHERE seq = 2)",
    );
    database.close();
    const changed = await berth.command("audit", "verify");
    expect(changed.exitCode).toBe(1);
    expect(changed.stdout).toContain("entry 2: this entry was changed");
  } finally {
    dir.remove();
  }
});
