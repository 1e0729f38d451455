// Kills the service again and again while agents use tools of all three effects, approvals wait and schedules are due.
// CRASH_KILLS sets the number of kills, CRASH_SEED repeats a run.
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startBerth } from "./support/berth.ts";
import { eventually, seeded } from "./support/eventually.ts";
import { member, provision } from "./support/members.ts";
import { temporaryDir } from "./support/process.ts";
import { startUpstream } from "./support/upstream.ts";

const KILLS = Number(process.env.CRASH_KILLS ?? 12);
const SCHEDULES = 10;

/** Tools that note each run in a file: `pay` acts each time, `set` once for each key, and `send` asks before it acts. */
const PLUGIN = (folder: string) => `
import { appendFileSync, writeFileSync } from "node:fs";
const note = (kind, key) => appendFileSync(${JSON.stringify(join(folder, "runs"))}, kind + " " + key + "\\n");
const pause = () => new Promise((resolve) => setTimeout(resolve, Math.random() * 30));
const tool = (name, toolClass, effect, act) => ({
  name, description: name, class: toolClass, effect, inputSchema: { type: "object" },
  async execute(_, { callKey }) {
    await pause();
    act(callKey);
    note(name, callKey);
    await pause();
    return name + " is done";
  },
});
export default ({ plugin }) => plugin("crash-tools", (host) => {
  const tools = [
    tool("look", "read", "read", () => undefined),
    tool("set", "write", "idempotent", (key) => writeFileSync(${JSON.stringify(folder)} + "/set-" + key, "")),
    tool("pay", "write", "once", () => undefined),
    tool("send", "outside", "once", () => undefined),
  ];
  const skill = { id: "crash", name: "crash", description: "", category: "test", version: "1", enabledByDefault: true, tools: () => tools };
  host.named("skills").register({ id: "crash", skillsFor: () => [skill] });
  return { service: {} };
});`;

