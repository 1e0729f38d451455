// Tests operations while turns are in flight, after kills, and with runtimes that hang or backups that are missing.
import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { createKeyedQueue } from "../../src/kernel/util/keyed-queue.ts";
import { eventually } from "../../tests/support/eventually.ts";
import { rejectionOf } from "../../tests/support/rejection.ts";
import type { Agent } from "../agents/index.ts";
import type { AgentBackups } from "./backups/agent-backups.ts";
import { readElements } from "./backups/backup-file.ts";
import { type Harness, openHarness } from "./backups/support.test.ts";
import { createOperations } from "./operations.ts";
import { createRuntimeRegistry } from "./runtime-registry.ts";
import { createUpdateJournal } from "./updates/update-journal.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await openHarness();
});
afterAll(() => harness?.[Symbol.asyncDispose]());
const close: (() => void)[] = [];
afterEach(() => {
  for (const end of close.splice(0)) end();
  harness.upstream.script(undefined);
  harness.writing.check = () => undefined;
});

/** New operations over the harness, as after a start of the process. */
function operate(backups: AgentBackups = harness.backups, within = 500) {
  const { agents, channels, runtime, accounts } = harness.services;
  const runtimes = createRuntimeRegistry(async () => undefined, within);
  const operations = createOperations({
    ...harness.kernel,
    agents,
    channels,
    runtime,
    users: accounts.users,
    runtimes,
    backups,
    updateJournal: createUpdateJournal(harness.kernel.database),
    repairModel: async () => undefined,
    runQueued: createKeyedQueue(),
  });
  close.push(operations.close);
  return { ...operations, runtimes };
}

/** The content of a backup, as text. */
const contents = async (path: string) => JSON.stringify(await Array.fromAsync(readElements(harness.file(path))));

/** Starts a turn that waits for the model until `answer` is called. */
async function inFlight(agent: Agent) {
  const { promise, resolve } = Promise.withResolvers<string>();
  harness.upstream.reset();
  harness.upstream.script(() => promise);
  const reply = harness.chat(agent, "in flight");
  await harness.upstream.waitFor(({ chats }) => chats.length > 0);
  return { reply, answer: resolve };
}

test("reset-memory backs up the reply of a turn in flight", async () => {
  const agent = await harness.agent();
  const turn = await inFlight(agent);
  const reset = operate().resetMemory(agent.id);
  turn.answer("the lighthouse is red");
  await turn.reply;
  expect(await contents((await reset).backupPath)).toContain("the lighthouse is red");
});

test("rollback backs up the reply of a turn in flight", async () => {
  const agent = await harness.agent();
  const { backupPath } = await operate().resetMemory(agent.id);
  const turn = await inFlight(agent);
  // The turn ends only after the backup was checked.
  const withBackup: AgentBackups["withBackup"] = (id, path, work) =>
    harness.backups.withBackup(id, path, (backup) => {
      turn.answer("the lighthouse is green");
      return work(backup);
    });
  await operate({ ...harness.backups, withBackup }).rollback(agent.id, backupPath);
  await turn.reply;
  const files = new Bun.Glob(`backups/${agent.id}/*.json.gz`).scan(harness.dir);
  const newest = (await Array.fromAsync(files)).sort().at(-1) ?? "";
  expect(await contents(newest)).toContain("the lighthouse is green");
});

/**
 * Leaves an update as a kill does: recorded, with its backup unless another path is given, the new runtime not tried.
 */
async function halfUpdated(agent: Agent, version: string, backupPath?: string): Promise<void> {
  const path = backupPath ?? (await harness.backups.write(agent.id)).path;
  await harness.run(
    "INSERT INTO agent_updates VALUES (?1, ?2, '1.0.0', (SELECT status FROM agents WHERE id = ?1), 1)",
    ...[agent.id, path],
  );
  await harness.services.agents.setStatus(agent.id, agent.status, { runtimeVersion: version });
}
const open = (agent: Agent) => harness.one("SELECT count(*) FROM agent_updates WHERE agent_id = ?", agent.id);
const now = async (agent: Agent) => {
  const found = await harness.services.agents.find(agent.id);
  return found && { status: found.status, reason: found.statusReason, version: found.runtimeVersion };
};
const put = async (agent: Agent, status: "stopped" | "error", reason = "x") => {
  await harness.services.agents.setStatus(agent.id, status, status === "error" ? { reason } : {});
  return { ...agent, status };
};

test("an update that can't be undone ends with its agent in error; other agents still come up", async () => {
  const [bad, good] = [await harness.agent(), await harness.agent()];
  await put(good, "error");
  await halfUpdated(bad, "9.9.9", `backups/${bad.id}/2026-01-01T00-00-00-000Z.json.gz`);
  const operations = operate();
  await operations.reconcile();
  expect(await now(good)).toMatchObject({ status: "active" });
  expect(await now(bad)).toMatchObject({ status: "error", reason: expect.stringContaining("could not") });
  expect(await open(bad)).toBe(0);
  expect(await operations.update(bad.id, {})).toMatchObject({ agent: { status: "active", runtimeVersion: "1.0.0" } });
});

test("a kill right after an update was undone leaves the agent stopped, as it was before", async () => {
  const agent = await put(await harness.agent(), "stopped");
  await halfUpdated(agent, "9.9.9");
  // No write succeeds after the restore.
  const restore: AgentBackups["restore"] = async (...asked) => {
    await harness.backups.restore(...asked);
    harness.writing.check = () => {
      throw new Error("killed");
    };
  };
  await operate({ ...harness.backups, restore }).reconcile();
  harness.writing.check = () => undefined;
  await operate().reconcile();
  expect(await now(agent)).toEqual({ status: "stopped", reason: null, version: "1.0.0" });
  expect(await open(agent)).toBe(0);
});

