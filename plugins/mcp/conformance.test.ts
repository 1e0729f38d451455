// Runs the official conformance suite of MCP against the connection that agents use.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const ROOT = resolve(import.meta.dir, "../..");
const SUITE = join(ROOT, "node_modules/@modelcontextprotocol/conformance/dist/index.js");
const CLIENT = join(ROOT, "tests/support/mcp-conformance-client.ts");

/** It writes its results, and what the library keeps, into the working folder. */
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "berth-conformance-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

// Not: flows of the revision 2025-03-26, clients that are registered beforehand or act without a person, and elicitation.
test.each([
  "initialize",
  "tools_call",
  "sse-retry",
  "auth/metadata-default",
  "auth/metadata-var1",
  "auth/metadata-var2",
  "auth/metadata-var3",
  "auth/basic-cimd",
  "auth/scope-from-www-authenticate",
  "auth/scope-from-scopes-supported",
  "auth/scope-omitted-when-undefined",
  "auth/scope-step-up",
  "auth/scope-retry-limit",
  "auth/token-endpoint-auth-basic",
  "auth/token-endpoint-auth-post",
  "auth/token-endpoint-auth-none",
  "auth/resource-mismatch",
  "auth/offline-access-scope",
  "auth/offline-access-not-supported",
])("%s", async (scenario) => {
  const suite = Bun.spawn(
    [process.execPath, SUITE, "client", "--command", `${process.execPath} ${CLIENT}`, "--scenario", scenario],
    { cwd: folder, env: { PATH: process.env.PATH ?? "", HOME: folder }, stdout: "ignore", stderr: "pipe" },
  );
  const output = await new Response(suite.stderr).text();
  expect({ output, passed: output.includes("OVERALL: PASSED") }).toMatchObject({ passed: true });
});
