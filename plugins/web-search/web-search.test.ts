// Tests web search against stand-ins of its providers: whose key is used, what is asked and answered, limits and failures.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { createOutbound } from "../../src/kernel/security/outbound.ts";
import { DAY } from "../../src/kernel/util/time.ts";
import { silent } from "../../tests/support/database.ts";
import { type SearchEngines, searchKeys, startSearchEngines } from "../../tests/support/search-engines.ts";
import { callTool, toolContext } from "../../tests/support/skills.ts";
import type { Agent } from "../agents/index.ts";
import { openRuntimeFixture, type RuntimeFixture } from "../runtime/support.test.ts";
import { skills, TAINT, type Taint } from "../skills/index.ts";
import { prepareTool } from "../skills/prepared-tool.ts";
import { webSearch } from "./index.ts";
import { searchProviders } from "./providers/registry.ts";
import { createSearchService } from "./search-service.ts";
import { createSearchSkill } from "./search-skill.ts";

let engines: SearchEngines;
let fixture: RuntimeFixture;
let agent: Agent;
let now = Date.now();
beforeAll(async () => {
  engines = startSearchEngines();
  fixture = await openRuntimeFixture({ SEARXNG_URL: engines.url });
  fixture.host.use(webSearch);
});
beforeEach(async () => {
  engines.searches.splice(0);
  engines.hits.splice(0, Infinity, {
    title: "Green  tea",
    url: "https://tea.example.com/green",
    text: "80 °C",
    date: "2026-11-01",
  });
  agent = await fixture.agent();
});
afterAll(async () => {
  await fixture?.[Symbol.asyncDispose]();
  await engines?.[Symbol.asyncDispose]();
});

const LOCAL = ["127.0.0.1/32"];
type Operator = Record<string, string | undefined>;

/** The tool, with providers at the stand-in, the operator's keys, and the networks that owners' addresses may lead to. */
function toolWith(operatorAccess: Operator, { searchesPerDay = 100, allow = LOCAL } = {}) {
  const service = createSearchService({
    ...fixture.kernel,
    credentials: fixture.agents.credentials,
    providers: searchProviders.map((one) => (one.address === undefined ? one : { ...one, address: engines.url })),
    operatorAccess,
    outbound: createOutbound({ allow, log: silent }),
    operatorOutbound: createOutbound({ allow: LOCAL, log: silent }),
    searchesPerDay,
    now: () => now,
  });
  const [tool] = createSearchSkill(service).tools(agent.id);
  if (!tool) throw new Error("No tool.");
  const taints: Taint[] = [];
  const context = toolContext(agent.id, { raiseTaint: (taint) => void taints.push(taint) });
  const search = (input: object) => callTool(prepareTool(tool, "web-search", silent), input, context);
  return { search, service, taints };
}
const give = (credential: string, value: string) =>
  fixture.agents.credentials.set({ kind: "agent", id: agent.id }, credential, value);

describe("a search", () => {
  test.each([
    ["brave", { brave: searchKeys.brave }, { count: 3, period: "pw" }],
    ["tavily", { tavily: searchKeys.tavily }, { count: 3, period: "week" }],
    ["searxng", {} as Operator, { period: "month" }],
  ])("asks %s as its API wants it, and lists the results as text from outside", async (engine, access, asked) => {
    const { search, taints } = toolWith(engine === "searxng" ? { searxng: engines.url } : access);
    const { ok, text } = await search({ query: "tea & cups", count: 3, period: "week" });
    expect(engines.searches).toEqual([{ engine, query: "tea & cups", ...asked }]);
    expect(ok).toBe(true);
    expect(text).toContain('<untrusted source="web_search">\n1. Green tea\nhttps://tea.example.com/green\n');
    expect(text).toContain("\n80 °C\n</untrusted>");
    expect(taints).toEqual([TAINT.outside]);
  });

  test("with more words than Brave takes asks with the first ones", async () => {
    const { search } = toolWith({ brave: searchKeys.brave });
    expect((await search({ query: "tea ".repeat(80).trim() })).ok).toBe(true);
    expect(engines.searches[0]?.query).toBe("tea ".repeat(50).trim());
  });

  test("without a result says so", async () => {
    engines.hits.splice(0);
    for (const access of [{ brave: searchKeys.brave }, { tavily: searchKeys.tavily }, { searxng: engines.url }]) {
      expect((await toolWith(access).search({ query: "nothing" })).text).toContain("Nothing was found.");
    }
  });

  test("gives no more results than asked for, however many come", async () => {
    engines.hits.push(
      ...Array.from({ length: 30 }, (_, n) => ({
        title: `${n}`,
        url: "https://x.example.com",
        text: "x".repeat(5_000),
      })),
    );
    const { text } = await toolWith({ searxng: engines.url }).search({ query: "tea", count: 2 });
    expect(text).toContain("2. 0\n");
    expect(text).not.toContain("3. ");
    expect(text.length).toBeLessThan(2_000);
  });
});

