// Tests schedules over the whole application: routes, runs, failures, the configuration, and the skill.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { eventually } from "../../tests/support/eventually.ts";
import { expectRefusal } from "../../tests/support/refusal.ts";
import { type InteractionFixture, openInteractionFixture } from "../interaction/support.test.ts";
import { createSettlement } from "./settlement.ts";

interface Item {
  id: string;
  name: string;
  enabled: boolean;
  nextRunAt: string | null;
  lastStatus: string | null;
  failures: number;
  statusReason: string | null;
  source: string;
}
interface Run {
  id: string;
  cause: string;
  status: string;
  missed: number;
  turnId: string | null;
  sessionId: string | null;
  error: string | null;
}

let fixture: InteractionFixture;
let ada: Awaited<ReturnType<InteractionFixture["member"]>>;
let agentId: string;
beforeAll(async () => {
  fixture = await openInteractionFixture();
  ada = await fixture.member();
});
beforeEach(async () => {
  fixture.upstream.reset();
  fixture.upstream.script(({ lastUser }) => `Done: ${lastUser}`);
  agentId = await fixture.provision(ada);
});
afterAll(() => fixture?.[Symbol.asyncDispose]());

const path = () => `/api/agents/${agentId}/schedules`;
const daily = { name: "Weather", prompt: "Say the weather.", cron: "0 9 * * *", timezone: "Europe/Berlin" };
async function create(body: object = daily): Promise<Item> {
  const answer = await ada.post<{ schedule: Item }>(path(), body);
  expect({ status: answer.status, text: answer.text }).toMatchObject({ status: 201 });
  return answer.body.schedule;
}
const one = async (id: string) => (await ada.get<{ schedule: Item }>(`${path()}/${id}`)).body.schedule;
const list = async () => (await ada.get<{ schedules: Item[] }>(path())).body.schedules;
const runsOf = async (id: string) => (await ada.get<{ runs: Run[] }>(`${path()}/${id}/runs`)).body.runs;

/** Makes the next run of a schedule due, as if its time had come `ago` ms before. */
async function makeDue(id: string, at = Date.now()): Promise<void> {
  const { database, jobs } = fixture.kernel;
  await database.write([
    { sql: "UPDATE schedules SET next_run_at = ? WHERE id = ?", args: [at, id] },
    jobs.enqueueStatement("schedule", { id }, { runAt: at, uniqueKey: id }),
  ]);
}
const settled = (id: string, count: number) =>
  eventually(async () => {
    const runs = await runsOf(id);
    return runs.length === count && runs.every(({ status }) => status !== "running");
  });

test("a schedule is made, previewed, changed, paused, resumed and deleted", async () => {
  const { body: preview } = await ada.post<{ next: string[]; words: string }>(`${path()}/preview`, {
    cron: daily.cron,
    timezone: daily.timezone,
  });
  expect(preview.words).toBe("Every day at 09:00 (Europe/Berlin)");
  expect(preview.next).toHaveLength(5);

  const made = await create();
  expect(made).toMatchObject({ ...daily, words: preview.words, missed: "once", deliver: null, enabled: true } as never);
  expect(made.nextRunAt).toBe(preview.next[0] ?? "");
  const change = async (body: object) =>
    (await ada.patch<{ schedule: Item }>(`${path()}/${made.id}`, body)).body.schedule;
  expect(await change({ enabled: false })).toMatchObject({ enabled: false, nextRunAt: null });
  expect(await change({ enabled: true, name: "Rain" })).toMatchObject({ name: "Rain", nextRunAt: made.nextRunAt });
  const at = new Date(Date.now() + 3_600_000).toISOString();
  expect(await change({ at })).toMatchObject({ at, cron: null, nextRunAt: at } as never);
  expect(await change({ cron: "@hourly" })).toMatchObject({ at: null, cron: "@hourly" } as never);
  expect(await list()).toMatchObject([{ id: made.id }]);
  expect((await ada.delete(`${path()}/${made.id}`)).status).toBe(200);
  expect(await list()).toEqual([]);
  expectRefusal(await ada.delete(`${path()}/${made.id}`), 404, "SCHEDULE_NOT_FOUND");
});

