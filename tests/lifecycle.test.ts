// The lifecycle of agents on the whole binary: every operation from every status, for owners and others, through kills.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Berth, startBerth } from "./support/berth.ts";
import { type Answer, type Client, createClient } from "./support/client.ts";
import { eventually, seeded } from "./support/eventually.ts";
import { type AgentItem, member, provision } from "./support/members.ts";
import { expectRefusal } from "./support/refusal.ts";
import { startUpstream, type Upstream } from "./support/upstream.ts";

const PLUGIN = join(import.meta.dir, "support/test-runtimes.ts");
const OPERATIONS = ["start", "stop", "restart", "update", "repair", "reset-memory"] as const;
type Operation = (typeof OPERATIONS)[number];
const STATUSES = ["running", "active", "stopped", "error"] as const;
type Status = (typeof STATUSES)[number];

let berth: Berth;
let upstream: Upstream;
let ada: Client;
let eve: Client;
let root: Client;
let agent: AgentItem;

beforeAll(async () => {
  upstream = await startUpstream();
  berth = await startBerth({
    args: ["--plugin", PLUGIN],
    env: {
      RATE_LIMITS: "off",
      PROVIDER_3_BASE_URL: upstream.url,
      MODEL_A: "provider_3:fake-small",
      ADMIN_EMAILS: "root@example.com",
    },
  });
  [ada, eve, root] = await Promise.all([member(berth, "enterprise"), member(berth), admin()]);
  agent = await provision(ada, "Harbour");
});
afterAll(async () => {
  await berth?.[Symbol.asyncDispose]();
  await upstream?.stop();
});

async function admin(): Promise<Client> {
  const client = createClient(berth);
  await client.join({ email: "root@example.com" });
  expect((await client.get("/api/settings")).body).toMatchObject({ isAdmin: true });
  return client;
}

const sick = () => join(berth.dir, "data/sick");
const operate = (client: Client, id: string, operation: string, body: object = {}) =>
  client.post<Record<string, unknown>>(`/api/agents/${id}/${operation}`, body);

async function detail(id: string): Promise<{ status: Status; runtimeVersion: string; startedAt: string }> {
  const { body } = await ada.get<{ agent: { status: Status; runtimeVersion: string; startedAt: string } }>(
    `/api/agents/${id}`,
  );
  return body.agent;
}
const statusOf = async (id: string) => (await detail(id)).status;

/** Creates an agent of Ada's with this status. */
async function agentIn(status: Status): Promise<string> {
  const { id } = await provision(ada, `An agent ${status}`);
  if (status === "active") await operate(ada, id, "start");
  if (status === "stopped") await operate(ada, id, "stop");
  if (status === "error") {
    await operate(ada, id, "update", { version: "2.0.0" });
    writeFileSync(sick(), "");
    expectRefusal(await operate(ada, id, "restart"), 500, "UNHEALTHY");
    rmSync(sick());
  }
  if (status !== "error") expect(await statusOf(id)).toBe(status);
  return id;
}

/** The response of each operation to the owner, which does not depend on the status before. */
function expected(operation: Operation, runtimeVersion: string): Record<string, unknown> {
  const backupPath = expect.stringMatching(/^backups\/[0-9a-f-]{36}\/[\w.-]+\.json\.gz$/);
  const image = "berth/agent:1.0.0";
  const previousImage = `berth/agent:${runtimeVersion}`;
  return {
    start: { success: true, status: "active" },
    stop: { success: true, status: "stopped" },
    restart: { success: true, status: "active", healedLegacyModel: false, healMessage: null, runtimeVersion },
    update: { success: true, status: "active", image, previousImage, backupPath, runtimeVersion: "1.0.0" },
    repair: { success: true, message: expect.stringMatching(/\w/), repaired: expect.any(Array) },
    "reset-memory": { success: true, message: expect.stringMatching(/\w/), backupPath },
  }[operation];
}

function next(operation: Operation, before: Status): Status {
  if (operation === "stop") return "stopped";
  if (operation === "reset-memory") return before;
  if (operation === "repair") return before === "stopped" ? "stopped" : "active";
  return "active";
}

describe.each(STATUSES)("an agent that is %s", (status) => {
  test.each(OPERATIONS)("%s has the documented response and status, also when repeated", async (operation) => {
    const id = await agentIn(status);
    const { status: before, runtimeVersion } = await detail(id);
    const { status: code, body } = await operate(ada, id, operation);
    expect({ code, body }).toEqual({ code: 200, body: expected(operation, runtimeVersion) });
    // An agent in error is retried automatically, so it may be active by now.
    const after = await statusOf(id);
    const allowed: Status[] = [next(operation, before), ...(status === "error" ? (["active"] as const) : [])];
    expect(allowed).toContain(after);
    const again = await operate(ada, id, operation);
    expect(again.status).toBe(200);
  });
});