describe("whose access is used", () => {
  test("the agent's own comes before the operator's", async () => {
    await give("TAVILY_API_KEY", searchKeys.tavily);
    await toolWith({ brave: searchKeys.brave }).search({ query: "tea" });
    expect(engines.searches.map(({ engine }) => engine)).toEqual(["tavily"]);
  });

  test("an owner's address must be public, an operator's may be private", async () => {
    await give("SEARXNG_URL", engines.url);
    const { ok, text } = await toolWith({}, { allow: [] }).search({ query: "tea" });
    expect(ok).toBe(false);
    expect(text).not.toContain("127.0.0.1");
    expect(engines.searches).toEqual([]);
    await give("SEARXNG_URL", "");
    expect((await toolWith({ searxng: engines.url }, { allow: [] }).search({ query: "tea" })).ok).toBe(true);
  });

  test("nothing set up: the agent is told", async () => {
    expect((await toolWith({}).search({ query: "tea" })).text).toContain("No web search is set up");
  });
});

describe("a failure", () => {
  test.each([
    [401, "refused the key"],
    [429, "no searches left"],
    // Tavily's, for a used-up plan and a used-up limit.
    [432, "no searches left"],
    [433, "no searches left"],
    [500, "status 500"],
  ])("with %d says %s, and never the key", async (status, words) => {
    engines.failWith(status);
    const { ok, text } = await toolWith({ brave: searchKeys.brave }).search({ query: "tea" });
    expect(ok).toBe(false);
    expect(text).toContain(words);
    expect(text + fixture.logged.join()).not.toContain(searchKeys.brave);
  });

  test("of a key or an address that can't be right is found before anything is sent, and not quoted", async () => {
    const key = "a key \u00e4";
    await give("SEARXNG_URL", "no-address");
    for (const access of [{}, { brave: key }]) {
      const { ok, text } = await toolWith(access).search({ query: "tea" });
      expect(ok).toBe(false);
      expect(text).toContain("can't be right");
      expect(text + fixture.logged.join()).not.toMatch(/no-address|a key/);
      await give("SEARXNG_URL", "");
    }
    expect(engines.searches).toEqual([]);
  });

  test("of a SearXNG whose format json is off says what to do", async () => {
    engines.failWith(403);
    expect((await toolWith({ searxng: engines.url }).search({ query: "tea" })).text).toContain("format json");
  });
});

test("an agent searches up to its limit of the day, and again on the next one", async () => {
  const { search, service } = toolWith({ searxng: engines.url }, { searchesPerDay: 2 });
  const tried = await Promise.all([1, 2, 3].map(() => search({ query: "tea" })));
  expect(tried.filter(({ ok }) => ok)).toHaveLength(2);
  expect(tried.find(({ ok }) => !ok)?.text).toContain("its 2 web searches of today");
  expect(await service.stateOf(agent.id)).toMatchObject({ searchesToday: 2, searchesPerDay: 2 });
  now += DAY;
  expect((await search({ query: "tea" })).ok).toBe(true);
  expect(await service.stateOf(agent.id)).toMatchObject({ searchesToday: 1 });
});

describe("the tool is offered", () => {
  const offered = () => fixture.upstream.chats.at(-1)?.body.tools?.map((tool) => tool.function.name) ?? [];

  test("to agents with the skill switched on, where something is set up", async () => {
    await fixture.chat(agent, "Search.");
    expect(offered()).not.toContain("web_search");
    await fixture.host.use(skills).setEnabled(agent.id, "web-search", true);
    await fixture.chat(agent, "Search.");
    expect(offered()).toContain("web_search");
  });

  test("after a key was added, and not without one", async () => {
    await using bare = await openRuntimeFixture();
    bare.host.use(webSearch);
    const one = await bare.agent({ skills: { "web-search": true } });
    const tools = async () => (await bare.host.use(skills).toolsFor(one.id, true)).map(({ name }) => name);
    const isReady = async () =>
      (await bare.host.use(skills).describe(one.id)).find(({ id }) => id === "web-search")?.isReady;
    expect(await tools()).not.toContain("web_search");
    expect(await isReady()).toBe(false);
    await bare.agents.credentials.set({ kind: "user", id: one.userId }, "BRAVE_API_KEY", "BSA-key");
    expect(await tools()).toContain("web_search");
    expect(await isReady()).toBe(true);
  });
});
