// Tests the official MCP servers, over standard streams and over HTTP: only commands of the operator, and nothing of Berth's own.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { eventually } from "../../tests/support/eventually.ts";
import { type McpFixture, openMcpFixture, toolOf } from "./support.test.ts";

const SERVERS = resolve(import.meta.dir, "../../node_modules/@modelcontextprotocol");
const run = (name: string, ...args: string[]) =>
  [process.execPath, join(SERVERS, `server-${name}/dist/index.js`), ...args].join(" ");
const folder = join(tmpdir(), `berth-mcp-${Bun.randomUUIDv7()}`);
const memoryFile = join(folder, "memory.jsonl");

async function freePort(): Promise<number> {
  await using server = Bun.serve({ port: 0, fetch: () => new Response() });
  return Number(server.port);
}

let it: McpFixture;
beforeAll(async () => {
  await mkdir(folder);
  await writeFile(join(folder, "plan.txt"), "Sail at dawn.");
  it = await openMcpFixture({
    MCP_COMMANDS: [
      `everything=${run("everything", "stdio")}`,
      `files=${run("filesystem", folder)}`,
      `memory=/usr/bin/env MEMORY_FILE_PATH=${memoryFile} ${run("memory")}`,
      "/bin/sh",
    ].join(","),
  });
});
beforeEach(() => it.nextAgent());
afterAll(async () => {
  await it?.[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

test("arguments for a command whose arguments are fixed are warned about when they are saved", async () => {
  const { body } = await it.putConfig({ all: { command: "everything", args: ["stdio", "--more"] } });
  expect(body.warnings).toEqual([
    {
      path: "mcpServers.all.args",
      message: "The operator has fixed the arguments of this command: leave args out.",
    },
  ]);
});

describe("the official servers", () => {
  test("everything: tools, a picture, resources, prompts, and none of Berth's environment", async () => {
    const server = await it.configure({
      all: { command: "everything", reads: ["echo", "get-sum", "get-env", "get-tiny-image"] },
    });
    expect(server).toMatchObject({ state: "connected", lastError: null });
    expect(toolOf(server, "echo")).toMatchObject({ toolName: "all__echo", class: "read", offered: true });
    for (const [name, input, expected] of [
      ["all__echo", { message: "ahoy" }, "Echo: ahoy"],
      ["all__get-sum", { a: 2, b: 3 }, "5"],
      ["all__get-tiny-image", {}, "[A picture: file 1]"],
      ["all__read_resource", {}, "demo://"],
      ["all__get_prompt", {}, "simple-prompt"],
    ] as const) {
      it.callOnce(name, input);
      expect(await it.say("Call it.")).toContain(expected);
    }
    it.callOnce("all__get-env");
    const environment = await it.say("Call it.");
    expect(environment).toContain("PATH");
    expect(environment).not.toMatch(/sk-test|SECRET_KEY|PROVIDER_|DATABASE/);
  });

  test("filesystem: reads within its folder, and writes only after an approval", async () => {
    await it.configure({
      files: { command: "files", tools: ["read_text_file", "write_file"], reads: ["read_text_file"] },
    });
    it.callOnce("files__read_text_file", { path: join(folder, "plan.txt") });
    expect(await it.say("Read the plan.")).toContain("Sail at dawn.");
    it.callOnce("files__read_text_file", { path: "/etc/passwd" });
    expect(await it.say("Read that.")).toContain("Access denied");

    const written = join(folder, "new.txt");
    it.callOnce("files__write_file", { path: written, content: "Ahoy" });
    expect(await it.say("Write.")).toContain("May I do this?");
    expect(await Bun.file(written).exists()).toBe(false);
    const approvals = `/api/agents/${it.agentId}/approvals`;
    const { body } = await it.ada.get<{ approvals: { id: string }[] }>(`${approvals}?status=pending`);
    await it.ada.post(`${approvals}/${body.approvals[0]?.id}`, { decision: "approve" });
    await eventually(() => Bun.file(written).exists(), { what: "the file is written" });
    expect(await Bun.file(written).text()).toBe("Ahoy");
    expect(it.offered().filter((name) => name.startsWith("files__"))).toHaveLength(2);
  });

  test("memory: keeps what it is told over connections", async () => {
    await it.configure({ memory: { command: "memory", reads: ["create_entities", "read_graph"] } });
    it.callOnce("memory__create_entities", {
      entities: [{ name: "Ada", entityType: "captain", observations: ["sails at dawn"] }],
    });
    await it.say("Note it.");
    expect((await it.ada.post(`${it.path()}/memory/test`)).status).toBe(200);
    it.callOnce("memory__read_graph");
    expect(await it.say("What do you know?")).toContain("sails at dawn");
  });
});

test("everything over HTTP, with sessions of an older revision, which are ended", async () => {
  const port = await freePort();
  await using program = Bun.spawn(
    [process.execPath, join(SERVERS, "server-everything/dist/index.js"), "streamableHttp"],
    {
      env: { PATH: process.env.PATH ?? "", PORT: String(port) },
      stdout: "pipe",
      stderr: "pipe",
    },
  );
  /** Reads on until the program has written this. */
  const until = async (stream: ReadableStream<Uint8Array>, text: string) => {
    let written = "";
    for await (const part of stream) {
      written += new TextDecoder().decode(part);
      if (written.includes(text)) return;
    }
    throw new Error(`The server ended: ${written}`);
  };
  await until(program.stderr, "listening on port");
  const server = await it.configure({
    all: { url: `http://127.0.0.1:${port}/mcp`, reads: ["echo", "get-tiny-image"] },
  });
  expect(server).toMatchObject({ state: "connected", lastError: null });
  it.callOnce("all__echo", { message: "ahoy" });
  expect(await it.say("Call it.")).toContain("Echo: ahoy");
  it.callOnce("all__get-tiny-image");
  expect(await it.say("Call it.")).toContain("[A picture: file 1]");
  await it.putConfig({});
  await until(program.stdout, "session termination request");
});

describe("a command", () => {
  test.each([[{ command: "/bin/rm", args: ["-rf", "/tmp/x"] }], [{ command: "every" }]])(
    "of nobody's list is 400: %j",
    async (server) => {
      const answer = await it.putConfig({ x: server });
      expect(answer).toMatchObject({ status: 400, body: { issues: [{ path: "mcpServers.x.command" }] } });
    },
  );

  test("with fixed arguments takes no others", async () => {
    const server = await it.configure({ files: { command: "files", args: ["/"] } });
    expect(server).toMatchObject({ state: "failed", lastError: expect.stringContaining("fixed the arguments") });
  });

  test("that fails to start, or is no MCP server, is told with what it wrote", async () => {
    const server = await it.configure({ sh: { command: "/bin/sh", args: ["-c", "echo 'no such boat' >&2; exit 3"] } });
    expect(server.state).toBe("failed");
    expect(server.lastError).toContain("no such boat");
  });

  test("runs in a folder of the agent, which goes with the agent", async () => {
    const home = join(it.kernel.config.dataDir, "mcp", it.agentId);
    await it.configure({ sh: { command: "/bin/sh", args: ["-c", "echo ahoy > $HOME/trace; pwd >&2; exit 1"] } });
    expect(await Bun.file(join(home, "trace")).text()).toBe("ahoy\n");
    expect((await it.looked("sh")).lastError).toContain(home);
    await it.ada.delete(`/api/agents/${it.agentId}`);
    await eventually(async () => !(await Bun.file(join(home, "trace")).exists()));
  });
});