describe("access", () => {
  const NOBODY = "01890a5d-ac96-774b-bcce-b302099a8057";
  const routes = OPERATIONS.flatMap((operation) => [`/api/agents/:id/${operation}`, `/api/instance/:id/${operation}`]);

  test.each([...routes, "/api/instance/:id"])(
    "%s: the failure body for other users and admins, 401 without a session",
    async (route) => {
      const before = await detail(agent.id);
      const call = (client: Client, id: string): Promise<Answer> =>
        route.endsWith(":id") ? client.get(route.replace(":id", id)) : client.post(route.replace(":id", id), {});
      const texts = new Set<string>();
      for (const client of [eve, root]) {
        for (const id of [agent.id, NOBODY, "no-id", "..%2Fx"]) {
          const answer = await call(client, id);
          expect(expectRefusal(answer, 403, "NOT_YOUR_AGENT")).toMatchObject({ success: false, status: "error" });
          texts.add(answer.text);
        }
      }
      expect(texts.size).toBe(1);
      expectRefusal(await call(createClient(berth), agent.id), 401, "UNAUTHORIZED");
      expect(await detail(agent.id)).toEqual(before);
    },
  );

  test("the backend's routes accept only a service token or the owner's session", async () => {
    for (const operation of OPERATIONS) {
      const path = `/api/agents/${agent.id}/${operation}`;
      const direct = createClient(berth.backend);
      expectRefusal(await direct.post(path, {}), 401, "UNAUTHORIZED");
      expectRefusal(
        await direct.post(path, {}, { headers: { authorization: "Bearer st.e30.x" } }),
        401,
        "UNAUTHORIZED",
      );
      expectRefusal(await direct.post(path, {}, { headers: { cookie: eve.cookie } }), 403, "NOT_YOUR_AGENT");
    }
    const own = await createClient(berth.backend).post(
      `/api/agents/${agent.id}/start`,
      {},
      { headers: { cookie: ada.cookie } },
    );
    expect(own.body).toEqual({ success: true, status: "active" });
  });

  test("/api/instance/ accepts the agent's id, or the user's id for the newest agent that is not stopped", async () => {
    const bob = await member(berth);
    const id = ((await bob.get("/api/settings")).body as { id: string }).id;
    expectRefusal(await bob.get(`/api/instance/${id}`), 403, "NOT_YOUR_AGENT");
    const [first, second] = [await provision(bob, "First"), await provision(bob, "Second")];
    const named = async () => ((await bob.get(`/api/instance/${id}`)).body as { agent: { id: string } }).agent.id;
    expect(await named()).toBe(second.id);
    expect((await bob.post(`/api/instance/${id}/stop`, {})).body).toEqual({ success: true, status: "stopped" });
    expect(await named()).toBe(first.id);
    expect((await bob.get(`/api/instance/${second.id}`)).body).toMatchObject({
      agent: { id: second.id, status: "stopped" },
      status: "ok",
    });
  });

  test("a key without the scope write changes nothing", async () => {
    const { body } = await ada.post<{ key: string }>("/api/keys", { name: "reader", scopes: ["read"] });
    const keyed = { headers: { authorization: `Bearer ${body.key}` } };
    const api = createClient(berth);
    expectRefusal(await api.post(`/api/agents/${agent.id}/stop`, {}, keyed), 403, "MISSING_SCOPE");
    expect((await api.get(`/api/instance/${agent.id}`, keyed)).status).toBe(200);
  });
});

describe("stop and start", () => {
  test("a stopped agent refuses to talk until it is started, and stays stopped over a kill", async () => {
    const id = await agentIn("stopped");
    const ask = () => ada.post<{ reply: string }>("/api/agent", { agentId: id, message: "Hello" });
    expectRefusal(await ask(), 409, "AGENT_STOPPED");
    await berth.kill();
    await berth.restart({ keepPorts: true });
    expect(await statusOf(id)).toBe("stopped");
    expectRefusal(await ask(), 409, "AGENT_STOPPED");
    await operate(ada, id, "start");
    expect((await ask()).body.reply).toBe("echo: Hello");
  });

  test("an agent that fails to start is retried until it starts or is stopped", async () => {
    const { id } = await provision(ada, "Patient");
    await operate(ada, id, "update", { version: "2.0.0" });
    writeFileSync(sick(), "");
    const refused = expectRefusal(await operate(ada, id, "restart"), 500, "UNHEALTHY");
    expect(refused).toMatchObject({ success: false, status: "error" });
    expect(refused.error).not.toContain("secret");
    expect(await statusOf(id)).toBe("error");
    expect((await ada.get(`/api/agents/${id}`)).body).toMatchObject({
      agent: { statusReason: expect.stringContaining("could not come up") },
    });
    rmSync(sick());
    await eventually(async () => (await statusOf(id)) === "active", { what: "it comes up by itself" });
    writeFileSync(sick(), "");
    expectRefusal(await operate(ada, id, "start"), 500, "UNHEALTHY");
    await berth.kill();
    await berth.restart({ keepPorts: true });
    expect(await statusOf(id)).toBe("error");
    expect((await operate(ada, id, "stop")).body).toEqual({ success: true, status: "stopped" });
    rmSync(sick());
  });
});

