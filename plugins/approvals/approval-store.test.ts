// Tests approvals: each is for one call, decided by the owner once, and said again to each later try of the turn.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { deleteInBatches } from "../../src/kernel/retention/deletion.ts";
import { insertAgent, insertUser } from "../../tests/support/records.ts";
import { rejectionOf } from "../../tests/support/rejection.ts";
import { openServer, type TestServer } from "../../tests/support/server.ts";
import { type PreparedTool, TAINT, type ToolClass, toolDeclined } from "../skills/index.ts";
import { type ApprovalStore, type CallOrigin, createApprovalStore } from "./approval-store.ts";
import { approvalsKind } from "./approvals-retention.ts";
import { createDecisions, type Decision, type Decisions } from "./decisions.ts";

let server: TestServer;
let store: ApprovalStore;
let decisions: Decisions;
let agent: { id: string; userId: string };
let origin: CallOrigin;
/** Turns that went on. */
const resumed: string[] = [];
/** What is written into the agent's log. */
const lines: string[] = [];
/** What the agent can call. */
let tools: PreparedTool[] = [];
/** The configuration of the agent. */
let configured = "{}";
beforeAll(async () => {
  server = await openServer();
});
afterAll(() => server?.[Symbol.asyncDispose]());
beforeEach(async () => {
  const { kernel } = server;
  resumed.length = 0;
  lines.length = 0;
  tools = [];
  configured = '{"approvals":["other"]}';
  store = createApprovalStore({ ...kernel, agents: { log: (_, __, line) => void lines.push(line) } });
  decisions = createDecisions({
    ...kernel,
    agents: {
      async editConfig(_, change, { statements = [] } = {}) {
        await kernel.database.write([...statements]);
        configured = change(configured);
      },
      find: async () => undefined,
      log: (_, __, line) => void lines.push(line),
    },
    users: { byId: async () => undefined },
    skills: { toolsFor: async () => tools },
    store,
  });
  decisions.onTurnDecided((_, turnId) => ({ sql: "SELECT 1", args: [], after: () => void resumed.push(turnId) }));
  const id = await insertAgent(kernel.database);
  agent = { id, userId: "ada" };
  const turnId = Bun.randomUUIDv7();
  origin = { agentId: id, userId: "ada", sessionId: "s1", turnId, step: 2, platform: "web", byOwner: true };
});

const call = (more: object = {}, toolClass: ToolClass = "spend") => ({
  tool: "wallet_send",
  class: toolClass,
  taint: TAINT.outside,
  inWords: async () => "Send 5 USD to 0x1",
  input: { to: "0x1", amount: "5", ...more },
});
const pending = () => store.list(agent.id, { limit: 100, offset: 0, status: "pending" });
const scopesOfPending = async () => Promise.all((await pending()).map(decisions.scopesOf));
const DAY = 24 * 3600 * 1000;
const later = (ms: number) =>
  server.kernel.database.write([
    { sql: "UPDATE approvals SET requested_at = requested_at - ?1, expires_at = expires_at - ?1", args: [ms] },
  ]);
const eventsOf = async (type: string) =>
  (await server.kernel.events.since(0, { agentId: agent.id, types: [type] })).map(({ data }) => data);
const reasonOf = async (of = origin, given = call()) => {
  const result = await store.authorize(of, given);
  return result.kind === "refused" ? result.text : result.kind;
};
/** The only request, decided in the console. */
async function decide(decision: Decision = { decision: "approve" }) {
  const [first, ...more] = await pending();
  if (!first || more.length > 0) throw new Error(`${more.length} requests are pending.`);
  return decisions.decide(agent, first.id, decision, "web");
}

test.each([0, 600])("an account's undecided requests are counted by agent, beside %d of others", async (others) => {
  const { database } = server.kernel;
  const owner = await insertUser(database);
  const [mine, other] = [await insertAgent(database, { userId: owner }), await insertAgent(database)];
  const request = (n: number, agentId: string, expiresAt: number) => ({
    sql: `INSERT INTO approvals (id, agent_id, session_id, turn_id, step, code, platform, by_owner, tool, class, summary, input,
      status, requested_at, expires_at) VALUES (?1, ?2, 's', ?1, ?3, ?1, 'web', 1, 'send', 'outside', 'x', '{}', 'pending', 0, ?4)`,
    args: [crypto.randomUUID(), agentId, n, expiresAt],
  });
  const soon = Date.now() + DAY;
  await database.write([
    ...Array.from({ length: others }, (_, n) => request(n, other, soon)),
    ...[1, 2].map((n) => request(n, mine, soon)),
    ...Array.from({ length: others }, (_, n) => request(3 + n, mine, 1)),
  ]);
  expect(await store.countPending(owner)).toEqual(new Map([[mine, 2]]));
  await database.write([{ sql: "DELETE FROM approvals WHERE agent_id IN (?, ?)", args: [mine, other] }]);
});

