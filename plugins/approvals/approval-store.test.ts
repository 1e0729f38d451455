// Tests approvals: each is for one call in one conversation, decided by the owner once, and used once.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { insertAgent } from "../../tests/support/records.ts";
import { rejectionOf } from "../../tests/support/rejection.ts";
import { openServer, type TestServer } from "../../tests/support/server.ts";
import { type ApprovalStore, createApprovalStore, type TurnOrigin } from "./approval-store.ts";

let server: TestServer;
let store: ApprovalStore;
let agent: { id: string; userId: string };
let origin: TurnOrigin;
beforeAll(async () => {
  server = await openServer();
});
afterAll(() => server?.[Symbol.asyncDispose]());
beforeEach(async () => {
  const { kernel } = server;
  store = createApprovalStore({ ...kernel, agents: { log: () => undefined } });
  const id = await insertAgent(kernel.database);
  agent = { id, userId: "ada" };
  origin = { agentId: id, userId: "ada", sessionId: "s1", turnId: "t1", attempt: 1, platform: "web", byOwner: true };
});

const call = (more: object = {}, toolClass: "write" | "spend" = "spend") => ({
  tool: "wallet_send",
  class: toolClass,
  summary: "Send 5 USD to 0x1",
  input: { to: "0x1", amount: "5", ...more },
});
const pending = () => store.list(agent.id, { limit: 100, offset: 0, status: "pending" });
const onlyPending = async () => {
  const [first, ...more] = await pending();
  if (!first || more.length > 0) throw new Error(`${more.length + 1} requests are pending.`);
  return first;
};
const later = (ms: number) =>
  server.kernel.database.write([
    { sql: "UPDATE approvals SET requested_at = requested_at - ?1, expires_at = expires_at - ?1", args: [ms] },
  ]);
const eventsOf = async (type: string) =>
  (await server.kernel.events.since(0, { agentId: agent.id, types: [type] })).map(({ data }) => data);

describe("a call that is not approved", () => {
  test("is requested once, however often the model repeats it, and the model is told how the owner approves it", async () => {
    const [first, again] = await Promise.all([store.authorize(origin, call()), store.authorize(origin, call())]);
    const { id, status, expiresAt, requestedAt } = await onlyPending();
    expect(status).toBe("pending");
    expect(expiresAt - requestedAt).toBe(24 * 3600 * 1000);
    for (const refusal of [first, again, await store.authorize(origin, call())]) {
      expect(refusal).toContain(`POST /api/agents/${agent.id}/approvals/${id} {"decision":"approve"}`);
      expect(refusal).toContain("Send 5 USD to 0x1");
    }
    expect(await eventsOf("approval.requested")).toEqual([
      {
        id,
        agentId: agent.id,
        tool: "wallet_send",
        class: "spend",
        expiresAt: new Date(expiresAt).toISOString(),
      },
    ]);
  });

  test("of somebody else's turn tells neither the id nor the address of the request", async () => {
    const refusal = await store.authorize({ ...origin, byOwner: false }, call());
    expect(refusal).toContain("owner of this agent has to approve");
    expect(refusal).not.toMatch(/api|0x1/);
  });

  test("has its secrets blacked out, in the list and on disk", async () => {
    const secret = `0x${"ab".repeat(32)}`;
    await store.authorize(origin, { ...call({ apiKey: "hunter2", note: `key ${secret}` }), summary: `Use ${secret}` });
    const rows = await server.kernel.database.read("SELECT * FROM approvals WHERE agent_id = ?", [agent.id]);
    expect(JSON.stringify(rows.rows)).not.toMatch(/hunter2|abababab/);
    expect(JSON.parse((await onlyPending()).input)).toMatchObject({ to: "0x1", apiKey: "[redacted]" });
    // Another secret is another call.
    await store.authorize(origin, call({ apiKey: "hunter3", note: `key ${secret}` }));
    expect(await pending()).toHaveLength(2);
  });

  test("is not requested if its input is too large to be shown", async () => {
    expect(await store.authorize(origin, call({ text: "x".repeat(70_000) }))).toContain("too large");
    expect(await pending()).toEqual([]);
  });

  test("is not requested beyond a bound, which other people's calls can't use up for the owner", async () => {
    const guest = { ...origin, byOwner: false };
    for (let n = 0; n < 100; n++) await store.authorize(guest, call({ n }));
    expect(await store.authorize(guest, call({ n: 100 }))).toContain("too many calls");
    expect(await store.authorize(origin, call({ n: 100 }))).toContain("approvals/");
    expect(await store.list(agent.id, { limit: 200, offset: 0 })).toHaveLength(101);
  });
});