describe("restart", () => {
  test("replaces a model that no longer exists in the configuration, and changes nothing else in it", async () => {
    const { id } = await provision(ada, "Legacy");
    const text = '{"seed":123456789012345678901234567890, "model":"provider_3:gone-for-good" ,"__proto__":{"x":1}}';
    const { cookie } = ada;
    const headers = { cookie, "content-type": "application/json" };
    await fetch(`${berth.web}/api/agents/${id}/config`, { method: "PUT", body: text, headers });
    const { body } = await operate(ada, id, "restart");
    const healMessage = "healed:provider_3:gone-for-good->provider_3:fake-small";
    expect(body).toMatchObject({ healedLegacyModel: true, healMessage });
    const after = await (await fetch(`${berth.web}/api/agents/${id}/config`, { headers })).text();
    const bare = (json: string) => json.replaceAll(" ", "");
    expect(bare(after)).toContain(bare(text.replace("gone-for-good", "fake-small")));
    expect((await operate(ada, id, "restart")).body).toMatchObject({ healedLegacyModel: false, healMessage: null });
  });
});

describe("update", () => {
  const remembered = async (id: string) => {
    await ada.post("/api/agent", { agentId: id, message: "Remember the lighthouse" });
    return (await ada.get<{ memory: unknown[] }>(`/api/agent?action=memory&agentId=${id}`)).body.memory;
  };
  const memory = async (id: string) =>
    (await ada.get<{ memory: unknown[] }>(`/api/agent?action=memory&agentId=${id}`)).body.memory;

  test("by image or by version: the response names the previous runtime, and the backup exists", async () => {
    const { id } = await provision(ada, "Up to date");
    const { body } = await operate(ada, id, "update", { image: "berth/agent:2.0.0" });
    expect(body).toMatchObject({
      image: "berth/agent:2.0.0",
      previousImage: "berth/agent:1.0.0",
      runtimeVersion: "2.0.0",
    });
    expect(existsSync(join(berth.dir, "data", String(body.backupPath)))).toBe(true);
    expect(await detail(id)).toMatchObject({ status: "active", runtimeVersion: "2.0.0" });
    for (const bad of [
      { image: "berth/agent:9" },
      { image: "alpine" },
      { version: "../1" },
      { image: "berth/agent:1.0.0", version: "2.0.0" },
    ]) {
      expectRefusal(await operate(ada, id, "update", bad), 400, "UNKNOWN_IMAGE");
    }
    expect(await detail(id)).toMatchObject({ runtimeVersion: "2.0.0" });
  });

  test.each([
    ["2.1.0", "fails its check"],
    ["2.3.0", "deletes memory and fails"],
  ])("to %s, which %s, is rolled back, answering again, memory intact", async (version) => {
    const { id } = await provision(ada, "Careful");
    const before = await remembered(id);
    const refused = expectRefusal(await operate(ada, id, "update", { version }), 500, "UPDATE_ROLLED_BACK");
    expect(refused).toMatchObject({ success: false, status: "error", backupPath: expect.stringContaining(id) });
    expect(refused.error).not.toContain("secret");
    expect(await detail(id)).toMatchObject({ status: "running", runtimeVersion: "1.0.0" });
    expect(await memory(id)).toEqual(before);
    const { body } = await ada.post<{ reply: string }>("/api/agent", { agentId: id, message: "Still there?" });
    expect(body.reply).toBe("echo: Still there?");
  });

  test("to a version whose check hangs: rolled back after 15 seconds; meanwhile a second update is rejected, and a message waits", async () => {
    const { id } = await provision(ada, "Stuck");
    const began = performance.now();
    const hanging = operate(ada, id, "update", { version: "2.2.0" });
    const second = await eventually(
      async () => {
        const answer = await operate(ada, id, "update", { version: "2.0.0" });
        return answer.status === 409 ? answer : undefined;
      },
      { what: "the second is refused" },
    );
    expect(expectRefusal(second, 409, "OPERATION_IN_PROGRESS")).toMatchObject({ success: false, status: "error" });
    const pending = ada.post<{ reply: string }>("/api/agent", { agentId: id, message: "Are you there?" });
    expectRefusal(await hanging, 500, "UPDATE_ROLLED_BACK");
    expect((await pending).body.reply).toBe("echo: Are you there?");
    expect(performance.now() - began).toBeGreaterThan(14_500);
    expect(await detail(id)).toMatchObject({ runtimeVersion: "1.0.0" });
  });

  test("a kill during an update: after the start the agent is unchanged and answers", async () => {
    const { id } = await provision(ada, "Cut off");
    const before = await remembered(id);
    const cut = operate(ada, id, "update", { version: "2.2.0" }).catch(() => undefined);
    await eventually(async () => (await detail(id)).runtimeVersion === "2.2.0", { what: "the new runtime is tried" });
    await berth.kill();
    await cut;
    // The version whose check hangs no longer exists.
    await berth.restart({ keepPorts: true });
    await eventually(async () => (await detail(id)).runtimeVersion === "1.0.0", {
      what: "it is rolled back",
      timeoutMs: 25_000,
    });
    expect(await memory(id)).toEqual(before);
  });

  test("a backup folder that can't be written: a clear error, and nothing is changed", async () => {
    const { id } = await provision(ada, "No room");
    const before = await remembered(id);
    const folder = join(berth.dir, "data/backups", id);
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(join(berth.dir, "data/backups"), { recursive: true });
    // A file in place of the folder stops even root.
    writeFileSync(folder, "");
    for (const operation of ["update", "reset-memory"]) {
      const refused = expectRefusal(await operate(ada, id, operation), 500, "BACKUP_FAILED");
      expect(refused).toMatchObject({ success: false, status: "error" });
    }
    rmSync(folder);
    expect(await memory(id)).toEqual(before);
    expect(await detail(id)).toMatchObject({ status: "running", runtimeVersion: "1.0.0" });
    expect((await operate(ada, id, "update")).status).toBe(200);
  });
});

