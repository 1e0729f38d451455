// Operations against what happens meanwhile: turns in flight, kills, runtimes that hang, backups that are gone.
import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { createOrder } from "../../src/order.ts";
import { eventually } from "../../tests/support/eventually.ts";
import type { Agent } from "../agents/index.ts";
import { createOperations } from "./operations.ts";
import { createRuntimes } from "./runtimes.ts";
import { readElements } from "./snapshots/file.ts";
import type { Snapshots } from "./snapshots/snapshots.ts";
import { openStand, refusal, type Stand } from "./snapshots/support.test.ts";
import { createUpdates } from "./updates.ts";

let stand: Stand;
beforeAll(async () => {
  stand = await openStand();
});
afterAll(() => stand?.[Symbol.asyncDispose]());
const close: (() => void)[] = [];
afterEach(() => {
  for (const end of close.splice(0)) end();
  stand.upstream.script(undefined);
  stand.writing.check = () => undefined;
});

/** Operations over the stand, as they are after a start of the process. */
function operate(snapshots: Snapshots = stand.snapshots, within = 500) {
  const { agents, channels, runtime, accounts } = stand.services;
  const runtimes = createRuntimes(async () => undefined, within);
  const operations = createOperations({
    ...stand.kernel,
    agents,
    channels,
    runtime,
    users: accounts.users,
    runtimes,
    snapshots,
    updates: createUpdates(stand.kernel.database),
    heal: async () => undefined,
    inOrder: createOrder(),
  });
  close.push(operations.close);
  return { ...operations, runtimes };
}

/** Everything in a backup, as text. */
const contents = async (path: string) => JSON.stringify(await Array.fromAsync(readElements(stand.file(path))));

/** A turn that is with the model until `answer` is called. */
async function inFlight(agent: Agent) {
  const { promise, resolve } = Promise.withResolvers<string>();
  stand.upstream.reset();
  stand.upstream.script(() => promise);
  const reply = stand.chat(agent, "in flight");
  await stand.upstream.waitFor(({ chats }) => chats.length > 0);
  return { reply, answer: resolve };
}

test("what a turn in flight says before its memory is reset is in the backup", async () => {
  const agent = await stand.agent();
  const turn = await inFlight(agent);
  const reset = operate().resetMemory(agent.id);
  turn.answer("the lighthouse is red");
  await turn.reply;
  expect(await contents((await reset).backupPath)).toContain("the lighthouse is red");
});

test("what a turn in flight says before a rollback is in the backup", async () => {
  const agent = await stand.agent();
  const { backupPath } = await operate().resetMemory(agent.id);
  const turn = await inFlight(agent);
  // By the time it is known to be good, and not before.
  const keeping: Snapshots["keeping"] = (id, path, work) =>
    stand.snapshots.keeping(id, path, (backup) => {
      turn.answer("the lighthouse is green");
      return work(backup);
    });
  await operate({ ...stand.snapshots, keeping }).rollback(agent.id, backupPath);
  await turn.reply;
  const files = new Bun.Glob(`backups/${agent.id}/*.json.gz`).scan(stand.dir);
  const newest = (await Array.fromAsync(files)).sort().at(-1) ?? "";
  expect(await contents(newest)).toContain("the lighthouse is green");
});

/** As a kill leaves an update: written down, its backup there unless told otherwise, the new runtime not tried yet. */
async function halfUpdated(agent: Agent, version: string, backupPath?: string): Promise<void> {
  const path = backupPath ?? (await stand.snapshots.write(agent.id)).path;
  await stand.run(
    "INSERT INTO agent_updates VALUES (?1, ?2, '1.0.0', (SELECT status FROM agents WHERE id = ?1), 1)",
    ...[agent.id, path],
  );
  await stand.services.agents.setStatus(agent.id, agent.status, { runtimeVersion: version });
}
const open = (agent: Agent) => stand.one("SELECT count(*) FROM agent_updates WHERE agent_id = ?", agent.id);
const now = async (agent: Agent) => {
  const found = await stand.services.agents.find(agent.id);
  return found && { status: found.status, reason: found.statusReason, version: found.runtimeVersion };
};
const put = async (agent: Agent, status: "stopped" | "error", reason = "x") => {
  await stand.services.agents.setStatus(agent.id, status, status === "error" ? { reason } : {});
  return { ...agent, status };
};

test("an update that can't be undone puts its agent in error, ends, and keeps no other from coming up", async () => {
  const [bad, good] = [await stand.agent(), await stand.agent()];
  await put(good, "error");
  await halfUpdated(bad, "9.9.9", `backups/${bad.id}/2026-01-01T00-00-00-000Z.json.gz`);
  const operations = operate();
  await operations.reconcile();
  expect(await now(good)).toMatchObject({ status: "active" });
  expect(await now(bad)).toMatchObject({ status: "error", reason: expect.stringContaining("could not") });
  expect(await open(bad)).toBe(0);
  expect(await operations.update(bad.id, {})).toMatchObject({ agent: { status: "active", runtimeVersion: "1.0.0" } });
});