test("after kills at any moment no call acts twice, no answer is paid twice, and each decision has one outcome", async () => {
  const random = seeded(process.env.CRASH_SEED === undefined ? undefined : Number(process.env.CRASH_SEED));
  console.log(`turns crash test: CRASH_SEED=${random.seed}`);
  const folder = temporaryDir();
  const file = join(folder.path, "plugin.ts");
  writeFileSync(file, PLUGIN(folder.path));
  const upstream = await startUpstream();
  upstream.script(({ lastUser, toolResults }) => {
    const delayMs = random.integer(0, 30);
    if (toolResults.length >= 3 || (toolResults.length > 0 && lastUser.startsWith("send")))
      return { text: `done: ${lastUser}`, delayMs };
    const names = lastUser.startsWith("send") ? ["send"] : ["look", "set", "pay"];
    return { toolCalls: names.map((name) => ({ name, arguments: {} })), delayMs };
  });
  await using berth = await startBerth({
    env: {
      PROVIDER_3_BASE_URL: upstream.url,
      MODEL_A: "provider_3:fake-small",
      RATE_LIMITS: "off",
      PLUGINS: file,
    },
  });
  try {
    const ada = await member(berth, "enterprise");
    const { id: agentId } = await provision(ada);
    const at = Date.now() + 1_000;
    for (let n = 0; n < SCHEDULES; n++) {
      const time = new Date(at + n * 200).toISOString();
      const made = await ada.post(`/api/agents/${agentId}/schedules`, { prompt: `task ${n}`, at: time, missed: "all" });
      expect(made.status).toBe(201);
    }
    const decided = new Map<string, string>();
    /** Decides what waits. A decision whose answer is lost with the process may have been stored. */
    async function decide(): Promise<void> {
      const path = `/api/agents/${agentId}/approvals`;
      const { body } = await ada.get<{ approvals: { id: string }[] }>(`${path}?status=pending`);
      for (const { id } of body.approvals) {
        const decision = random.integer(0, 2) === 0 ? "deny" : "approve";
        const { status } = await ada.post(`${path}/${id}`, { decision });
        if (status === 200) decided.set(id, decision === "deny" ? "denied" : "approved");
      }
    }
    for (let n = 0; n < 2 * KILLS; n++) {
      for (const kind of ["work", "send"]) {
        const sent = await ada.post(`/api/agents/${agentId}/conversations`, { message: `${kind} ${n}` });
        expect(sent.status).toBe(202);
      }
    }
    for (let n = 0; n < KILLS; n++) {
      const deciding = decide().catch(() => undefined);
      await Bun.sleep(random.integer(20, 400));
      await berth.kill();
      await deciding;
      await berth.restart({ keepPorts: true });
    }
    const open = () => {
      const rows = new Database(join(berth.dir, "data", "berth.db"), { readonly: true });
      const count = (sql: string) => Number(Object.values(rows.query(sql).get() as object)[0]);
      return { rows, count };
    };
    await eventually(
      async () => {
        await decide();
        const { rows, count } = open();
        const left = count("SELECT count(*) FROM inbox WHERE status = 'pending'");
        const due = count("SELECT count(*) FROM schedules WHERE last_status IS NOT 'done'");
        rows.close();
        return left + due === 0;
      },
      { timeoutMs: 60_000, what: "all turns are over" },
    );
    await berth.stop();

    const { rows, count } = open();
    const lines = existsSync(join(folder.path, "runs"))
      ? readFileSync(join(folder.path, "runs"), "utf8").trim().split("\n")
      : [];
    const runsOf = (kind: string) => lines.filter((line) => line.startsWith(`${kind} `));
    const most = (kind: string) =>
      Math.max(
        0,
        ...Map.groupBy(runsOf(kind), (line) => line)
          .values()
          .map((same) => same.length),
      );
    const steps = (name: string) => count(`SELECT count(*) FROM turn_steps WHERE name = '${name}'`);
    const unknown = count("SELECT count(*) FROM turn_steps WHERE output LIKE 'The service was interrupted%'");
    const effects = readdirSync(folder.path).filter((name) => name.startsWith("set-")).length;
    console.log(
      `turns crash test: ${KILLS} kills; pay: ${steps("pay")} calls, ${runsOf("pay").length} runs; set: ${steps("set")} calls, ` +
        `${runsOf("set").length} runs, ${effects} effects; look: ${steps("look")} calls, ${runsOf("look").length} runs; send: ` +
        `${steps("send")} calls, ${runsOf("send").length} runs; ${unknown} unknown outcomes; ${decided.size} decisions; ${SCHEDULES} schedules`,
    );
    expect([most("pay"), most("send")]).toEqual([1, 1]);
    expect(runsOf("pay").length + unknown).toBeGreaterThanOrEqual(steps("pay"));
    expect(effects).toBe(steps("set"));
    expect(new Set(runsOf("set")).size).toBe(steps("set"));
    expect(new Set(runsOf("look")).size).toBe(steps("look"));
    // Each approval has the outcome that was answered, and ran at most once; a denied one never.
    const outcomes = rows.query("SELECT id, status, turn_id, step FROM approvals").all() as {
      id: string;
      status: string;
      turn_id: string;
      step: number;
    }[];
    for (const { id, status, turn_id, step } of outcomes) {
      expect(["approved", "denied"]).toContain(status);
      if (decided.has(id)) expect(status).toBe(decided.get(id) ?? "");
      if (status === "denied") expect(lines).not.toContain(`send ${turn_id}.${step}`);
    }
    expect(outcomes).toHaveLength(steps("send"));
    // Each turn has one answer that called tools: it was asked for again only if it had not arrived.
    expect(
      count("SELECT max(n) FROM (SELECT count(*) AS n FROM turn_steps WHERE kind = 'model' GROUP BY turn_id)"),
    ).toBe(1);
    expect(count("SELECT count(*) FROM schedule_runs WHERE status = 'done'")).toBe(SCHEDULES);
    expect(count("SELECT count(*) FROM inbox WHERE sender_id = 'schedule'")).toBe(SCHEDULES);
    expect(
      count(`SELECT count(*) FROM (SELECT inbox_id FROM messages WHERE role = 'assistant' AND content LIKE 'done%'
        GROUP BY inbox_id HAVING count(*) > 1)`),
    ).toBe(0);
    rows.close();
  } finally {
    await upstream.stop();
    folder.remove();
  }
}, 240_000);