describe("a call", () => {
  test("waits with one request, however often its turn is tried", async () => {
    const tries = await Promise.all([store.authorize(origin, call()), store.authorize(origin, call())]);
    const [request, ...more] = await pending();
    expect(more).toEqual([]);
    expect(tries).toMatchObject([{ kind: "waiting", approval: { id: request?.id } }, { kind: "waiting" }]);
    expect((request?.expiresAt ?? 0) - (request?.requestedAt ?? 0)).toBe(24 * 3600 * 1000);
    expect(await eventsOf("approval.requested")).toMatchObject([{ id: request?.id, tool: "wallet_send" }]);
    expect(await store.findByCode(agent.id, request?.code.toLowerCase() ?? "")).toEqual(request);
  });

  test("is shown to its owner as a whole until it is decided, and on disk with its secrets blacked out", async () => {
    const secret = `0x${"ab".repeat(32)}`;
    await store.authorize(origin, {
      ...call({ apiKey: "hunter2", note: `key ${secret}` }),
      inWords: async () => `Use ${secret}`,
    });
    const [request] = await pending();
    expect(JSON.parse(request?.input ?? "")).toMatchObject({ to: "0x1", apiKey: "[redacted]" });
    const rows = await server.kernel.database.read("SELECT * FROM approvals WHERE agent_id = ?", [agent.id]);
    expect(JSON.stringify(rows.rows)).not.toMatch(/hunter2|abababab/);
    if (!request) throw new Error("No request was stored.");
    expect(store.unredacted(request).summary).toBe(`Use ${secret}`);
    expect(JSON.parse(store.unredacted(request).input)).toMatchObject({ apiKey: "hunter2", note: `key ${secret}` });
    const decided = await decide();
    expect(store.unredacted(decided)).toEqual({ summary: "Use 0x[redacted]", input: decided.input });
  });

  test("hides nothing behind a name in the owner's chat, but what has the form of a secret", async () => {
    const address = "https://example.com/?token=everything-he-said&to=Bearer%20x";
    await store.authorize(origin, { ...call(), inWords: async () => `Open ${address} with Bearer abcdefghijkl` });
    const [request] = await pending();
    if (!request) throw new Error("No request was stored.");
    expect(request.summary).toContain("token=[redacted]");
    expect(store.chatSummary(request)).toBe(`Open ${address} with Bearer [redacted]`);
  });

  test("that could only fail is refused with the reason, and nobody is asked", async () => {
    const declined = { ...call(), inWords: () => Promise.reject(toolDeclined("There is no such fact.")) };
    expect(await reasonOf(origin, declined)).toBe("There is no such fact.");
    expect(await pending()).toEqual([]);
    expect(lines).toEqual([]);
  });

  test("is refused if its input is too large to be shown", async () => {
    expect(await reasonOf(origin, call({ text: "x".repeat(70_000) }))).toContain("too large");
    expect(await pending()).toEqual([]);
  });

  test("is refused beyond a bound, which other people's calls can't use up for the owner", async () => {
    const guest = { ...origin, byOwner: false };
    for (let step = 10; step < 110; step++) await store.authorize({ ...guest, step }, call());
    expect(await reasonOf({ ...guest, step: 110 })).toContain("too many calls");
    expect(await reasonOf()).toBe("waiting");
  });
});

