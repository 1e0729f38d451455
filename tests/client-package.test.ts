// The packed client in a project of its own: compiled by TypeScript, and run by Node, Bun, Deno and a browser against the binary.
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { buildClient } from "../packages/client/build/build.ts";
import { createClient } from "../packages/client/src/index.ts";
import { testedBlocks } from "../site/tested-blocks.ts";
import { type Berth, startBerth } from "./support/berth.ts";
import { openChromium } from "./support/chromium.ts";
import type { Client } from "./support/client.ts";
import { pdfOf } from "./support/documents.ts";
import { eventually } from "./support/eventually.ts";
import { member, provision } from "./support/members.ts";
import { bun, type Child, launch, run, temporaryDir } from "./support/process.ts";
import { changed } from "./support/program.ts";
import { startUpstream, type Upstream } from "./support/upstream.ts";

const root = resolve(import.meta.dir, "..");
const project = temporaryDir();
const env = { PATH: process.env.PATH ?? "/usr/bin:/bin", HOME: project.path };

let pages: ReturnType<typeof Bun.serve>;
let upstream: Upstream;
let berth: Berth;
let ada: Client;
let key: string;
let files: string[];

beforeAll(async () => {
  await buildClient();
  const packed = await run(
    ["npm", "pack", "--json", "--pack-destination", project.path],
    env,
    join(root, "packages/client"),
  );
  expect(packed).toMatchObject({ exitCode: 0 });
  const [{ filename, files: inside }] = JSON.parse(packed.stdout) as [{ filename: string; files: { path: string }[] }];
  files = inside.map(({ path }) => path);
  writeFileSync(join(project.path, "package.json"), '{ "name": "a-project", "private": true, "type": "module" }');
  const installed = await run(
    ["npm", "install", "--offline", "--no-audit", "--no-fund", `./${filename}`],
    env,
    project.path,
  );
  expect(installed).toMatchObject({ exitCode: 0 });
  for (const name of ["scenario.ts", "run.mjs"]) {
    copyFileSync(join(import.meta.dir, "support/client-project", name), join(project.path, name));
  }
  mkdirSync(join(project.path, "node_modules/.bin"), { recursive: true });
  symlinkSync(join(root, "node_modules/typescript"), join(project.path, "node_modules/typescript"));

  // A page of another origin, which the operator has allowed.
  pages = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: page });
  upstream = await startUpstream();
  berth = await startBerth({
    env: { PROVIDER_3_BASE_URL: upstream.url, MODEL_A: "provider_3:fake-small", CORS_ORIGINS: pages.url.origin },
  });
  ada = await member(berth, "enterprise");
  ({ key } = (await ada.post<{ key: string }>("/api/keys", { name: "package" })).body);
});
afterAll(async () => {
  await berth?.[Symbol.asyncDispose]();
  await upstream?.stop();
  await pages?.stop(true);
  project.remove();
});

function page(request: Request): Response {
  const { pathname } = new URL(request.url);
  const path = { "/scenario.js": "scenario.js", "/client.js": "node_modules/@berth/client/dist/index.js" }[pathname];
  if (path) return new Response(Bun.file(join(project.path, path)));
  const imports = JSON.stringify({ imports: { "@berth/client": "/client.js" } });
  return new Response(`<!doctype html><title>A page</title><script type="importmap">${imports}</script>`, {
    headers: { "content-type": "text/html" },
  });
}

const given = () => ({ url: berth.web, key, password: { email: ada.account.email, password: ada.account.password } });
const seen = () => ({
  email: ada.account.email,
  names: ["Package"],
  temperature: 0.5,
  created: "agent.created",
  isWhole: true,
  sameConversation: true,
  downloaded: "High tide is at nine.",
  aborted: "enough",
  stopped: "stopped",
  refused: "AGENT_STOPPED",
  wrong: ["temperature"],
  hasRequestId: true,
  hasLog: true,
  gone: "AGENT_NOT_FOUND",
  session: ada.account.email,
});

test("the package holds the module, its declarations and the README, and nothing that it depends on", () => {
  expect(files.filter((path) => !path.endsWith(".d.ts")).sort()).toEqual([
    "README.md",
    "dist/index.js",
    "package.json",
  ]);
  const installed = join(project.path, "node_modules/@berth/client");
  expect(JSON.parse(readFileSync(join(installed, "package.json"), "utf8")).dependencies).toBeUndefined();
  expect(readFileSync(join(installed, "dist/index.js")).byteLength).toBeLessThan(10_000);
  for (const name of readdirSync(join(installed, "dist")).filter((one) => one.endsWith(".d.ts"))) {
    // The declarations stand alone.
    const text = readFileSync(join(installed, "dist", name), "utf8");
    for (const [, from = ""] of text.matchAll(/from "([^"]+)"/g)) {
      expect(from).toMatch(/^\.\/[\w-]+\.js$/);
      expect(existsSync(join(installed, "dist", from.replace(/\.js$/, ".d.ts")))).toBe(true);
    }
  }
});

