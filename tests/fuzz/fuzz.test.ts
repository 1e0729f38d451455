// Tests the fuzz itself: requests follow from the seed, and what is wrong with an answer is found.

import { expect, test } from "bun:test";
import { createFindings } from "./findings.ts";
import type { Operation } from "./operations.ts";
import { makeRequest } from "./requests.ts";
import type { SentRequest } from "./send.ts";
import { CANARIES } from "./world.ts";

const operation: Operation = {
  surface: "web",
  method: "PATCH",
  path: "/api/agents/{id}",
  parameters: [{ name: "id", in: "path", schema: { type: "string" } }],
  body: { type: "object", properties: { name: { type: "string" }, count: { type: "integer" } }, required: ["name"] },
  statuses: new Set([200, 502]),
};
const sent: SentRequest = { method: "PATCH", url: "http://127.0.0.1:1/api/agents/x", headers: {}, body: "{'a'}" };

/** The titles of what is found in an answer. */
function titlesFor(status: number, text: string, type = "application/json", path = operation.path): string[] {
  const findings = createFindings();
  findings.judge(1, { ...operation, path }, sent, { kind: "answer", status, text, type, ms: 1 });
  return findings.list().map(({ title }) => title.split(":")[0] ?? "");
}

test("the same seed makes the same request, and other seeds make others", () => {
  const made = (seed: number) => JSON.stringify(makeRequest(operation, seed));
  expect(made(42)).toBe(made(42));
  expect(new Set(Array.from({ length: 50 }, (_, seed) => made(seed))).size).toBeGreaterThan(40);
});

test("valid answers and refusals pass", () => {
  expect(titlesFor(200, '{"agent":{}}')).toEqual([]);
  expect(titlesFor(404, '{"error":"No.","message":"No.","code":"AGENT_NOT_FOUND"}')).toEqual([]);
  expect(titlesFor(400, '{"error":{"message":"No.","code":"INVALID_INPUT"}}')).toEqual([]);
  expect(titlesFor(502, '{"error":"Down.","message":"Down.","code":"BACKEND_UNAVAILABLE"}')).toEqual([]);
  const noChain = '{"error":"Down.","message":"Down.","code":"CHAIN_UNAVAILABLE"}';
  expect(titlesFor(500, noChain, "application/json", "/api/wallet")).toEqual([]);
  expect(titlesFor(500, noChain)).toEqual(["500"]);
});

test.each([
  [500, '{"error":"Oops.","code":"INTERNAL"}', "500"],
  [503, '{"error":"Oops.","code":"INTERNAL"}', "undocumented 503"],
  [400, '{"oops":true}', "400 without the error's shape"],
  [400, "{", "400 without the error's shape"],
  [200, '"Error\n    at run (/$bunfs/root/x.js:1:2)"', "internals in an answer"],
  [200, '"SELECT id FROM users "', "internals in an answer"],
  [200, `"${CANARIES.providerKey}"`, "the providerKey in an answer"],
])("%d %s is found", (status, text, title) => {
  expect(titlesFor(status, text)).toEqual([title]);
});

test("a finding is counted, and shows a command that repeats it", () => {
  const findings = createFindings();
  findings.judge(7, operation, sent, { kind: "timeout", ms: 30_000 });
  findings.judge(8, operation, sent, { kind: "timeout", ms: 30_000 });
  expect(findings.list()).toMatchObject([
    {
      title: "no answer in time: PATCH /api/agents/{id} (web)",
      count: 2,
      request: 7,
      reproduction: "curl -s -X PATCH -d '{'\\''a'\\''}' 'http://127.0.0.1:1/api/agents/x'",
    },
  ]);
});
