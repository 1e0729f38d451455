// Tests the thinking tools on the compiled binary: programs with files, web search, articles and PDF, and sub-tasks.
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { type Berth, startBerth } from "./support/berth.ts";
import type { Client } from "./support/client.ts";
import { pdfOf } from "./support/documents.ts";
import { eventually } from "./support/eventually.ts";
import { member, provision } from "./support/members.ts";
import { type SearchEngines, startSearchEngines } from "./support/search-engines.ts";
import { startUpstream, type Upstream } from "./support/upstream.ts";

let upstream: Upstream;
let engines: SearchEngines;
let site: Bun.Server<undefined>;
let berth: Berth;
let ada: Client;
let agentId: string;

const SENTENCE = "Green tea is made from leaves that were not oxidized, and it keeps its colour.";
const ARTICLE = `<!doctype html><html><head><title>Tea</title></head><body><nav><a href="/menu">Menu</a></nav>
<article><h1>About tea</h1>${`<p>${SENTENCE}</p>`.repeat(8)}</article></body></html>`;

beforeAll(async () => {
  upstream = await startUpstream();
  engines = startSearchEngines();
  site = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    routes: {
      "/tea": () => new Response(ARTICLE, { headers: { "content-type": "text/html" } }),
      "/tea.pdf": () => new Response(pdfOf(["Page of tea."]), { headers: { "content-type": "application/pdf" } }),
    },
  });
  berth = await startBerth({
    env: {
      PROVIDER_3_BASE_URL: upstream.url,
      MODEL_A: "provider_3:fake-small",
      SEARXNG_URL: engines.url,
      OUTBOUND_ALLOW: "127.0.0.1/32",
    },
  });
  ada = await member(berth, "enterprise");
});
beforeEach(async () => {
  upstream.reset();
  agentId = (await provision(ada)).id;
  for (const skillId of ["run-code", "web-search", "delegate"]) {
    await ada.post("/api/agent", { action: "update-skill", agentId, skillId, enabled: true });
  }
});
afterAll(async () => {
  await berth?.[Symbol.asyncDispose]();
  await engines?.[Symbol.asyncDispose]();
  await site?.stop(true);
  await upstream?.stop();
});

/** The model calls this tool, then answers with its result. */
const call = (name: string, input: object) =>
  upstream.script(({ toolResults: [result] }) =>
    result ? `Result: ${result.content}` : { toolCalls: [{ name, arguments: input }] },
  );
const ask = async (message: string) =>
  (await ada.post<{ reply: string }>("/api/agent", { agentId, message })).body.reply;

test("a program reads a file of the message, also one that is too large for the model", async () => {
  const rows = Array.from({ length: 20_000 }, (_, n) => `${n},tea`).join("\n");
  const uploaded = await fetch(`${berth.web}/api/agents/${agentId}/uploads?name=sales.csv`, {
    method: "POST",
    body: rows,
    headers: { "content-type": "text/csv", cookie: ada.cookie },
  });
  const upload = (await uploaded.json()) as { id: string };
  call("run_code", { code: "return files.read('sales.csv').split('\\n').length" });
  const sent = await ada.post<{ conversationId: string }>(`/api/agents/${agentId}/conversations`, {
    message: "How many sales?",
    attachments: [upload.id],
  });
  const path = `/api/agents/${agentId}/conversations/${sent.body.conversationId}/messages`;
  const reply = await eventually(async () => {
    const { body } = await ada.get<{ messages: { role: string; text: string }[] }>(path);
    return body.messages.find(({ role }) => role === "assistant")?.text;
  });
  expect(reply).toContain("Returned: 20000");
  // What comes from a file is marked as untrusted.
  expect(reply).toContain('<untrusted source="run_code">');
});

test("the web is searched with the operator's instance, which may be private", async () => {
  engines.hits.push({ title: "All about tea", url: `${site.url}tea`, text: "Leaves." });
  call("web_search", { query: "tea", count: 2 });
  expect(await ask("Search for tea.")).toContain(`1. All about tea\n${site.url}tea\nLeaves.`);
  const state = await ada.get(`/api/agents/${agentId}/web-search`);
  expect(state.body).toMatchObject({ searchesToday: 1, searchesPerDay: 100 });
});

test("a page is read as its article, and a PDF by page", async () => {
  call("web_fetch", { url: `${site.url}tea` });
  const article = await ask("Read it.");
  expect(article).toContain(SENTENCE);
  expect(article).not.toContain("Menu");
  call("web_fetch", { url: `${site.url}tea.pdf` });
  // An address that the owner names needs no approval, although the article was read before.
  expect(await ask(`Read ${site.url}tea.pdf`)).toContain("[Page 1]\nPage of tea.");
});

test("parts of a task run at once, and compute with programs of their own", async () => {
  upstream.script(({ messages, toolResults: [result], lastUser }) => {
    if (String(messages[0]?.content).includes("one part of a larger task")) {
      if (result) return `It is ${result.content}.`;
      return { toolCalls: [{ name: "run_code", arguments: { code: `return ${lastUser}` } }] };
    }
    return result
      ? `Joined: ${result.content}`
      : { toolCalls: [{ name: "delegate", arguments: { tasks: ["6 * 7", "2 ** 5"] } }] };
  });
  const reply = await ask("Compute both.");
  expect(reply).toMatch(/Part 1 of 2\n- run_code .*\n\d+ tokens\nIt is Returned: 42\./);
  expect(reply).toMatch(/Part 2 of 2\n- run_code .*\n\d+ tokens\nIt is Returned: 32\./);
  expect(berth.output().stderr).not.toContain('"level":"error"');
});
