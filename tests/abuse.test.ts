// The compiled binary against abuse: a freeze that holds over kill -9, and an audit log that arrives elsewhere in order and whole.
import { expect, test } from "bun:test";
import { createServer } from "node:net";
import { startBerth } from "./support/berth.ts";
import { createClient } from "./support/client.ts";
import { eventually } from "./support/eventually.ts";
import { member, provision } from "./support/members.ts";
import { expectRefusal } from "./support/refusal.ts";
import { startUpstream } from "./support/upstream.ts";

const REASON = "It sends advertising.";

test("a freeze in the middle of a turn holds over kill -9; afterwards the message is answered", async () => {
  await using upstream = await startUpstream({ key: "sk-test" });
  await using berth = await startBerth({
    env: {
      PROVIDER_5_BASE_URL: upstream.url,
      PROVIDER_5_API_KEY: "sk-test",
      MODEL_A: "provider_5:fake-small",
    },
  });
  const ada = await member(berth);
  const { id } = await provision(ada);
  upstream.script(() => new Promise(() => undefined));
  const answer = ada.post("/api/agent", { agentId: id, message: "Are you there?" });
  await eventually(() => upstream.open === 1);
  const begun = performance.now();
  expect((await berth.command("agent", "freeze", id)).exitCode).toBe(2);
  expect((await berth.command("agent", "freeze", id, "--reason", REASON)).stdout).toBe(`Harbour (${id}) is frozen.\n`);
  expectRefusal(await answer, 409, "AGENT_FROZEN");
  await eventually(() => upstream.open === 0);
  expect(performance.now() - begun).toBeLessThan(5_000);

  await berth.kill();
  await berth.restart({ keepPorts: true });
  upstream.script("I am.");
  expectRefusal(await ada.post("/api/agent", { agentId: id, message: "And now?" }), 409, "AGENT_FROZEN");
  expectRefusal(await ada.post(`/api/agents/${id}/start`), 409, "AGENT_FROZEN");
  expect(upstream.chats).toHaveLength(1);
  expect((await berth.command("agent", "unfreeze", id)).stdout).toBe(`Harbour (${id}) is running.\n`);
  await eventually(() => upstream.chats.length === 2);
  expect(upstream.chats[1]?.lastUser).toBe("Are you there?");

  const { email } = ada.account;
  expect((await berth.command("user", "freeze", email, "--reason", REASON)).stdout).toBe(`${email} is frozen.\n`);
  expect((await berth.command("user", "list")).stdout).toMatch(/frozen/);
  expectRefusal(await ada.patch("/api/settings", { name: "Eve" }), 403, "ACCOUNT_FROZEN");
  expect((await ada.get("/api/agents")).status).toBe(200);
  expect((await berth.command("user", "unfreeze", email)).stdout).toBe(`${email} goes on.\n`);
  expect((await ada.patch("/api/settings", { name: "Eve" })).status).toBe(200);
});

/** Both receive lines with the number of the entry, and refuse for a while. */
const RECEIVERS = {
  webhook() {
    const seqs: number[] = [];
    let refusals = 2;
    const server = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      async fetch(request) {
        if (refusals-- > 0) return new Response(null, { status: 503 });
        for (const line of (await request.text()).trim().split("\n")) seqs.push(seqOf(line));
        return new Response(null, { status: 204 });
      },
    });
    return { seqs, address: async () => `http://127.0.0.1:${server.port}/audit`, stop: () => server.stop(true) };
  },
  syslog() {
    const seqs: number[] = [];
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      let text = "";
      socket.on("data", (chunk) => {
        text += chunk.toString();
      });
      socket.on("error", () => undefined);
      // RFC 6587: the length, a space, the message.
      socket.on("end", () => {
        for (let rest = Buffer.from(text); rest.length > 0; ) {
          const space = rest.indexOf(" ");
          const end = space + 1 + Number(rest.subarray(0, space));
          const message = rest.subarray(space + 1, end).toString();
          expect(message).toMatch(/^<109>1 \d{4}-\d\d-\d\dT\S+ \S+ berth \d+ \S+ - \{/);
          seqs.push(seqOf(message.slice(message.indexOf("{"))));
          rest = rest.subarray(end);
        }
        socket.end();
      });
    });
    const listening = new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    async function address() {
      await listening;
      const bound = server.address();
      return `syslog+tcp://127.0.0.1:${typeof bound === "object" ? bound?.port : ""}`;
    }
    return { seqs, address, stop: () => void server.close() };
  },
};

const seqOf = (line: string) => Number((JSON.parse(line) as { seq: number }).seq);

test.each(["webhook", "syslog"] as const)(
  "AUDIT_TO: a %s gets each entry at least once and in order, over kills",
  async (kind) => {
    const receiver = RECEIVERS[kind]();
    await using berth = await startBerth({ env: { AUDIT_TO: await receiver.address(), RATE_LIMITS: "off" } });
    const client = createClient(berth);
    await client.join();
    const makeKeys = async (count: number) => {
      for (let n = 0; n < count; n++) {
        const { body } = await client.post<{ id: string }>("/api/keys", { name: `key ${n}` });
        await client.delete(`/api/keys/${body.id}`);
      }
    };
    for (let kill = 0; kill < 3; kill++) {
      const working = makeKeys(20).catch(() => undefined);
      const before = receiver.seqs.length;
      await eventually(() => receiver.seqs.length > before + 3, { timeoutMs: 15_000 });
      await berth.kill();
      await working;
      await berth.restart({ keepPorts: true });
    }
    await makeKeys(3);
    const { stdout } = await berth.command("audit", "verify");
    const last = Number(/(\d+):[\w-]{43}/.exec(stdout)?.[1]);
    await eventually(() => receiver.seqs.at(-1) === last, { timeoutMs: 15_000 });
    // What a kill repeats begins again where it was; nothing is left out.
    let highest = 0;
    for (const seq of receiver.seqs) {
      expect(seq).toBeLessThanOrEqual(highest + 1);
      highest = Math.max(highest, seq);
    }
    expect(highest).toBe(last);
    await receiver.stop();
  },
);

test("berth backup and restore leave an entry, the restore in what it has put in place", async () => {
  await using berth = await startBerth();
  const file = `${berth.dir}/copy.tar.gz`;
  expect((await berth.command("backup", file)).exitCode).toBe(0);
  const root = await member(berth);
  await berth.command("user", "admin", root.account.email);
  const entries = async () =>
    (
      await root.get<{ entries: { action: string; actor: { kind: string }; target: { name: string } }[] }>(
        "/api/admin/audit",
      )
    ).body.entries;
  expect(await entries()).toContainEqual(
    expect.objectContaining({ action: "backup.create", target: expect.objectContaining({ name: file }) }),
  );
  const withRoot = `${berth.dir}/again.tar.gz`;
  await berth.command("backup", withRoot);
  await berth.stop();
  expect((await berth.command("restore", withRoot)).exitCode).toBe(0);
  await berth.restart({ keepPorts: true });
  await root.signIn();
  expect(await entries()).toContainEqual(
    expect.objectContaining({
      action: "backup.restore",
      actor: expect.objectContaining({ kind: "command" }),
      target: expect.objectContaining({ name: withRoot }),
    }),
  );
});