describe("reset-memory and rollback", () => {
  test("deletes sessions and memory, keeps configuration and credentials; the backup restores all", async () => {
    const { id } = await provision(ada, "Forgetful", { instructions: "Be brief." });
    await ada.post("/api/agent", { agentId: id, message: "My name is Ada" });
    await ada.post("/api/agent", { agentId: id, action: "set-credential", key: "provider_5", value: "sk-kept-secret" });
    const sessions = async () =>
      (await ada.get<{ sessions: { id: string }[] }>(`/api/agent?action=sessions&agentId=${id}`)).body.sessions;
    const credentials = async () => (await ada.get(`/api/agent?action=credentials&agentId=${id}`)).body;
    const [before, kept] = [await sessions(), await credentials()];
    const { body } = await operate(ada, id, "reset-memory");
    expect(await sessions()).toEqual([]);
    expect(await credentials()).toEqual(kept);
    expect((await ada.get(`/api/agents/${id}/config`)).body).toMatchObject({ config: { instructions: "Be brief." } });
    upstream.reset();
    await ada.post("/api/agent", { agentId: id, message: "What is my name?" });
    expect(JSON.stringify(upstream.chats)).not.toContain("My name is Ada");

    const { body: rolled } = await operate(ada, id, "rollback", { backupPath: body.backupPath });
    expect(rolled).toMatchObject({ success: true, status: "active" });
    expect((await sessions()).map(({ id }) => id)).toContain(before[0]?.id ?? "");
    const other = await provision(ada, "Another");
    for (const backupPath of [
      body.backupPath,
      "../secret.key",
      "backups/x.json.gz",
      `backups/${other.id}/../../berth.db`,
    ]) {
      expectRefusal(await operate(ada, other.id, "rollback", { backupPath }), 400, "UNKNOWN_BACKUP");
    }
  });
});

test("200 operations in random order, in parallel and through kills: the status agrees with the agent's behaviour", async () => {
  const random = seeded();
  const { id } = await provision(ada, "Busy");
  for (let round = 0; round < 8; round++) {
    const crowd = Array.from({ length: 25 }, () => random.pick(OPERATIONS)).map((operation) =>
      operate(ada, id, operation).then(
        ({ status, body }) => ({ operation, status, body }),
        () => undefined,
      ),
    );
    if (round % 2 === 1) {
      await Promise.race(crowd);
      await berth.kill();
      await berth.restart({ keepPorts: true });
    }
    for (const done of (await Promise.all(crowd)).filter((one) => one !== undefined)) {
      const { operation, status, body } = done;
      if (status === 409) expect(operation).toBe("update");
      else expect({ operation, status, success: body.success }).toEqual({ operation, status: 200, success: true });
    }
    const settled = await statusOf(id);
    expect(["running", "active", "stopped"]).toContain(settled);
    const { status } = await ada.post("/api/agent", { agentId: id, message: "Hello" });
    expect({ settled, status }).toEqual({ settled, status: settled === "stopped" ? 409 : 200 });
  }
});