test.each([
  [{ cron: "nonsense" }, "cron"],
  [{ cron: "0 0 31 2 *" }, "cron"],
  [{ cron: "* * * * * *" }, "cron"],
  [{ at: "2001-01-01T00:00" }, "at"],
  [{ cron: "@daily", at: "2099-01-01T00:00" }, "cron"],
  [{}, "cron"],
  [{ cron: "@daily", timezone: "Europe/Atlantis" }, "timezone"],
  [{ cron: "@daily", deliver: { platform: "fax", peer: "1" } }, "deliver.platform"],
  [{ cron: "@daily", deliver: { platform: "channel_a", peer: "1" } }, "deliver.platform"],
  [{ cron: "@daily", prompt: "  " }, "prompt"],
])("%j is 400 and names %s", async (body, issue) => {
  const answer = await ada.post<{ issues: { path: string }[] }>(path(), { prompt: "Hi", ...body });
  expectRefusal(answer, 400, "INVALID_SCHEDULE");
  expect(answer.body.issues[0]?.path).toBe(issue);
});

test("foreign agents are 404 on every route, and a key needs its scope", async () => {
  const { id } = await create();
  const eve = await fixture.member();
  for (const answer of [
    await eve.get(path()),
    await eve.post(path(), { cron: 7 }),
    await eve.post(`${path()}/preview`, { cron: "@daily" }),
    await eve.get(`${path()}/${id}`),
    await eve.patch(`${path()}/${id}`, { enabled: false }),
    await eve.delete(`${path()}/${id}`),
    await eve.post(`${path()}/${id}/run`),
    await eve.get(`${path()}/${id}/runs`),
    await eve.get(`${path()}/targets`),
  ]) {
    expectRefusal(answer, 404, "AGENT_NOT_FOUND");
  }
  const other = await fixture.provision(ada);
  expectRefusal(await ada.get(`/api/agents/${other}/schedules/${id}`), 404, "SCHEDULE_NOT_FOUND");
  expectRefusal(await ada.post(`/api/agents/${other}/schedules/${id}/run`), 404, "SCHEDULE_NOT_FOUND");
  const { key } = (await ada.post<{ key: string }>("/api/keys", { name: "k", scopes: ["read"] })).body;
  const response = await fetch(fixture.origin + path(), {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(daily),
  });
  expect(response.status).toBe(403);
});

test("a plan has room for so many schedules", async () => {
  const bob = await fixture.member();
  await fixture.kernel.database.write([
    { sql: "UPDATE subscriptions SET plan = 'starter' WHERE user_id = ?", args: [bob.userId] },
  ]);
  const { agent } = (await bob.post<{ agent: { id: string } }>("/api/agents/provision", { name: "Tug" })).body;
  const to = `/api/agents/${agent.id}/schedules`;
  const answers = await Promise.all(Array.from({ length: 30 }, () => bob.post(to, daily)));
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(25);
  const refused = await bob.post<{ current: number; limit: number }>(to, daily);
  expectRefusal(refused, 429, "SCHEDULE_LIMIT_REACHED");
  expect(refused.body).toMatchObject({ current: 25, limit: 25 });
});