test.each(["bundler", "nodenext"])(
  "TypeScript compiles a program with it, strictly, with module resolution %s",
  async (resolution) => {
    const module = resolution === "nodenext" ? "nodenext" : "esnext";
    const flags = ["--strict", "--exactOptionalPropertyTypes", "--noUncheckedIndexedAccess", "--skipLibCheck", "false"];
    const target = ["--target", "es2022", "--lib", "es2022,dom", "--module", module, "--moduleResolution", resolution];
    const tsc = join(project.path, "node_modules/typescript/bin/tsc");
    const compiled = await run(["node", tsc, ...flags, ...target, "scenario.ts"], env, project.path, 60_000);
    expect(compiled).toEqual({ exitCode: 0, stdout: "", stderr: "" });
  },
);

const blocks = testedBlocks(import.meta.path, "docs/client.md", 7);
const [readme] = testedBlocks(import.meta.path, "packages/client/README.md", 1);

test("the code of the documentation is valid", async () => {
  const prelude = `import { BerthError, ConnectionError, createClient } from "@berth/client";
declare const berth: ReturnType<typeof createClient>;
declare const [agentId, file, show]: [string, File, (text: string) => void];
void [BerthError, ConnectionError, createClient, berth, agentId, file, show];
`;
  const names = [...blocks, readme].map(({ code }, n) => {
    writeFileSync(join(project.path, `block-${n}.ts`), code.startsWith("import") ? code : prelude + code);
    return `block-${n}.ts`;
  });
  const tsc = join(project.path, "node_modules/typescript/bin/tsc");
  const flags = ["--strict", "--noEmit", "--target", "es2022", "--lib", "es2022,dom", "--module", "esnext"];
  const compiled = await run(
    ["node", tsc, ...flags, "--moduleResolution", "bundler", ...names],
    env,
    project.path,
    60_000,
  );
  expect(compiled).toEqual({ exitCode: 0, stdout: "", stderr: "" });
}, 60_000);

describe("the code of docs/client.md", () => {
  const [create, device, agents, chat, events, uploads, errors] = blocks;
  const ownClient = () => JSON.stringify({ url: berth.web, key });

  /** Starts a block as a program of the project, with an agent and what else is the reader's own. */
  async function startBlock(code: string): Promise<{ child: Child; agentId: string }> {
    const { id: agentId } = await provision(ada);
    writeFileSync(join(project.path, "handbook.pdf"), pdfOf(["High tide is at nine."]));
    const own = `import { readFileSync } from "node:fs";
import { BerthError, ConnectionError, createClient } from "@berth/client";
const berth = createClient(${ownClient()});
const agentId = "${agentId}";
const file = new File([readFileSync("handbook.pdf")], "handbook.pdf", { type: "application/pdf" });
const show = (text: string) => console.log(text);
`;
    const name = `run-${crypto.randomUUID()}.ts`;
    writeFileSync(join(project.path, name), code.startsWith("import") ? code : own + code);
    return { child: launch({ command: [bun, name], env, dir: project.path }), agentId };
  }
  /** Runs it to its end; returns what it printed. */
  async function printed(code: string): Promise<{ text: string; agentId: string }> {
    const { child, agentId } = await startBlock(code);
    expect({ exitCode: await child.exited, stderr: child.output().stderr }).toEqual({ exitCode: 0, stderr: "" });
    return { text: child.output().stdout, agentId };
  }
  afterEach(async () => {
    const { body } = await ada.get<{ agents: { id: string }[] }>("/api/agents");
    for (const { id } of body.agents) expect((await ada.delete(`/api/agents/${id}`)).status).toBe(200);
  });

  test("makes an agent and talks to it, as the README does", async () => {
    for (const { code } of [create, readme]) {
      const own = changed(code, { '{ url: "https://berth.example.com", key: "bk_…" }': ownClient() });
      expect((await printed(own)).text.replaceAll("\n", "")).toBe("echo: When is high tide?");
    }
  });

  test("signs in with a code that a person approves", async () => {
    const { child } = await startBlock(device.code);
    const code = await eventually(() => /enter (\S+)/.exec(child.output().stdout)?.[1]);
    expect((await ada.post("/api/auth/device/decision", { code, approved: true, scopes: ["read"] })).status).toBe(200);
    expect(await child.exited).toBe(0);
    expect(child.output().stdout.trim()).toEndWith(ada.account.email);
  });

  test("lists, changes and deletes agents", async () => {
    const { text, agentId } = await printed(agents.code);
    expect(text).toBe(`${agentId} Harbour running\n`);
    expect((await ada.get(`/api/agents/${agentId}`)).status).toBe(404);
  });

  test("chats on in one conversation", async () => {
    expect((await printed(chat.code)).text).toBe("echo: Good morning echo: And now?\n");
  });

  test("follows events and logs", async () => {
    // Both go on for ever.
    const own = changed(events.code, { '"41"': '"0"' }).replace(/show\(.*\);$/gm, "{ $& break; }");
    expect((await printed(own)).text).toMatch(/^\d+ agent\.\w+\n.+\n$/);
  });

  test("sends a file, and gives one to the agent", async () => {
    const { agentId } = await printed(uploads.code);
    const { text } = await ada.get(`/api/agents/${agentId}/files`);
    expect(text).toContain("handbook.pdf");
  });

  test("tells errors apart", async () => {
    expect((await printed(errors.code)).text).toMatch(/^400 INVALID_INPUT temperature \S+\n$/);
  });
});