describe("an approved call", () => {
  async function approved(
    more: Parameters<ApprovalStore["decide"]>[2] = { decision: "approve" },
    toolClass: "write" | "spend" = "spend",
  ) {
    await store.authorize(origin, call({}, toolClass));
    return store.decide(agent, (await onlyPending()).id, more);
  }

  test("runs once, whatever the order of its input's members", async () => {
    expect(await approved()).toMatchObject({ status: "approved", scope: "once", decidedBy: "ada", usedAt: null });
    expect(await eventsOf("approval.decided")).toMatchObject([{ tool: "wallet_send", decision: "approve" }]);
    expect(await store.authorize(origin, { ...call(), input: { amount: "5", to: "0x1" } })).toBeUndefined();
    expect((await store.list(agent.id, { limit: 1, offset: 0 }))[0]?.usedAt).toBeNumber();
    expect(await store.authorize(origin, call())).toContain("approvals/");
  });

  test("runs once when many turns race for it", async () => {
    await approved();
    const answers = await Promise.all(Array.from({ length: 20 }, () => store.authorize(origin, call())));
    expect(answers.filter((refusal) => refusal === undefined)).toHaveLength(1);
  });

  test("is found by a later try of the turn that used it, not by the same try and not by another turn", async () => {
    await approved();
    expect(await store.authorize(origin, call())).toBeUndefined();
    expect(await store.authorize(origin, call())).toBeString();
    expect(await store.authorize({ ...origin, turnId: "t2", attempt: 5 }, call())).toBeString();
    expect(await store.authorize({ ...origin, attempt: 2 }, call())).toBeUndefined();
    expect(await store.authorize({ ...origin, attempt: 2 }, call())).toBeString();
  });

  test("is no other call: not another input, tool, conversation or agent", async () => {
    await approved();
    expect(await store.authorize(origin, call({ amount: "50" }))).toBeString();
    expect(await store.authorize(origin, { ...call(), tool: "wallet_pay" })).toBeString();
    expect(await store.authorize({ ...origin, sessionId: "s2" }, call())).toBeString();
    const other = await insertAgent(server.kernel.database);
    expect(await store.authorize({ ...origin, agentId: other }, call())).toBeString();
    expect(await store.authorize(origin, call())).toBeUndefined();
  });

  test("expires 24 hours after the decision", async () => {
    await approved();
    await later(24 * 3600 * 1000);
    expect(await store.authorize(origin, call())).toContain("approvals/");
  });

  test("with the scope `conversation` admits the tool there, and only for tools that write", async () => {
    await approved({ decision: "approve", scope: "conversation" }, "write");
    for (const more of [{}, { amount: "50" }, {}]) {
      expect(await store.authorize(origin, call(more, "write"))).toBeUndefined();
    }
    expect(await store.authorize({ ...origin, sessionId: "s2" }, call({}, "write"))).toBeString();
    await store.authorize({ ...origin, sessionId: "s3" }, call());
    const [spend] = await pending();
    const refused = store.decide(agent, spend?.id ?? "", { decision: "approve", scope: "conversation" });
    expect(await rejectionOf(refused)).toMatchObject({ status: 400, code: "SCOPE_NOT_ALLOWED" });
  });

  test("is forgotten with its agent's data, and when the agent gets another owner", async () => {
    await approved();
    await server.kernel.database.write([store.forgetStatement(agent.id)]);
    expect(await store.authorize(origin, call())).toBeString();
  });
});

describe("a decision", () => {
  test("is final: of two, one counts", async () => {
    await store.authorize(origin, call());
    const { id } = await onlyPending();
    const [one, other] = await Promise.allSettled([
      store.decide(agent, id, { decision: "deny" }),
      store.decide(agent, id, { decision: "approve" }),
    ]);
    expect(one).toMatchObject({ status: "fulfilled", value: { status: "denied", scope: null } });
    expect(other).toMatchObject({ status: "rejected", reason: { status: 409, code: "ALREADY_DECIDED" } });
    expect(await eventsOf("approval.decided")).toHaveLength(1);
  });

  test("against a call is told to the model, and makes no new request", async () => {
    await store.authorize(origin, call());
    await store.decide(agent, (await onlyPending()).id, { decision: "deny" });
    expect(await store.authorize(origin, call())).toContain("the owner has denied this call");
    expect(await pending()).toEqual([]);
  });

  test("is not possible after 24 hours; then the call can be requested anew", async () => {
    await store.authorize(origin, call());
    const { id } = await onlyPending();
    await later(24 * 3600 * 1000);
    expect(await pending()).toEqual([]);
    expect(await store.list(agent.id, { limit: 9, offset: 0, status: "expired" })).toHaveLength(1);
    expect(await rejectionOf(store.decide(agent, id, { decision: "approve" }))).toMatchObject({
      status: 410,
      code: "EXPIRED",
    });
    expect(await store.authorize(origin, call())).toContain("approvals/");
    expect((await onlyPending()).id).not.toBe(id);
  });

  test("on a request of another agent is 404", async () => {
    await store.authorize(origin, call());
    const { id } = await onlyPending();
    const other = { id: await insertAgent(server.kernel.database), userId: "ada" };
    expect(await rejectionOf(store.decide(other, id, { decision: "approve" }))).toMatchObject({
      status: 404,
      code: "APPROVAL_NOT_FOUND",
    });
    expect(await pending()).toHaveLength(1);
  });
});

test("requests are deleted after 30 days", async () => {
  await store.authorize(origin, call());
  await store.deleteOld();
  expect(await pending()).toHaveLength(1);
  await later(31 * 24 * 3600 * 1000);
  await store.deleteOld();
  expect(await store.list(agent.id, { limit: 9, offset: 0 })).toEqual([]);
});