describe("an approval", () => {
  test("admits its call with its input, and no other call", async () => {
    await store.authorize(origin, call());
    expect(await decide()).toMatchObject({ status: "approved", scope: "once", decidedBy: "ada", decidedOn: "web" });
    expect(resumed).toEqual([origin.turnId]);
    expect(await store.authorize(origin, call())).toEqual({
      kind: "admitted",
      input: { to: "0x1", amount: "5" },
      isEdited: false,
      approvalId: expect.any(String),
    });
    expect(await store.list(agent.id, { limit: 9, offset: 0 })).toMatchObject([{ usedAt: expect.any(Number) }]);
    expect(await reasonOf({ ...origin, step: 3 })).toBe("waiting");
    expect(await reasonOf({ ...origin, turnId: Bun.randomUUIDv7() })).toBe("waiting");
    expect(await eventsOf("approval.decided")).toMatchObject([{ tool: "wallet_send", decision: "approve" }]);
  });

  test("with the scope `conversation` admits the tool there for 24 hours, and only if it writes", async () => {
    await store.authorize(origin, call({}, "write"));
    await decide({ decision: "approve", scope: "conversation" });
    const next = { ...origin, turnId: Bun.randomUUIDv7() };
    expect(await reasonOf(next, call({ amount: "50" }, "write"))).toBe("admitted");
    expect(await reasonOf({ ...next, sessionId: "s2" })).toBe("waiting");
    const refused = decide({ decision: "approve", scope: "conversation" });
    expect(await rejectionOf(refused)).toMatchObject({ status: 400, code: "SCOPE_NOT_ALLOWED" });
    await later(24 * 3600 * 1000);
    expect(await reasonOf({ ...next, step: 9 }, call({}, "write"))).toBe("waiting");
  });

  test("with the scope `always` is refused where the rule would have no effect: for a tool that nobody trusts", async () => {
    tools = [{ name: "wallet_send", hasForeignDescription: true } as PreparedTool];
    await store.authorize(origin, call({}, "outside"));
    expect(await scopesOfPending()).toEqual([["once"]]);
    expect(await rejectionOf(decide({ decision: "approve", scope: "always" }))).toMatchObject({
      code: "SCOPE_NOT_ALLOWED",
      message: expect.stringContaining("say first that you trust the server"),
    });
    expect(configured).toBe('{"approvals":["other"]}');
    expect(await decide({ decision: "deny", scope: "always" })).toMatchObject({ status: "denied", scope: "always" });
    await store.authorize({ ...origin, step: 3 }, call({}, "read"));
    expect(await decide({ decision: "approve", scope: "always" })).toMatchObject({ status: "approved" });
  });

  test("with the scope `always` is a rule of the configuration; money is never approved like that", async () => {
    await store.authorize(origin, call({}, "outside"));
    expect(await scopesOfPending()).toEqual([["once", "always"]]);
    await decide({ decision: "approve", scope: "always" });
    expect(JSON.parse(configured)).toEqual({ approvals: { other: "ask", wallet_send: "allow" } });
    await store.authorize({ ...origin, step: 3 }, call());
    expect(await rejectionOf(decide({ decision: "approve", scope: "always" }))).toMatchObject({
      code: "SCOPE_NOT_ALLOWED",
    });
    await decide({ decision: "deny", scope: "always" });
    expect(JSON.parse(configured)).toEqual({ approvals: { other: "ask", wallet_send: "deny" } });
  });

  test("is forgotten when the agent gets another owner", async () => {
    await store.authorize(origin, call());
    await decide();
    await server.kernel.database.write([store.forgetStatement(agent.id)]);
    expect(await reasonOf()).toBe("waiting");
  });
});

describe("a decision", () => {
  test("is final: of two, one counts, and the other learns where", async () => {
    await store.authorize(origin, call());
    const [request] = await pending();
    const [one, other] = await Promise.allSettled([
      decisions.decide(agent, request?.id ?? "", { decision: "deny" }, "channel_a"),
      decisions.decide(agent, request?.id ?? "", { decision: "approve" }, "web"),
    ]);
    expect(one).toMatchObject({ status: "fulfilled", value: { status: "denied", scope: null } });
    expect(other).toMatchObject({ status: "rejected", reason: { status: 409, code: "ALREADY_DECIDED" } });
    expect(String((other as PromiseRejectedResult).reason)).toContain("denied already (on Telegram)");
    expect(await eventsOf("approval.decided")).toHaveLength(1);
    expect(resumed).toEqual([origin.turnId]);
    expect(lines.slice(1)).toEqual(["A call of wallet_send was denied."]);
    expect(await reasonOf()).toContain("the owner has denied this call");
  });

  test("is not possible after 24 hours; the turn goes on without the call", async () => {
    await store.authorize(origin, call());
    const [request] = await pending();
    await later(24 * 3600 * 1000);
    expect(await store.list(agent.id, { limit: 9, offset: 0, status: "expired" })).toHaveLength(1);
    const tooLate = decisions.decide(agent, request?.id ?? "", { decision: "approve" }, "web");
    expect(await rejectionOf(tooLate)).toMatchObject({ status: 410, code: "EXPIRED" });
    await decisions.expire();
    expect(resumed).toContain(origin.turnId);
    expect(await eventsOf("approval.decided")).toMatchObject([{ decision: "expired" }]);
    expect(lines.at(-1)).toContain("Nobody has decided about a call of wallet_send");
    expect(await reasonOf()).toContain("has expired");
  });

  test("on a request of another agent is 404", async () => {
    await store.authorize(origin, call());
    const [request] = await pending();
    const other = { id: await insertAgent(server.kernel.database), userId: "ada" };
    const decided = decisions.decide(other, request?.id ?? "", { decision: "approve" }, "web");
    expect(await rejectionOf(decided)).toMatchObject({ status: 404, code: "APPROVAL_NOT_FOUND" });
    expect(await pending()).toHaveLength(1);
  });
});

test("requests are deleted after 30 days", async () => {
  await store.authorize(origin, call());
  const { steps } = approvalsKind(server.kernel.database, 30 * DAY);
  await deleteInBatches(steps, Date.now() - 30 * DAY);
  expect(await pending()).toHaveLength(1);
  await later(31 * 24 * 3600 * 1000);
  await deleteInBatches(steps, Date.now() - 30 * DAY);
  expect(await store.list(agent.id, { limit: 9, offset: 0 })).toEqual([]);
});
