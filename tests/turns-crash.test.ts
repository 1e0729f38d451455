// Kills the service again and again while agents use tools of all three effects, approvals wait, schedules are due and
// files are read. CRASH_KILLS=100 is the long run; CRASH_SEED repeats one.
import { expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { filesOf } from "../plugins/knowledge/support.test.ts";
import { type Setup, startCrashService } from "./support/crash-service.ts";
import { eventually, seeded } from "./support/eventually.ts";
import { member, provision } from "./support/members.ts";
import { temporaryDir } from "./support/process.ts";
import { startUpstream } from "./support/upstream.ts";

const KILLS = Number(process.env.CRASH_KILLS ?? 12);
/** Over a server, the jobs of a killed process are taken over after 30 s: only in the long run. */
const SETUPS: [setup: Setup, kills: number][] = [
  ["one process over a file", KILLS],
  ...(KILLS > 12 ? ([["two processes over a server", KILLS / 4]] as [Setup, number][]) : []),
];

/** Makes a paragraph long enough to be a passage of its own. */
const WORDS = "tea ".repeat(225);

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

test.each(SETUPS)(
  "after kills no call acts twice and nothing accepted is lost: %s",
  async (setup, kills) => {
    const random = seeded(process.env.CRASH_SEED === undefined ? undefined : Number(process.env.CRASH_SEED));
    const report = (text: string) => console.log(`turns crash test, ${setup}: ${text}`);
    report(`CRASH_SEED=${random.seed}`);
    const folder = temporaryDir();
    const plugin = join(folder.path, "plugin.ts");
    writeFileSync(plugin, PLUGIN(folder.path));
    const upstream = await startUpstream();
    upstream.script(({ lastUser, toolResults }) => {
      const delayMs = random.integer(0, 30);
      if (toolResults.length >= 3 || (toolResults.length > 0 && lastUser.startsWith("send")))
        return { text: `done: ${lastUser}`, delayMs };
      const names = lastUser.startsWith("send") ? ["send"] : ["look", "set", "pay"];
      return { toolCalls: names.map((name) => ({ name, arguments: {} })), delayMs };
    });
    await using service = await startCrashService(setup, {
      PROVIDER_3_BASE_URL: upstream.url,
      MODEL_A: "provider_3:fake-small",
      RATE_LIMITS: "off",
      PLUGINS: plugin,
    });
    const { rows, count } = service;
    try {
      const ada = await member(service.web, "enterprise");
      const { id: agentId } = await provision(ada);
      const files = filesOf(service.web.web, ada, agentId);
      const schedules = Math.max(10, kills);
      for (let n = 0; n < schedules; n++) {
        // Spread over the time of all kills.
        const time = new Date(Date.now() + 4_000 + (n * kills * 700) / schedules).toISOString();
        const made = await ada.post(`/api/agents/${agentId}/schedules`, {
          prompt: `task ${n}`,
          at: time,
          missed: "all",
        });
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
      const passages = new Map<string, number>();
      for (let n = 0; n < kills; n++) {
        for (const message of [`work ${2 * n}`, `send ${2 * n}`, `work ${2 * n + 1}`, `send ${2 * n + 1}`]) {
          const sent = await ada.post(`/api/agents/${agentId}/conversations`, { message });
          expect(sent.status).toBe(202);
        }
        if (n % 2 === 0) {
          const paragraphs = Array.from({ length: random.integer(50, 300) }, (_, m) => `File ${n}, ${m}. ${WORDS}`);
          const { status, body } = await files.send(paragraphs.join("\n\n"), `book-${n}.txt`);
          expect(status).toBe(202);
          passages.set(body.file.id, paragraphs.length);
        }
        const deciding = decide().catch(() => undefined);
        await Bun.sleep(random.integer(20, 400));
        await service.kill();
        await deciding;
        await service.restart();
      }
      await eventually(
        async () => {
          await decide();
          const left = await count("SELECT count(*) FROM inbox WHERE status = 'pending'");
          const due = await count("SELECT count(*) FROM schedules WHERE last_status IS NOT 'done'");
          const unread = await count("SELECT count(*) FROM knowledge_files WHERE status <> 'ready'");
          return left + due + unread === 0;
        },
        { timeoutMs: 60_000 + kills * 1_000, everyMs: 100, what: "all turns are over, and all files are read" },
      );
      await service.stop();

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
      const steps: Record<string, number> = {};
      for (const name of ["look", "set", "pay", "send"])
        steps[name] = await count(`SELECT count(*) FROM turn_steps WHERE name = '${name}'`);
      const unknown = await count("SELECT count(*) FROM turn_steps WHERE output LIKE 'The service was interrupted%'");
      const effects = readdirSync(folder.path).filter((name) => name.startsWith("set-")).length;
      const outcomes = (await rows("SELECT id, status, turn_id, step FROM approvals")) as {
        id: string;
        status: string;
        turn_id: string;
        step: number;
      }[];
      const chunks = await rows("SELECT file_id, count(*) AS n FROM knowledge_chunks GROUP BY file_id");
      report(
        `${kills} kills; ${["pay", "set", "look", "send"].map((name) => `${name}: ${steps[name]} calls, ${runsOf(name).length} runs`).join("; ")}; ` +
          `${effects} effects of set; ${unknown} unknown outcomes; ${outcomes.length} approvals, ${decided.size} answers to decisions; ` +
          `${schedules} schedules; ${passages.size} files, ${chunks.reduce((sum, { n }) => sum + Number(n), 0)} passages`,
      );
      expect([most("pay"), most("send")]).toEqual([1, 1]);
      expect(runsOf("pay").length + unknown).toBeGreaterThanOrEqual(steps.pay ?? 0);
      expect(effects).toBe(steps.set ?? 0);
      expect(new Set(runsOf("set")).size).toBe(steps.set ?? 0);
      expect(new Set(runsOf("look")).size).toBe(steps.look ?? 0);
      // Each approval has the outcome that was answered, and ran at most once; a denied one never.
      for (const { id, status, turn_id, step } of outcomes) {
        expect(["approved", "denied"]).toContain(status);
        if (decided.has(id)) expect(status).toBe(decided.get(id) ?? "");
        if (status === "denied") expect(lines).not.toContain(`send ${turn_id}.${step}`);
      }
      expect(outcomes).toHaveLength(steps.send ?? 0);
      // Each turn has one answer that called tools: it was asked for again only if it had not arrived.
      expect(
        await count("SELECT max(n) FROM (SELECT count(*) AS n FROM turn_steps WHERE kind = 'model' GROUP BY turn_id)"),
      ).toBe(1);
      expect(await count("SELECT count(*) FROM schedule_runs WHERE status = 'done'")).toBe(schedules);
      expect(await count("SELECT count(*) FROM inbox WHERE sender_id = 'schedule'")).toBe(schedules);
      expect(await count("SELECT count(*) FROM messages WHERE role = 'assistant' AND content LIKE 'done%'")).toBe(
        4 * kills + schedules,
      );
      expect(
        await count(`SELECT count(*) FROM (SELECT inbox_id FROM messages WHERE role = 'assistant' AND content LIKE 'done%'
        GROUP BY inbox_id HAVING count(*) > 1)`),
      ).toBe(0);
      // Each file has each of its passages once, and no more of them.
      expect(new Map(chunks.map(({ file_id, n }) => [String(file_id), Number(n)]))).toEqual(passages);
      const distinct = "SELECT count(*) - count(DISTINCT file_id || ':' || text) FROM knowledge_chunks";
      expect(await count(distinct)).toBe(0);
    } finally {
      await upstream.stop();
      folder.remove();
    }
  },
  120_000 + KILLS * 10_000,
);