test("a kill as soon as an update is undone leaves the agent as it was: stopped", async () => {
  const agent = await put(await stand.agent(), "stopped");
  await halfUpdated(agent, "9.9.9");
  // Whatever is written after the restore is not written any more.
  const restore: Snapshots["restore"] = async (...asked) => {
    await stand.snapshots.restore(...asked);
    stand.writing.check = () => {
      throw new Error("killed");
    };
  };
  await operate({ ...stand.snapshots, restore }).reconcile();
  stand.writing.check = () => undefined;
  await operate().reconcile();
  expect(await now(agent)).toEqual({ status: "stopped", reason: null, version: "1.0.0" });
  expect(await open(agent)).toBe(0);
});

test("an update undone from an error keeps the reason of it", async () => {
  const agent = await put(await stand.agent(), "error", "The sea was rough.");
  const operations = operate();
  operations.runtimes.carry({ version: "2.1.0", check: () => Promise.reject(new Error("no")) });
  expect(await refusal(operations.update(agent.id, { version: "2.1.0" }))).toMatchObject({
    code: "UPDATE_ROLLED_BACK",
  });
  expect(await now(agent)).toEqual({ status: "error", reason: "The sea was rough.", version: "1.0.0" });
});

test("an update of an agent that is deleted meanwhile ends with what an agent that is gone is told", async () => {
  const agent = await stand.agent();
  const operations = operate();
  operations.runtimes.carry({
    version: "2.1.0",
    async check() {
      await stand.services.agents.remove(agent.id);
      throw new Error("no");
    },
  });
  const refused = await refusal(operations.update(agent.id, { version: "2.1.0" }));
  expect(refused).toMatchObject({ status: 404, code: "AGENT_NOT_FOUND" });
});

test("what arrives while an update that was cut off is undone waits for it, and is answered and kept", async () => {
  const agent = await stand.agent();
  await halfUpdated(agent, "2.2.0");
  const operations = operate();
  const asked = Promise.withResolvers<void>();
  operations.runtimes.carry({
    version: "2.2.0",
    check() {
      asked.resolve();
      return new Promise(() => undefined);
    },
  });
  await operations.holdHalves();
  const early = stand.chat(agent, "said before the check");
  const reconciled = operations.reconcile();
  await asked.promise;
  const late = stand.chat(agent, "said during the check");
  await Promise.all([reconciled, early, late]);
  const { messages } = await stand.picture(agent);
  for (const when of ["before", "during"]) expect(JSON.stringify(messages)).toContain(`echo: said ${when} the check`);
  expect(await now(agent)).toMatchObject({ version: "1.0.0" });
});

test("at a start, those that are well don't wait for those that hang", async () => {
  const hanging = [await stand.agent(), await stand.agent(), await stand.agent()];
  const good = await stand.agent();
  for (const agent of [...hanging, good]) await put(agent, "error");
  for (const agent of hanging) await stand.run("UPDATE agents SET runtime_version = '2.2.0' WHERE id = ?", agent.id);
  for (const { id } of hanging) await stand.services.agents.setStatus(id, "error", { reason: "y" });
  const operations = operate(stand.snapshots, 10_000);
  const { promise, resolve } = Promise.withResolvers<void>();
  operations.runtimes.carry({ version: "2.2.0", check: () => promise });
  const reconciled = operations.reconcile();
  await eventually(async () => (await now(good))?.status === "active", { what: "it is up" });
  for (const agent of hanging) expect(await now(agent)).toMatchObject({ status: "error" });
  resolve();
  await reconciled;
});

test("a rollback to a runtime that is not carried any more gives the agent this binary's own, and says so", async () => {
  const agent = await stand.agent();
  await stand.services.agents.setStatus(agent.id, agent.status, { runtimeVersion: "9.9.9" });
  const { path } = await stand.snapshots.write(agent.id);
  await stand.services.agents.setStatus(agent.id, agent.status, { runtimeVersion: "1.0.0" });
  expect(await operate().rollback(agent.id, path)).toMatchObject({ status: "active", runtimeVersion: "1.0.0" });
  const { kernel, services } = stand;
  await services.agents.logs.flush();
  const { rows } = await kernel.database.read("SELECT message FROM agent_logs WHERE agent_id = ?", [agent.id]);
  expect(rows.map(({ message }) => message)).toContain(
    "rollback: berth/agent:9.9.9 is not carried here, so the agent has berth/agent:1.0.0",
  );
});