test("and refuses what the API does not take", async () => {
  writeFileSync(
    join(project.path, "wrong.ts"),
    `import { createClient } from "@berth/client";
const berth = createClient({ url: "https://berth.example.com" });
void berth.agents.create({ nam: "x" });
void berth.agents.configure("a", { voice: "sometimes" });
for await (const event of berth.chat("a", "Hi")) if (event.type === "delta") console.log(event.txt);
void berth.agents.configure("a", { instruction: "Be brief." });
void berth.agents.create({ name: "x", config: { budget: { usdPerDay: 1, usdPerYear: 1 } } });
void berth.agents.create({ name: "x", config: { channels: { channel_a: { acess: "open" } } } });
`,
  );
  const tsc = join(project.path, "node_modules/typescript/bin/tsc");
  const flags = ["--strict", "--noEmit", "--target", "es2022", "--lib", "es2022,dom", "--module", "esnext"];
  const { exitCode, stdout } = await run(
    ["node", tsc, ...flags, "--moduleResolution", "bundler", "wrong.ts"],
    env,
    project.path,
    60_000,
  );
  expect(exitCode).not.toBe(0);
  expect([...stdout.matchAll(/wrong\.ts\((\d+),/g)].map(([, line]) => line)).toEqual(["3", "4", "5", "6", "7", "8"]);
}, 60_000);

const deno = join(root, "node_modules/@deno/linux-x64-glibc/deno");
describe("it signs in, chats, uploads, follows, fails and cleans up", () => {
  test.each([
    ["Node", ["node"]],
    ["Bun", [bun]],
    ["Deno", [deno, "run", "--allow-net=127.0.0.1", "--no-prompt"]],
  ])("in %s", async (_, command) => {
    const { exitCode, stdout, stderr } = await run([...command, "run.mjs", JSON.stringify(given())], env, project.path);
    expect({ exitCode, stderr: exitCode === 0 ? "" : stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(JSON.parse(stdout)).toEqual(seen());
  });

  test("in a page of another origin, with a key", async () => {
    await using browser = await openChromium();
    await browser.load(pages.url.href);
    const { password: _, ...rest } = given();
    const found = await browser.evaluate(
      `import("/scenario.js").then(({ scenario }) => scenario(${JSON.stringify(rest)})).catch((error) => String(error.stack))`,
    );
    const { session: __, ...expected } = seen();
    expect(found as object).toEqual(expected);
  });
});

test("a reply arrives though the service is killed while it is written, and events go on without gaps", async () => {
  const client = createClient({ url: berth.web, key });
  const { id } = await provision(ada, "Survivor");
  upstream.script(() => ({ pieces: ["Half ", "of it"], hangAfter: 2 }));
  const updates = client.events({ types: ["agent.updated"], lastEventId: "0" });
  const nextName = async (): Promise<unknown> => {
    const { value } = await updates.next();
    return value?.data.id === id ? value.data.name : nextName();
  };
  let text = "";
  for await (const event of client.chat(id, "are you there?")) {
    if (event.type === "delta" && text === "") {
      await ada.patch(`/api/agents/${id}`, { name: "Survivor 1" });
      expect(await nextName()).toBe("Survivor 1");
      await berth.kill();
      upstream.script(({ lastUser }) => `echo: ${lastUser}`);
      await berth.restart({ keepPorts: true });
      await ada.patch(`/api/agents/${id}`, { name: "Survivor 2" });
    }
    // What was said before the kill is void.
    if (event.type === "reset") text = "";
    if (event.type === "delta") text += event.text;
    if (event.type === "reply") expect(event.text).toBe("echo: are you there?");
  }
  expect(["", "echo: are you there?"]).toContain(text);
  expect(await nextName()).toBe("Survivor 2");
  await updates.return();
});
