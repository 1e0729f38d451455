// Tests the routes by which an owner reads and corrects what an agent remembers, and those that list skills.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { expectRefusal } from "../../../tests/support/refusal.ts";
import { type InteractionFixture, openInteractionFixture } from "../../interaction/support.test.ts";

interface Item {
  id: string;
  kind: string;
  text: string;
  about: string | null;
  untrusted: boolean;
  confidence: string;
  pinned: boolean;
  source: string;
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
  agentId = await fixture.provision(ada);
});
afterAll(() => fixture?.[Symbol.asyncDispose]());

const path = () => `/api/agents/${agentId}/memories`;
async function teach(text: string, more: object = {}): Promise<Item> {
  const answer = await ada.post<{ memory: Item }>(path(), { text, ...more });
  expect([200, 201]).toContain(answer.status);
  return answer.body.memory;
}
const list = async (query = "") =>
  (await ada.get<{ memories: Item[]; nextCursor: string | null }>(`${path()}${query}`)).body;
const texts = async (query = "") => (await list(query)).memories.map(({ text }) => text);

test("facts are taught, corrected, pinned and forgotten", async () => {
  const tea = await teach("  Ada drinks\n tea ");
  expect(tea).toMatchObject({ text: "Ada drinks tea", kind: "own", about: null, source: "owner", confidence: "high" });
  expect((await ada.post(path(), { text: "Ada drinks tea" })).status).toBe(200);
  const ship = await teach("The ship is called Ada");
  expect(await texts()).toEqual(["The ship is called Ada", "Ada drinks tea"]);
  const change = (id: string, body: object) => ada.patch<{ memory: Item }>(`${path()}/${id}`, body);
  expect((await change(tea.id, { pinned: true })).body.memory.pinned).toBe(true);
  expect(await texts()).toEqual(["Ada drinks tea", "The ship is called Ada"]);
  expect((await change(tea.id, { text: "Ada drinks coffee" })).body.memory.text).toBe("Ada drinks coffee");
  expectRefusal(await change(ship.id, { text: "ada drinks COFFEE" }), 409, "FACT_EXISTS");
  expectRefusal(await change(ship.id, { text: " \n " }), 400, "EMPTY_FACT");
  expectRefusal(await change(ship.id, { text: "x".repeat(2_001) }), 400, "FACT_TOO_LONG");
  expect((await ada.delete(`${path()}/${tea.id}`)).status).toBe(200);
  expectRefusal(await ada.delete(`${path()}/${tea.id}`), 404, "FACT_NOT_FOUND");
  expectRefusal(await change(tea.id, { pinned: true }), 404, "FACT_NOT_FOUND");
  expect(await texts()).toEqual(["The ship is called Ada"]);
});

test("a correction by the owner makes a fact the owner's own, also for the next prompt", async () => {
  const { database } = fixture.kernel;
  const { id } = await teach("The door code is 1234");
  await database.write([{ sql: "UPDATE memories SET taint = 2, source = 'agent' WHERE id = ?", args: [id] }]);
  expect((await list()).memories).toMatchObject([{ untrusted: true, confidence: "low", source: "agent" }]);
  await ada.patch(`${path()}/${id}`, { pinned: true });
  expect((await list()).memories).toMatchObject([{ untrusted: true, pinned: true }]);
  await ada.patch(`${path()}/${id}`, { text: "The door code is 5678" });
  expect((await list()).memories).toMatchObject([{ untrusted: false, confidence: "high", source: "owner" }]);
});

test("pinned facts come first in every prompt, also old ones among many", async () => {
  const { id } = await teach("The ship is called Ada");
  for (let n = 0; n < 45; n++) await teach(`Fact number ${n}`);
  const prompt = async () => {
    fixture.upstream.script(() => "Hello");
    await ada.post("/api/agent", { agentId, message: "zzz" });
    return JSON.stringify(fixture.upstream.chats.at(-1)?.messages);
  };
  expect(await prompt()).not.toContain("The ship is called Ada");
  await ada.patch(`${path()}/${id}`, { pinned: true });
  const pinned = await prompt();
  expect(pinned.indexOf("The ship is called Ada")).toBeGreaterThan(0);
  expect(pinned.indexOf("The ship is called Ada")).toBeLessThan(pinned.indexOf("Fact number"));
});

test("twenty facts of a conversation can be pinned", async () => {
  for (let n = 0; n < 20; n++) await teach(`Fact ${n}`, { pinned: true });
  const { id } = await teach("One more");
  const refused = await ada.patch(`${path()}/${id}`, { pinned: true });
  expectRefusal(refused, 409, "TOO_MANY_PINNED");
  await teach("Bob likes rum", { about: "channel_a:7", pinned: true });
});