test("undoing the update of an agent in error keeps the reason of the error", async () => {
  const agent = await put(await harness.agent(), "error", "The sea was rough.");
  const operations = operate();
  operations.runtimes.register({ version: "2.1.0", check: () => Promise.reject(new Error("no")) });
  expect(await rejectionOf(operations.update(agent.id, { version: "2.1.0" }))).toMatchObject({
    code: "UPDATE_ROLLED_BACK",
  });
  expect(await now(agent)).toEqual({ status: "error", reason: "The sea was rough.", version: "1.0.0" });
});

test("an update of an agent that is deleted meanwhile is 404", async () => {
  const agent = await harness.agent();
  const operations = operate();
  operations.runtimes.register({
    version: "2.1.0",
    async check() {
      await harness.services.agents.remove(agent.id);
      throw new Error("no");
    },
  });
  const refused = await rejectionOf(operations.update(agent.id, { version: "2.1.0" }));
  expect(refused).toMatchObject({ status: 404, code: "AGENT_NOT_FOUND" });
});

test("messages that arrive while an interrupted update is undone wait, and are answered and stored", async () => {
  const agent = await harness.agent();
  await halfUpdated(agent, "2.2.0");
  const operations = operate();
  const asked = Promise.withResolvers<void>();
  operations.runtimes.register({
    version: "2.2.0",
    check() {
      asked.resolve();
      return new Promise(() => undefined);
    },
  });
  await operations.holdUnfinishedUpdates();
  const early = harness.chat(agent, "said before the check");
  const reconciled = operations.reconcile();
  await asked.promise;
  const late = harness.chat(agent, "said during the check");
  await Promise.all([reconciled, early, late]);
  const { messages } = await harness.dumpBackup(agent);
  for (const when of ["before", "during"]) expect(JSON.stringify(messages)).toContain(`echo: said ${when} the check`);
  expect(await now(agent)).toMatchObject({ version: "1.0.0" });
});

test("at a start, healthy agents don't wait for agents whose check hangs", async () => {
  const hanging = [await harness.agent(), await harness.agent(), await harness.agent()];
  const good = await harness.agent();
  for (const agent of [...hanging, good]) await put(agent, "error");
  for (const agent of hanging) await harness.run("UPDATE agents SET runtime_version = '2.2.0' WHERE id = ?", agent.id);
  for (const { id } of hanging) await harness.services.agents.setStatus(id, "error", { reason: "y" });
  const operations = operate(harness.backups, 10_000);
  const { promise, resolve } = Promise.withResolvers<void>();
  operations.runtimes.register({ version: "2.2.0", check: () => promise });
  const reconciled = operations.reconcile();
  await eventually(async () => (await now(good))?.status === "active", { what: "it is up" });
  for (const agent of hanging) expect(await now(agent)).toMatchObject({ status: "error" });
  resolve();
  await reconciled;
});

test("a rollback to a runtime that is missing uses this binary's own and logs it", async () => {
  const agent = await harness.agent();
  await harness.services.agents.setStatus(agent.id, agent.status, { runtimeVersion: "9.9.9" });
  const { path } = await harness.backups.write(agent.id);
  await harness.services.agents.setStatus(agent.id, agent.status, { runtimeVersion: "1.0.0" });
  expect(await operate().rollback(agent.id, path)).toMatchObject({ status: "active", runtimeVersion: "1.0.0" });
  const { kernel, services } = harness;
  await services.agents.logs.flush();
  const { rows } = await kernel.database.read("SELECT message FROM agent_logs WHERE agent_id = ?", [agent.id]);
  expect(rows.map(({ message }) => message)).toContain(
    "rollback: berth/agent:9.9.9 is not in this binary, so the agent uses berth/agent:1.0.0",
  );
});

test("the agent's log has its creation and every life-cycle step, once each", async () => {
  const agent = await harness.agent();
  const { start, stop, restart, repair, update, rollback, resetMemory, runtimes } = operate();
  await stop(agent.id);
  await start(agent.id);
  await restart(agent.id);
  await repair(agent.id);
  const { backupPath } = await update(agent.id, { version: runtimes.versions()[0] });
  await resetMemory(agent.id);
  await rollback(agent.id, backupPath);
  const { lines } = await harness.services.agents.logs.list(agent.id, { limit: 100 });
  const steps = lines.filter(({ source }) => source === "lifecycle").map(({ message }) => message.split(":")[0]);
  expect(steps.toReversed()).toEqual([
    ...["create", "stop", "start", "restart", "repair"],
    ...["update", "reset-memory", "rollback"],
  ]);
});

test("backups are listed newest first, each with what it was written for", async () => {
  const agent = await harness.agent();
  const operations = operate();
  expect(await operations.listBackups(agent.id)).toEqual([]);
  const manual = await operations.backUp(agent.id);
  expect(manual.path).toContain(agent.id);
  const { backupPath } = await operations.resetMemory(agent.id);
  await operations.rollback(agent.id, manual.path);
  const listed = await operations.listBackups(agent.id);
  expect(listed.map(({ reason }) => reason)).toEqual(["rollback", "reset-memory", "manual"]);
  expect(listed[1]?.path).toBe(backupPath);
  expect(listed.at(-1)).toEqual(manual);
  expect(manual.size).toBeGreaterThan(100);
  expect(Math.abs(Date.now() - manual.createdAt)).toBeLessThan(60_000);
});

test("an older or damaged backup is listed without a reason", async () => {
  const agent = await harness.agent();
  const operations = operate();
  const { path } = await operations.backUp(agent.id);
  await Bun.write(harness.file(path), "no gzip");
  expect(await operations.listBackups(agent.id)).toMatchObject([{ path, reason: undefined, size: 7 }]);
});
