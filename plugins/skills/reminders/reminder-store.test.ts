// Tests reminders: each is delivered once, when it is due, in its conversation.

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { createJobs, type Jobs } from "../../../src/kernel/jobs/jobs.ts";
import { DAY } from "../../../src/kernel/util/time.ts";
import { fileDatabase, silent, type TestDatabase } from "../../../tests/support/database.ts";
import { eventually } from "../../../tests/support/eventually.ts";
import { insertAgent } from "../../../tests/support/records.ts";
import { callTool, guestAudience, toolContext } from "../../../tests/support/skills.ts";
import { prepareTool } from "../prepared-tool.ts";
import type { ToolContext } from "../skill.ts";
import { createReminderSkill } from "./reminder-skill.ts";
import { createReminderStore, MAX_REMINDERS, type Reminder, type ReminderStore } from "./reminder-store.ts";

let kept: TestDatabase;
let jobs: Jobs;
let reminders: ReminderStore;
let agentId: string;
/** How far the jobs' clock is ahead of the real time, in ms. */
let ahead = 0;

beforeAll(async () => {
  kept = await fileDatabase();
  await kept.database.write([{ sql: "CREATE TABLE said (reminder TEXT NOT NULL)", args: [] }]);
});
afterAll(() => kept.remove());
beforeEach(async () => {
  ahead = 0;
  await kept.database.write([
    { sql: "DELETE FROM said", args: [] },
    { sql: "DELETE FROM jobs", args: [] },
  ]);
  agentId = await insertAgent(kept.database);
  boot();
});
afterEach(() => jobs.stop(0));

function boot(): void {
  jobs = createJobs({ database: kept.database, log: silent, now: () => Date.now() + ahead });
  reminders = createReminderStore({ database: kept.database, jobs });
}

const deliver = (reminder: Reminder) => [{ sql: "INSERT INTO said VALUES (?)", args: [reminder.text] }];
const deliveries = async () => (await kept.database.read("SELECT reminder FROM said")).rows.map((row) => row.reminder);
const jobsLeft = async () => (await kept.database.read("SELECT 1 FROM jobs WHERE kind = 'reminder'")).rows.length;

async function call(name: string, input: object, context: ToolContext = toolContext(agentId)) {
  const tool = createReminderSkill(reminders)
    .tools(agentId)
    .find((one) => one.name === name);
  if (!tool) throw new Error(`No tool ${name}.`);
  const { ok, text } = await callTool(prepareTool(tool, "reminder", silent), input, context);
  return ok && text.startsWith("{") ? JSON.parse(text) : text;
}

test("is delivered once when it is due, with its conversation and text, also after a restart", async () => {
  const delivered: Reminder[] = [];
  reminders.onReminder((reminder) => {
    delivered.push(reminder);
    return deliver(reminder);
  });
  await jobs.start();
  const turn = toolContext(agentId, guestAudience("7"));
  const { id } = await call("remind_me", { text: "Water the plants", inMinutes: 60 }, turn);
  expect(await deliveries()).toEqual([]);
  ahead = 3_601_000;
  await jobs.stop();
  boot();
  reminders.onReminder((reminder) => {
    delivered.push(reminder);
    return deliver(reminder);
  });
  await jobs.start();
  await eventually(async () => (await jobsLeft()) === 0);
  expect(await deliveries()).toEqual(["Water the plants"]);
  const { sessionId, platform, peer } = turn;
  expect(delivered).toEqual([
    {
      id,
      agentId,
      sessionId,
      platform,
      peer,
      byOwner: false,
      text: "Water the plants",
      taint: 0,
      enabled: true,
      dueAt: expect.any(Number),
      createdAt: expect.any(Number),
    },
  ]);
  expect(await reminders.list(agentId)).toEqual([]);
});

test("a failed delivery is retried, and the reminder is delivered once", async () => {
  let tries = 0;
  reminders.onReminder((reminder) => {
    if (++tries === 1) throw new Error("not yet");
    return deliver(reminder);
  });
  await call("remind_me", { text: "Tea", inMinutes: 1 });
  ahead = 61_000;
  await jobs.start();
  await eventually(async () => (await deliveries()).length > 0);
  await eventually(async () => (await jobsLeft()) === 0);
  expect({ tries, delivered: await deliveries() }).toEqual({ tries: 2, delivered: ["Tea"] });
});

test("a repeated turn sets it once; another message sets another one", async () => {
  const turn = toolContext(agentId);
  const first = await call("remind_me", { text: "Tea", inMinutes: 5 }, turn);
  expect(await call("remind_me", { text: "Tea", inMinutes: 5 }, turn)).toEqual(first);
  const second = await call("remind_me", { text: "Tea", inMinutes: 5 });
  expect(second.id).not.toBe(first.id);
  expect(await jobsLeft()).toBe(2);
});

test("a cancelled reminder is not delivered, also when it is cancelled during its delivery", async () => {
  const { id } = await call("remind_me", { text: "Tea", inMinutes: 1 });
  const late = await call("remind_me", { text: "Coffee", inMinutes: 1 });
  expect(await call("cancel_reminder", { id })).toEqual({ cancelled: true });
  expect(await call("cancel_reminder", { id })).toContain("no such reminder");
  reminders.onReminder(async (reminder) => {
    await reminders.cancel(agentId, late.id);
    return deliver(reminder);
  });
  ahead = 61_000;
  await jobs.start();
  await eventually(async () => (await jobsLeft()) === 0);
  expect(await deliveries()).toEqual([]);
});

