// Runs the official conformance suite of MCP, and the inspector's command line, against Berth as a server.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { InteractionFixture } from "../interaction/support.test.ts";
import { keyOf, openFixture } from "./support.test.ts";
import { toolNameOf } from "./tools/names.ts";

const MODULES = resolve(import.meta.dir, "../../node_modules/@modelcontextprotocol");
const SUITE = join(MODULES, "conformance/dist/index.js");
const INSPECTOR = join(MODULES, "inspector/clients/launcher/build/index.js");

let fixture: InteractionFixture;
let key: string;
let tool: string;
/** The suite can't send a key, so that requests pass through here. */
let proxy: Bun.Server<undefined>;
/** Both programs write into the working folder and the home. */
let folder: string;

beforeAll(async () => {
  fixture = await openFixture();
  const ada = await fixture.member();
  key = await keyOf(ada);
  const id = await fixture.provision(ada);
  const { agent } = (await ada.get<{ agent: { subdomain: string } }>(`/api/agents/${id}`)).body;
  tool = toolNameOf(agent.subdomain);
  fixture.upstream.script(({ lastUser }) => `You said: ${lastUser}`);
  folder = await mkdtemp(join(tmpdir(), "berth-mcp-"));
  proxy = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    fetch(request) {
      const headers = new Headers(request.headers);
      headers.set("authorization", `Bearer ${key}`);
      const { method, body, url } = request;
      return fetch(fixture.origin + new URL(url).pathname, { method, body, headers });
    },
  });
});
afterAll(async () => {
  await proxy?.stop(true);
  await rm(folder, { recursive: true, force: true });
  await fixture?.[Symbol.asyncDispose]();
});

async function run(command: string[]): Promise<{ exitCode: number; output: string }> {
  const child = Bun.spawn(command, {
    cwd: folder,
    env: { PATH: process.env.PATH ?? "", HOME: folder },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  return { exitCode: await child.exited, output: stdout + stderr };
}

// The other scenarios want a server with tools, resources and prompts of the suite's own.
describe("the conformance suite passes", () => {
  test.each(["server-initialize", "ping", "tools-list", "dns-rebinding-protection"])("%s", async (scenario) => {
    const url = `http://127.0.0.1:${proxy.port}/mcp`;
    const { output } = await run([process.execPath, SUITE, "server", "--url", url, "--scenario", scenario]);
    expect({ output, failed: /Failed: [1-9]|✗/.test(output) }).toMatchObject({ failed: false });
    expect(output).toMatch(/Passed: [1-9]/);
  });
});

describe("the inspector", () => {
  const inspect = (...args: string[]) =>
    run([
      "node",
      INSPECTOR,
      "--cli",
      `${fixture.origin}/mcp`,
      ...["--transport", "http", "--header", `Authorization: Bearer ${key}`],
      ...args,
    ]);

  test("lists the tools, whose schemas work in every client", async () => {
    const { exitCode, output } = await inspect("--method", "tools/list", "--strict");
    expect({ exitCode, output }).toEqual({ exitCode: 0, output: expect.stringContaining(`"${tool}"`) });
  });

  test("asks an agent", async () => {
    const args = ["--method", "tools/call", "--tool-name", tool, "--tool-arg", "message=Ahoy"];
    const { exitCode, output } = await inspect(...args);
    expect({ exitCode, output }).toEqual({ exitCode: 0, output: expect.stringContaining("You said: Ahoy") });
  });
});