describe("a run", () => {
  test("happens once when it is due, in the schedule's own conversation, with its turn", async () => {
    const { id } = await create();
    await makeDue(id);
    await settled(id, 1);
    const [run] = await runsOf(id);
    expect(run).toMatchObject({ cause: "time", status: "done", missed: 0, error: null });
    const session = await ada.get<{ messages: { role: string; content: string }[] }>(
      `/api/agent?action=session&agentId=${agentId}&sessionId=${run?.sessionId}`,
    );
    expect(session.body.messages.map(({ content }) => content)).toEqual([
      "Say the weather.",
      expect.stringContaining("Done: [A scheduled task is due now."),
    ]);
    const after = await one(id);
    expect(after).toMatchObject({ lastStatus: "done", failures: 0, enabled: true });
    expect(Date.parse(after.nextRunAt ?? "")).toBeGreaterThan(Date.now());
    // The next one goes on in the same conversation.
    await makeDue(id);
    await settled(id, 2);
    expect(new Set((await runsOf(id)).map(({ sessionId }) => sessionId)).size).toBe(1);
    const events = await fixture.kernel.events.since(0, { agentId, types: ["schedule.started", "schedule.ended"] });
    expect(events.map(({ type }) => type)).toEqual([
      "schedule.started",
      "schedule.ended",
      "schedule.started",
      "schedule.ended",
    ]);
  });

  test("now is beside its times, and repeated under the same key it is the same run", async () => {
    const { id, nextRunAt } = await create();
    const run = () =>
      ada.post<{ run: Run }>(`${path()}/${id}/run`, undefined, { headers: { "idempotency-key": "once" } });
    const first = await run();
    expect(first.status).toBe(202);
    expect((await run()).body.run.id).toBe(first.body.run.id);
    await settled(id, 1);
    expect(await runsOf(id)).toMatchObject([{ cause: "manual", status: "done" }]);
    expect((await one(id)).nextRunAt).toBe(nextRunAt);
    await ada.post(`/api/agents/${agentId}/stop`);
    expectRefusal(await ada.post(`${path()}/${id}/run`), 409, "AGENT_STOPPED");
  });

  test.each([
    ["once", ["missed"], "done"],
    ["skip", ["missed"], "skipped"],
    ["all", ["missed", "missed", "missed"], "done"],
  ])("that was missed follows the policy %s", async (missed, causes, status) => {
    // The last time is half an hour ago: one of the last minutes would still count as on time.
    const last = Math.floor(Date.now() / 60_000) * 60_000 - 30 * 60_000;
    const { id } = await create({ prompt: "Hi", cron: `${new Date(last).getUTCMinutes()} * * * *`, missed });
    await makeDue(id, last - 2 * 3_600_000);
    await settled(id, causes.length);
    const runs = await runsOf(id);
    expect(runs.map(({ cause }) => cause)).toEqual(causes);
    expect(runs.at(-1)).toMatchObject({ status, missed: missed === "all" ? 0 : 2 });
  });

  test("while the run before it waits is left out; a stopped agent runs it after its start", async () => {
    const { id } = await create();
    await ada.post(`/api/agents/${agentId}/stop`);
    await makeDue(id);
    await eventually(async () => (await runsOf(id)).length === 1);
    await makeDue(id);
    await eventually(async () => (await runsOf(id)).length === 2);
    expect(await runsOf(id)).toMatchObject(
      [{ status: "skipped", error: /not ended/ as never }, { status: "running" }].map(({ status }) => ({ status })),
    );
    await ada.post(`/api/agents/${agentId}/start`);
    await settled(id, 2);
    expect((await runsOf(id)).map(({ status }) => status)).toEqual(["skipped", "done"]);
  });

  test("whose time was taken already, because the clock was set back, is not repeated", async () => {
    const { id } = await create();
    await makeDue(id);
    await settled(id, 1);
    const [{ due_at: due } = {}] = await fixture.rows("SELECT due_at FROM schedule_runs WHERE schedule_id = ?", id);
    await makeDue(id, Number(due));
    await eventually(async () => Date.parse((await one(id)).nextRunAt ?? "") > Date.now());
    expect(await runsOf(id)).toHaveLength(1);
  });

  test("for webhooks is told with its reply, others without", async () => {
    const replies = async (deliver: object | null) => {
      const { id } = await create({ ...daily, deliver });
      await ada.post(`${path()}/${id}/run`);
      await settled(id, 1);
      const ended = await fixture.kernel.events.since(0, { agentId, types: ["schedule.ended"] });
      return (ended.at(-1)?.data as { reply?: string } | undefined)?.reply;
    };
    expect(await replies(null)).toBeUndefined();
    expect(await replies({ webhook: true })).toContain("Done:");
  });
});