describe("access", () => {
  test("guests see and cancel reminders of their own conversation; the owner all; other agents none", async () => {
    const [mallory, trent] = [toolContext(agentId, guestAudience("7")), toolContext(agentId, guestAudience("8"))];
    const { id } = await call("remind_me", { text: "Stamps", inMinutes: 5 }, mallory);
    expect(await call("list_reminders", {}, trent)).toBe("There are no reminders.");
    expect(await call("cancel_reminder", { id }, trent)).toContain("no such reminder");
    expect((await call("list_reminders", {}, mallory)).reminders).toMatchObject([{ id, text: "Stamps" }]);
    expect((await call("list_reminders", {})).reminders.length).toBe(1);
    expect(await reminders.list(await insertAgent(kept.database))).toEqual([]);
    expect(await reminders.cancel(await insertAgent(kept.database), id)).toBe(false);
    expect(await call("cancel_reminder", { id }, mallory)).toEqual({ cancelled: true });
  });

  test("reminders of a deleted agent are deleted, and their jobs do nothing", async () => {
    await call("remind_me", { text: "Tea", inMinutes: 1 });
    await kept.database.write([{ sql: "DELETE FROM agents WHERE id = ?", args: [agentId] }]);
    reminders.onReminder(deliver);
    ahead = 61_000;
    await jobs.start();
    await eventually(async () => (await jobsLeft()) === 0);
    expect(await deliveries()).toEqual([]);
  });
});

describe("the time", () => {
  test("is returned in the agent's time zone", async () => {
    const turn = toolContext(agentId, { timezone: "Asia/Tokyo" });
    const next = new Date(Date.now() + DAY).toISOString().slice(0, 10);
    const set = await call("remind_me", { text: "Tea", at: `${next}T15:30` }, turn);
    expect(set).toMatchObject({ text: "Tea", at: `${next}T15:30:00+09:00`, inWords: expect.stringContaining("15:30") });
  });

  test.each([
    [{ text: "x" }, "either"],
    [{ text: "x", at: "12:00", inMinutes: 1 }, "either"],
    [{ text: "x", at: "2001-01-01T00:00" }, "time is over"],
    [{ text: "x", at: "2999-01-01T00:00" }, "five years"],
    [{ text: "x", at: "soon" }, "not a time"],
    [{ text: "x", inMinutes: -1 }, "more than 0"],
    [{ text: "", inMinutes: 1 }, "text"],
  ])("%j is declined: %s", async (input, why) => {
    expect(await call("remind_me", input)).toContain(why);
    expect(await jobsLeft()).toBe(0);
  });
});

test("a conversation has a limited number of open reminders", async () => {
  const turn = toolContext(agentId, guestAudience("7"));
  for (let n = 0; n < MAX_REMINDERS.conversation; n++)
    await call("remind_me", { text: `No. ${n}`, inMinutes: 5 }, turn);
  expect(await call("remind_me", { text: "One more", inMinutes: 5 }, turn)).toContain("too many");
  expect(await jobsLeft()).toBe(MAX_REMINDERS.conversation);
  expect(await call("remind_me", { text: "Mine", inMinutes: 5 })).toMatchObject({ text: "Mine" });
});

test("all reminders of an agent can be deleted in a batch", async () => {
  await call("remind_me", { text: "Tea", inMinutes: 5 });
  await kept.database.write([reminders.cancelAllStatement(agentId)]);
  expect(await reminders.list(agentId)).toEqual([]);
});

describe("a reminder that is switched off", () => {
  test("does not fire until it is switched on, and then once, with the taint of the turn that set it", async () => {
    const fired: Reminder[] = [];
    reminders.onReminder((reminder) => {
      fired.push(reminder);
      return deliver(reminder);
    });
    const { id } = await call(
      "remind_me",
      { text: "Tea", inMinutes: 5 },
      toolContext(agentId, { taint: 1, ...guestAudience("7") }),
    );
    expect(await reminders.setEnabled(agentId, id, false)).toMatchObject({ id, enabled: false });
    expect((await call("list_reminders", {})).reminders).toMatchObject([{ id, switchedOff: true }]);
    ahead = DAY;
    await jobs.start();
    await eventually(async () => (await jobsLeft()) === 0);
    expect(fired).toEqual([]);
    expect(await reminders.setEnabled(agentId, id, true)).toMatchObject({ id, enabled: true });
    await eventually(() => fired.length === 1);
    expect(fired).toMatchObject([{ id, taint: 1 }]);
    expect(await reminders.setEnabled(agentId, id, true)).toBeUndefined();
  });

  test("is not switched on after its time, nor for another agent", async () => {
    const { id } = await call("remind_me", { text: "Tea", inMinutes: 5 });
    await kept.database.write([{ sql: "UPDATE reminders SET enabled = 0, due_at = 1 WHERE id = ?", args: [id] }]);
    expect(reminders.setEnabled(agentId, id, true)).rejects.toMatchObject({ code: "REMINDER_PAST" });
    expect(await reminders.setEnabled(await insertAgent(kept.database), id, false)).toBeUndefined();
  });
});
