// Kills the service again and again while schedules are due: each time gets exactly one run, and each run its reply.
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { join } from "node:path";
import { startBerth } from "./support/berth.ts";
import { eventually, seeded } from "./support/eventually.ts";
import { member, provision } from "./support/members.ts";
import { startUpstream } from "./support/upstream.ts";

const SCHEDULES = 40;
const KILLS = 6;

test("each due time has one run and one reply after kills at any moment", async () => {
  const random = seeded(process.env.CRASH_SEED === undefined ? undefined : Number(process.env.CRASH_SEED));
  console.log(`schedules crash test: CRASH_SEED=${random.seed}`);
  const upstream = await startUpstream();
  upstream.script(({ lastUser }) => ({ text: `echo: ${lastUser}`, delayMs: random.integer(0, 20) }));
  await using berth = await startBerth({
    env: { PROVIDER_3_BASE_URL: upstream.url, MODEL_A: "provider_3:fake-small", RATE_LIMITS: "off" },
  });
  try {
    const ada = await member(berth, "enterprise");
    const { id: agentId } = await provision(ada);
    const at = Date.now() + 1_500;
    for (let n = 0; n < SCHEDULES; n++) {
      const time = new Date(at + n * 25).toISOString();
      const made = await ada.post(`/api/agents/${agentId}/schedules`, { prompt: `task ${n}`, at: time, missed: "all" });
      expect(made.status).toBe(201);
    }
    await Bun.sleep(Math.max(0, at - Date.now()));
    for (let n = 0; n < KILLS; n++) {
      await Bun.sleep(random.integer(20, 250));
      await berth.kill();
      await berth.restart({ keepPorts: true });
    }
    await eventually(
      async () => {
        const { body } = await ada.get<{ schedules: { lastStatus: string }[] }>(
          `/api/agents/${agentId}/schedules?limit=100`,
        );
        return body.schedules.every(({ lastStatus }) => lastStatus === "done");
      },
      { timeoutMs: 60_000, what: "all runs are done" },
    );
    await berth.stop();
    const database = new Database(join(berth.dir, "data", "berth.db"), { readonly: true });
    const count = (sql: string) => Number(Object.values(database.query(sql).get() as object)[0]);
    expect(count("SELECT count(*) FROM schedule_runs")).toBe(SCHEDULES);
    expect(count("SELECT count(DISTINCT schedule_id) FROM schedule_runs WHERE status = 'done'")).toBe(SCHEDULES);
    expect(count("SELECT count(*) FROM inbox WHERE sender_id = 'schedule'")).toBe(SCHEDULES);
    expect(count("SELECT count(*) FROM messages WHERE role = 'assistant'")).toBe(SCHEDULES);
    database.close();
  } finally {
    await upstream.stop();
  }
});