test("five failures in a row pause a schedule, and it says why; switching it on starts anew", async () => {
  const { id } = await create();
  const fail = async (count: number) => {
    fixture.upstream.script(() => ({ status: 400, body: { error: { message: "no such model" } } }) as never);
    await ada.post(`${path()}/${id}/run`);
    await settled(id, count);
  };
  await fail(1);
  expect(await one(id)).toMatchObject({ failures: 1, enabled: true, lastStatus: "failed" });
  expect((await runsOf(id))[0]?.error).not.toBeNull();
  for (const count of [2, 3, 4, 5]) await fail(count);
  const paused = await one(id);
  expect(paused).toMatchObject({ failures: 5, enabled: false, nextRunAt: null });
  expect(paused.statusReason).toContain("failed 5 times in a row");
  const events = await fixture.kernel.events.since(0, { agentId, types: ["schedule.paused"] });
  expect(events).toHaveLength(1);
  expect((await ada.patch<{ schedule: Item }>(`${path()}/${id}`, { enabled: true })).body.schedule).toMatchObject({
    failures: 0,
    enabled: true,
    statusReason: null,
  });
});

test("an answer that can't be delivered is a failed run, and after five the schedule is paused", async () => {
  const { id } = await create();
  // The bot was disconnected after the schedule was made.
  const deliver = '{"platform":"channel_a","peer":"4471"}';
  await fixture.kernel.database.write([{ sql: "UPDATE schedules SET deliver = ? WHERE id = ?", args: [deliver, id] }]);
  const undelivered = async (count: number) => {
    await ada.post(`${path()}/${id}/run`);
    await eventually(async () => (await runsOf(id)).filter(({ status }) => status === "failed").length === count);
  };
  await undelivered(1);
  const [run] = await runsOf(id);
  expect(run?.error).toBe("Its answer could not be delivered: Telegram is not connected any more.");
  expect(await one(id)).toMatchObject({ failures: 1, enabled: true, lastStatus: "failed" });
  await undelivered(2);
  // Changing it starts the count anew.
  await ada.patch(`${path()}/${id}`, { name: "Rain" });
  for (const count of [3, 4, 5, 6]) await undelivered(count);
  expect(await one(id)).toMatchObject({ failures: 4, enabled: true });
  await undelivered(7);
  const paused = await one(id);
  expect(paused).toMatchObject({ failures: 5, enabled: false, nextRunAt: null });
  expect(paused.statusReason).toContain("Telegram is not connected");
});

test("answers that are given up long after their runs count in the order of the runs, and say nothing of later ones", async () => {
  const { id } = await create();
  for (const count of [1, 2, 3]) {
    await ada.post(`${path()}/${id}/run`);
    await settled(id, count);
  }
  const [, second, first] = await runsOf(id);
  const { events, database } = fixture.kernel;
  const settle = createSettlement({
    ...{ database, events, now: Date.now },
    agents: { find: async () => undefined, log: () => undefined },
  });
  for (const run of [first, second]) {
    const outcome = { status: "undelivered" as const, error: "The chat is gone." };
    await database.write((await settle({ agentId, runId: run?.id ?? "" }, outcome)).statements);
  }
  expect(await one(id)).toMatchObject({ failures: 2, lastStatus: "done" });
  expect((await runsOf(id)).map(({ status }) => status)).toEqual(["done", "failed", "failed"]);
});