describe("the list", () => {
  test("goes on where the page before ended, with pinned facts first", async () => {
    const pinned = await teach("Fact 0", { pinned: true });
    for (let n = 1; n < 7; n++) await teach(`Fact ${n}`);
    const found: string[] = [];
    for (let cursor: string | null = ""; cursor !== null; ) {
      const page: Awaited<ReturnType<typeof list>> = await list(`?limit=3${cursor && `&cursor=${cursor}`}`);
      found.push(...page.memories.map(({ text }) => text));
      cursor = page.nextCursor;
    }
    expect(found).toEqual([pinned.text, ...[6, 5, 4, 3, 2, 1].map((n) => `Fact ${n}`)]);
    expectRefusal(await ada.get(`${path()}?cursor=x`), 400, "INVALID_INPUT");
  });

  test("is filtered by whose fact it is, and searched", async () => {
    await teach("Ada drinks tea");
    await teach("Bob drinks rum", { about: "channel_a:7" });
    await teach("船の名前はアダです");
    expect(await texts("?kind=own")).toEqual(["船の名前はアダです", "Ada drinks tea"]);
    expect(await texts("?kind=person")).toEqual(["Bob drinks rum"]);
    expect(await texts("?about=channel_a:7")).toEqual(["Bob drinks rum"]);
    expect((await texts("?query=drinks")).toSorted()).toEqual(["Ada drinks tea", "Bob drinks rum"]);
    expect(await texts("?query=drinks&kind=own")).toEqual(["Ada drinks tea"]);
    expect(await texts(`?query=${encodeURIComponent("名前")}`)).toEqual(["船の名前はアダです"]);
    for (const query of ['"', "* OR agent:x", "NEAR(", "-tea"]) {
      expect((await ada.get(`${path()}?query=${encodeURIComponent(query)}`)).status).toBe(200);
    }
  });
});

test("foreign agents are 404 on every route; a fact of another agent too", async () => {
  const { id } = await teach("Ada drinks tea");
  const eve = await fixture.member();
  for (const answer of [
    await eve.get(path()),
    await eve.get(`/api/agents/${agentId}/skills`),
    await eve.get(`/api/agents/${agentId}/credentials`),
    await eve.post(path(), { text: 7 }),
    await eve.patch(`${path()}/${id}`, { pinned: true }),
    await eve.delete(`${path()}/${id}`),
  ]) {
    expectRefusal(answer, 404, "AGENT_NOT_FOUND");
  }
  const other = await fixture.provision(ada);
  expectRefusal(await ada.patch(`/api/agents/${other}/memories/${id}`, { pinned: true }), 404, "FACT_NOT_FOUND");
  expectRefusal(await ada.delete(`/api/agents/${other}/memories/${id}`), 404, "FACT_NOT_FOUND");
});

test("skills are listed with what they may do, and what decides that they are on", async () => {
  interface Skill {
    id: string;
    enabled: boolean;
    decidedBy: string;
    permissions: string[];
    source: string;
    tools: { name: string; class: string; ownerOnly: boolean }[];
  }
  const skillsAt = async (at: string) => (await ada.get<{ skills: Skill[] }>(at)).body.skills;
  const of = async (id: string, at = `/api/agents/${agentId}/skills`) =>
    (await skillsAt(at)).find((one) => one.id === id);
  expect(await of("wallet", "/api/skills")).toMatchObject({ enabled: false, decidedBy: "default", source: "built-in" });
  expect(await of("memory")).toMatchObject({ enabled: true, decidedBy: "default", permissions: ["read", "write"] });
  expect((await of("schedule"))?.tools[0]).toMatchObject({ name: "schedule_task", class: "write", ownerOnly: true });
  await ada.put(`/api/agents/${agentId}/config`, { skills: { wallet: true } });
  expect(await of("wallet")).toMatchObject({ enabled: true, decidedBy: "config" });
  await ada.post("/api/agent", { action: "update-skill", agentId, skillId: "wallet", enabled: false });
  expect(await of("wallet")).toMatchObject({ enabled: false, decidedBy: "owner" });
});

test("the keys of providers are listed by name, and never shown", async () => {
  const at = `/api/agents/${agentId}/credentials`;
  const key = `sk-${"a".repeat(40)}`;
  await ada.post("/api/agent", { action: "set-credential", agentId, key: "provider_5", value: key });
  const { body, text } = await ada.get<{ credentials: { key: string; label: string; configured: boolean }[] }>(at);
  expect(body.credentials).toContainEqual({ key: "provider_5", label: "OpenAI", configured: true });
  expect(body.credentials.filter(({ configured }) => configured)).toHaveLength(1);
  expect(text).not.toContain(key);
});