test("the configuration makes, changes and removes schedules by their names", async () => {
  const save = (config: object) => ada.put(`/api/agents/${agentId}/config`, config);
  const answer = await save({ timezone: "Asia/Tokyo", schedules: [{ name: "Tea", cron: "@daily", prompt: "Tea!" }] });
  expect(answer.body).not.toHaveProperty("warnings.0");
  await eventually(async () => (await list()).length === 1);
  const [tea] = await list();
  expect(tea).toMatchObject({ name: "Tea", source: "config", timezone: "Asia/Tokyo", enabled: true } as never);
  expectRefusal(await ada.patch(`${path()}/${tea?.id}`, { name: "Coffee" }), 409, "SCHEDULE_IN_CONFIG");
  expectRefusal(await ada.delete(`${path()}/${tea?.id}`), 409, "SCHEDULE_IN_CONFIG");
  expect((await ada.patch(`${path()}/${tea?.id}`, { enabled: false })).status).toBe(200);

  await save({
    schedules: [
      { name: "Tea", cron: "@hourly", prompt: "Tea!" },
      { cron: "@daily", prompt: "Mail" },
    ],
  });
  await eventually(async () => (await list()).length === 2);
  expect((await list()).find(({ name }) => name === "Tea")).toMatchObject({
    id: tea?.id,
    cron: "@hourly",
    enabled: true,
  } as never);
  await save({});
  await eventually(async () => (await list()).length === 0);
});

test("a configuration is warned about schedules without room, and about two of one name", async () => {
  const bob = await fixture.member();
  const { agent } = (await bob.post<{ agent: { id: string } }>("/api/agents/provision", { name: "Tug" })).body;
  await fixture.kernel.database.write([{ sql: "DELETE FROM subscriptions WHERE user_id = ?", args: [bob.userId] }]);
  const { body } = await bob.put<{ warnings: { path: string; message: string }[] }>(`/api/agents/${agent.id}/config`, {
    schedules: Array.from({ length: 12 }, (_, n) => ({
      name: `Tea ${Math.min(n, 10)}`,
      cron: "@daily",
      prompt: "Tea!",
    })),
  });
  expect(body.warnings.map(({ path }) => path)).toEqual(["schedules[10]", "schedules[11].name", "schedules[11]"]);
  expect(body.warnings[1]?.message).toContain('"Tea 10 (2)"');
});

test("the owner makes, lists and cancels schedules by talking; what they read there taints it", async () => {
  fixture.upstream.script(({ toolResults, lastUser }) => {
    if (toolResults.length > 0) return toolResults.at(-1)?.content ?? "";
    if (lastUser === "make") {
      const given = { name: "News", prompt: "Read the news.", cron: "0 8 * * *", timezone: "Europe/Berlin" };
      return { toolCalls: [{ name: "schedule_task", arguments: given }] };
    }
    return {
      toolCalls: [
        lastUser === "list"
          ? { name: "list_schedules", arguments: {} }
          : { name: "cancel_schedule", arguments: { id: lastUser } },
      ],
    };
  });
  const chat = async (message: string) =>
    (await ada.post<{ reply: string }>("/api/agent", { agentId, message })).body.reply;
  expect(await chat("make")).toContain("Every day at 08:00 (Europe/Berlin)");
  const [news] = await list();
  expect(news).toMatchObject({ name: "News", source: "agent", untrusted: false, deliver: null } as never);
  expect(await chat("list")).toContain("News");
  expect(await chat("nothing")).toContain("no such schedule");
  expect(await chat(news?.id ?? "")).toContain("cancelled");
  expect(await list()).toEqual([]);
});

test("an export has the schedules; the imported ones are off, and untrusted until the owner writes them", async () => {
  await create();
  const exported = (await ada.get<{ schedules: object[] }>(`/api/agents/${agentId}/export`)).body;
  expect(exported.schedules).toEqual([{ ...daily, at: null, missed: "once" }]);
  const imported = await ada.post<{ agent: { id: string }; switchedOff: { kind: string }[] }>(
    "/api/agents/import",
    exported,
  );
  expect(imported.body.switchedOff.map(({ kind }) => kind)).toContain("schedules");
  agentId = imported.body.agent.id;
  const [schedule] = await list();
  expect(schedule).toMatchObject({ name: "Weather", enabled: false, nextRunAt: null, untrusted: true } as never);
  const change = async (body: object) =>
    (await ada.patch<{ schedule: Item }>(`${path()}/${schedule?.id}`, body)).body.schedule;
  expect(await change({ enabled: true })).toMatchObject({ enabled: true, untrusted: true } as never);
  expect(await change({ prompt: "Say it." })).toMatchObject({ untrusted: false } as never);
});
