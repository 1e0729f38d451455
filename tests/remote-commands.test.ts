// The commands that talk to a service from afar, with the binary on both sides: sign-in, chat, logs, and agents as files.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parse } from "yaml";
import { testedBlocks } from "../site/tested-blocks.ts";
import { type Berth, runBerth, startBerth } from "./support/berth.ts";
import { openChromium } from "./support/chromium.ts";
import type { Client } from "./support/client.ts";
import { eventually } from "./support/eventually.ts";
import { member } from "./support/members.ts";
import { type Child, launch, temporaryDir } from "./support/process.ts";
import { changed } from "./support/program.ts";
import { outputDifference } from "./support/shown-output.ts";
import { startTelegram, type Telegram } from "./support/telegram.ts";
import { startUpstream, type Upstream } from "./support/upstream.ts";

const binary = resolve(import.meta.dir, "../dist/berth");
const home = temporaryDir();
const project = join(home.path, "project");

let telegram: Telegram;
let upstream: Upstream;
let berth: Berth;
let ada: Client;
/** What the commands see of the world. */
let env: Record<string, string>;
beforeAll(async () => {
  [telegram, upstream] = await Promise.all([startTelegram(), startUpstream()]);
  berth = await startBerth({
    env: {
      PROVIDER_3_BASE_URL: upstream.url,
      MODEL_A: "provider_3:fake-small",
      CHANNEL_A_API_ROOT: telegram.url,
      RATE_LIMITS: "off",
    },
  });
  ada = await member(berth, "enterprise");
});
afterAll(async () => {
  await berth?.[Symbol.asyncDispose]();
  await Promise.all([upstream?.stop(), telegram?.stop()]);
  home.remove();
});
beforeEach(() => {
  mkdirSync(project, { recursive: true });
  env = { HOME: home.path, XDG_CONFIG_HOME: join(home.path, "config") };
});
afterEach(() => rmSync(project, { recursive: true }));

const command = (...args: string[]) => runBerth(args, env, project);
const start = (...args: string[]): Child => launch({ command: [binary, ...args], env, dir: project });
const loginsFile = () => join(home.path, "config/berth/logins.json");
const logins = () => JSON.parse(readFileSync(loginsFile(), "utf8")) as { logins: Record<string, { key: string }> };

/** Runs `berth login` up to its code. */
async function beginLogin(...args: string[]): Promise<{ child: Child; code: string }> {
  const child = start("login", berth.web, ...args);
  const code = await eventually(() => /\b[B-Z]{4}-[B-Z]{4}\b/.exec(child.output().stdout)?.[0]);
  return { child, code };
}
const decide = (code: string, approved: boolean) =>
  ada.post("/api/auth/device/decision", { code, approved, scopes: ["read", "write", "chat"] });
async function signIn(): Promise<void> {
  const { child, code } = await beginLogin();
  expect((await decide(code, true)).status).toBe(200);
  expect(await child.exited).toBe(0);
}
/** An address and a key in the environment, as in CI. */
async function useKey(scopes = ["read", "write", "chat"]): Promise<void> {
  const { key } = (await ada.post<{ key: string }>("/api/keys", { name: "ci", scopes })).body;
  env = { ...env, BERTH_URL: berth.web, BERTH_KEY: key };
}

describe("berth login", () => {
  test("keeps the key where only its user reads it, and logout revokes it", async () => {
    const { child, code } = await beginLogin();
    await decide(code, true);
    expect(await child.exited).toBe(0);
    const { stdout } = child.output();
    const [shown] = testedBlocks(import.meta.path, "docs/remote-commands.md", 1);
    const own = changed(shown.code, {
      "$ berth login https://berth.example.com\n": "",
      // The service calls itself localhost, without a BASE_URL.
      "https://berth.example.com/device": "…/device",
      "https://berth.example.com": berth.web,
      "ada@example.com": ada.account.email,
      "/home/ada/.config": join(home.path, "config"),
      "WDJB-MJHT": code,
      // The command that a reader can type, which has a path here.
      "See: berth": "See: …",
    });
    expect(outputDifference(own, stdout)).toBeUndefined();
    const { key } = logins().logins[berth.web] ?? { key: "" };
    expect(stdout).not.toContain(key);
    expect(statSync(loginsFile()).mode & 0o777).toBe(0o600);
    expect(statSync(join(home.path, "config/berth")).mode & 0o777).toBe(0o700);
    const listed = async () => (await ada.get<{ keys: { name: string }[] }>("/api/keys")).body.keys;
    expect((await listed())[0]?.name).toMatch(/^berth on /);
    expect(await command("agents")).toMatchObject({ exitCode: 0, stderr: "" });

    // A second sign-in takes the place of the first.
    const count = (await listed()).length;
    await signIn();
    expect(await listed()).toHaveLength(count);
    const next = logins().logins[berth.web]?.key ?? "";
    expect(next).not.toBe(key);

    expect(await command("logout")).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("revoked") });
    expect(logins()).toEqual({ logins: {} });
    expect(await listed()).toHaveLength(count - 1);
    expect(await command("agents", "--url", berth.web)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/^berth: You are not signed in at .*\. Run: .* login /),
    });
  });

  test("gets nothing from a person who refuses, and says so", async () => {
    const { child, code } = await beginLogin("--scope", "read");
    await decide(code, false);
    expect(await child.exited).toBe(1);
    expect(child.output().stderr).toMatch(/^berth: The person has refused/);
  });

  test("is approved on a page, which compares the code and shows who asks", async () => {
    await using page = await openChromium();
    const { child, code } = await beginLogin("--scope", "read,chat");
    const text = (selector: string) => page.evaluate<string>(`document.querySelector("${selector}")?.innerText ?? ""`);
    const isShown = (id: string) => page.evaluate<boolean>(`document.getElementById("${id}")?.hidden === false`);
    const click = (selector: string) => page.evaluate(`document.querySelector("${selector}").click()`);
    const address = `${berth.web}/device?code=${code}`;
    await page.load(address);
    await click("#code-form button");
    await eventually(() => isShown("sign-in-first"));
    expect(await page.evaluate<string>('document.getElementById("sign-in").href')).toContain(encodeURIComponent(code));
    const { email, password } = ada.account;
    const body = JSON.stringify(JSON.stringify({ email, password }));
    await page.evaluate(
      `fetch("/api/auth/callback/credentials", { method: "POST", headers: { "content-type": "application/json" }, body: ${body} })`,
    );
    await page.load("about:blank");
    await page.load(address);
    // The code of a link fills the field, and nothing more: two more steps are the person's.
    expect(await isShown("ask")).toBe(false);
    await click("#code-form button");
    await eventually(() => isShown("ask"));
    expect(await text("#client")).toBe("berth");
    expect(await text("#address")).toBe("127.0.0.1");
    expect(await text("#account")).toBe(email);
    expect(await text("#shown")).toBe(code);
    expect(await page.evaluate<boolean>('document.querySelector("[data-scope=write]").hidden')).toBe(true);
    await click("#form button");
    await eventually(async () => (await text("#status")).includes("Compare the code"));
    await click("#compared");
    await click("#form button");
    await eventually(() => isShown("allowed"));
    expect(await child.exited).toBe(0);
    expect(child.output().stdout).toContain("The key may: read chat.");
    expect(page.consoleEntries().filter((entry) => /Content Security|TypeError|ReferenceError/.test(entry))).toEqual(
      [],
    );
  });
});

describe("berth chat, logs and agents", () => {
  beforeEach(async () => {
    await useKey();
  });
  const make = async (name: string) =>
    (await ada.post<{ agent: { id: string } }>("/api/agents", { name })).body.agent.id;

  test("write the reply to standard output, and find an agent by name or id", async () => {
    const id = await make("Echo");
    expect(await command("chat", "Echo", "Good", "morning")).toEqual({
      exitCode: 0,
      stdout: "echo: Good morning\n",
      stderr: "",
    });
    const events = (await command("chat", id, "Hi", "--json")).stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(events.at(-1)).toMatchObject({ type: "reply", text: "echo: Hi" });
    const { conversationId } = events.at(-1);
    await command("chat", id, "Again", "--conversation", conversationId);
    const { messages } = (
      await ada.get<{ messages: object[] }>(`/api/agents/${id}/conversations/${conversationId}/messages`)
    ).body;
    expect(messages).toHaveLength(4);

    await make("Echo");
    const ambiguous = await command("chat", "Echo", "Hi");
    expect(ambiguous).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/2 agents are called Echo.*Give an id/),
    });
    expect((await command("agents")).stdout).toMatch(
      new RegExp(`^NAME +STATUS +MODEL +ID\n(.*\n)*Echo +running +model_a +${id}\n`),
    );
    expect((await command("agents", "--json")).stdout).toContain(`"id": "${id}"`);
    expect(await command("chat", "Nobody", "Hi")).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("no agent called Nobody"),
    });
  });

  test("let nothing of an agent reach the terminal but text", async () => {
    await make("Painter");
    upstream.script("red \u001b[31mtext\u0007 \u202eevil\nnext line");
    expect((await command("chat", "Painter", "Hi")).stdout).toBe("red [31mtext evil\nnext line\n");
    upstream.script(undefined);
  });

  test("stop the turn at Ctrl+C", async () => {
    await make("Slow");
    upstream.script({ pieces: ["Well, ", "then"], hangAfter: 2 });
    const child = start("chat", "Slow", "Tell me everything");
    await eventually(() => child.output().stdout.includes("Well"));
    child.signal("SIGINT");
    expect(await child.exited).toBe(130);
    await eventually(() => upstream.open === 0);
    upstream.script(undefined);
  });

  test("follow a log over a restart of the service", async () => {
    const id = await make("Logger");
    const child = start("logs", "-f", "Logger");
    await eventually(() => child.output().stdout.includes("the agent is running"));
    await berth.restart({ keepPorts: true });
    await ada.post(`/api/agents/${id}/stop`);
    await eventually(() => child.output().stdout.includes("stop: the agent is stopped"), { timeoutMs: 20_000 });
    const lines = child.output().stdout.trim().split("\n");
    expect(new Set(lines).size).toBe(lines.length);
    child.signal("SIGTERM");
    await child.exited;
    expect((await command("logs", "Logger", "--level", "error")).stdout).toBe("");
  });

  test("say what to do about a key that may not, or is no longer valid", async () => {
    await useKey(["read"]);
    expect(await command("chat", "Echo", "Hi")).toMatchObject({ exitCode: 1 });
    env.BERTH_KEY = `bk_${"x".repeat(43)}`;
    expect(await command("agents")).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/does not accept this key.*Run: .* login/),
    });
    env.BERTH_URL = "http://127.0.0.1:1";
    const { exitCode, stderr } = await command("agents");
    expect({ exitCode, stderr }).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/^berth: No answer from http:\/\/127\.0\.0\.1:1: [^\n]+\n$/),
    });
  });
});

describe("berth deploy", () => {
  const TOKEN = "7000000009:AAremote-commands-0123456789abcdefg";
  const SECRET = "s3cret-of-the-docs";
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the form that the file has
  const references = { docs: "${env:DOCS_TOKEN}", bot: "${env:BOT_TOKEN}" };
  const file = (name: string, more: object = {}) => ({
    name,
    model: "model_a",
    running: true,
    config: { instructions: "You are the harbour's assistant.", temperature: 0.3, skills: { reminder: false } },
    credentials: { DOCS_TOKEN: references.docs },
    channels: { channel_a: { token: references.bot, ownerId: "42" } },
    knowledge: ["docs/*.md"],
    ...more,
  });
  const save = (content: object, path = "agent.json") => writeFileSync(join(project, path), JSON.stringify(content));
  const write = (path: string, text: string) => writeFileSync(join(project, path), text);
  beforeEach(async () => {
    await useKey();
    env = { ...env, DOCS_TOKEN: SECRET, BOT_TOKEN: TOKEN };
    mkdirSync(join(project, "docs"));
    write("docs/tides.md", "# Tides\n\nHigh tide is at nine.\n");
    telegram.addBot(TOKEN, { username: "harbour_bot" });
  });

  test("makes an agent, changes nothing again, shows and makes a change, and writes it for elsewhere", async () => {
    save(file("Deployed"));
    const planned = await command("deploy", "agent.json", "--dry-run");
    expect(planned.exitCode).toBe(3);
    expect(planned.stdout).toContain("Deployed will be made at");
    for (const line of [
      "+ config.temperature: 0.3",
      "+ credentials.DOCS_TOKEN: secret, from DOCS_TOKEN",
      "+ knowledge tides.md",
    ]) {
      expect(planned.stdout).toContain(line);
    }
    expect((await command("agents")).stdout).not.toContain("Deployed");
    // Nobody is asked where no terminal is.
    expect(await command("deploy", "agent.json")).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("--yes"),
    });

    const made = await command("deploy", "agent.json", "--yes");
    expect(made).toMatchObject({ exitCode: 0, stderr: "" });
    for (const { stdout } of [planned, made])
      for (const secret of [SECRET, TOKEN]) expect(stdout).not.toContain(secret);
    const again = await command("deploy", "agent.json", "--yes");
    expect(again).toEqual({ exitCode: 0, stdout: expect.stringContaining("Nothing to change."), stderr: "" });
    expect((await command("deploy", "agent.json", "--dry-run")).exitCode).toBe(0);

    save(file("Deployed", { config: { instructions: "Be brief.", temperature: 0.3 }, running: false }));
    write("docs/tides.md", "# Tides\n\nHigh tide is at ten.\n\n");
    env.DOCS_TOKEN = "another-secret";
    const changed = await command("deploy", "agent.json", "--dry-run", "--json");
    expect(changed.exitCode).toBe(3);
    expect(JSON.parse(changed.stdout)).toMatchObject({
      applied: false,
      changes: [
        { action: "change", path: "config.instructions", text: '"You are the harbour\'s assistant." → "Be brief."' },
        { action: "delete", path: "config.skills" },
        { action: "change", path: "credentials.DOCS_TOKEN", text: "secret, from DOCS_TOKEN" },
        { action: "change", path: "knowledge tides.md" },
        { action: "change", path: "running", text: "stop" },
      ],
      unchanged: ["channels.channel_a"],
    });
    expect((await command("deploy", "agent.json", "-y")).exitCode).toBe(0);
    expect((await command("deploy", "agent.json", "--dry-run")).exitCode).toBe(0);

    expect((await command("pull", "Deployed", "pulled.yaml")).exitCode).toBe(0);
    const pulled = readFileSync(join(project, "pulled.yaml"), "utf8");
    expect(pulled).not.toContain("another-secret");
    expect(parse(pulled)).toEqual({
      name: "Deployed",
      model: "model_a",
      running: false,
      config: { instructions: "Be brief.", temperature: 0.3 },
      credentials: { DOCS_TOKEN: references.docs },
      // biome-ignore lint/suspicious/noTemplateCurlyInString: as above
      channels: { channel_a: { token: "${env:CHANNEL_A_TOKEN}", ownerId: "42" } },
    });
    expect(await command("pull", "Deployed", "pulled.yaml")).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("exists"),
    });
    expect(await command("pull", "Deployed", "nowhere/pulled.yaml")).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("There is no folder nowhere."),
    });

    // Elsewhere: another service, with a bot of its own.
    env.CHANNEL_A_TOKEN = TOKEN;
    expect((await command("deploy", "pulled.yaml", "--dry-run")).exitCode).toBe(0);
    await using other = await startBerth({ env: { CHANNEL_A_API_ROOT: telegram.url } });
    const grace = await member(other);
    const { key } = (await grace.post<{ key: string }>("/api/keys", { name: "k" })).body;
    const there = ["--url", other.web, "--key", key];
    env.CHANNEL_A_TOKEN = "7000000010:AAremote-elsewhere-0123456789abcdef";
    telegram.addBot(env.CHANNEL_A_TOKEN, { username: "elsewhere_bot" });
    expect((await command("deploy", "pulled.yaml", "--yes", ...there)).exitCode).toBe(0);
    expect((await command("deploy", "pulled.yaml", "--dry-run", ...there)).exitCode).toBe(0);
    expect(parse(pulled)).toMatchObject({ name: "Deployed" });
    const copy = JSON.parse((await command("pull", "Deployed", ...there)).stdout);
    expect(copy).toMatchObject({
      $schema: `${other.web}/schemas/agent.json`,
      running: false,
      config: { instructions: "Be brief." },
    });
  });

  test("names all that is wrong with a file before anything is sent", async () => {
    const wrong = { ...file("Wrong"), config: { temperature: 9 }, modle: "x", knowledge: ["none/*.md"] };
    save(wrong);
    delete env.DOCS_TOKEN;
    const { exitCode, stdout, stderr } = await command("deploy", "agent.json", "--yes");
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    for (const text of [
      "config.temperature: ",
      "modle: There is no such member. Did you mean model?",
      "credentials.DOCS_TOKEN: The environment has no DOCS_TOKEN.",
      "none/*.md",
    ]) {
      expect(stderr).toContain(text);
    }
    write("bad.json", '{ "name": ');
    expect(await command("deploy", "bad.json")).toMatchObject({
      exitCode: 2,
      stderr: expect.stringMatching(/^berth: bad\.json is no valid JSON: /),
    });
    write("bad.yaml", "name: [");
    expect(await command("deploy", "bad.yaml")).toMatchObject({
      exitCode: 2,
      stderr: expect.stringMatching(/^berth: bad\.yaml is no valid YAML: [^\n]+\n$/),
    });
    expect((await command("agents")).stdout).not.toContain("Wrong");
  });

  test("changes nothing if the service refuses the file", async () => {
    save({ name: "Refused", config: { mcpServers: { local: { command: "rm" } } } });
    const refused = await command("deploy", "agent.json", "--yes");
    expect(refused).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/mcpServers\.local\.command.*Nothing was changed\./),
    });
    expect((await command("agents")).stdout).not.toContain("Refused");
  });

  test("renames with --agent, deletes what is null, and leaves what it does not name", async () => {
    save({ name: "Old", credentials: { DOCS_TOKEN: references.docs }, config: { temperature: 1 } });
    await command("deploy", "agent.json", "--yes");
    save({ name: "New", credentials: { DOCS_TOKEN: null } });
    const renamed = await command("deploy", "agent.json", "--yes", "--agent", "Old");
    expect(renamed.stdout).toContain('~ name: "Old" → "New"');
    expect(renamed.stdout).toContain("- credentials.DOCS_TOKEN");
    const pulled = JSON.parse((await command("pull", "New")).stdout);
    expect(pulled).toMatchObject({ config: { temperature: 1 } });
    expect(pulled).not.toHaveProperty("credentials");
    expect((await command("agents")).stdout).not.toContain("Old");
  });

  test("goes on after the service was killed in the middle", async () => {
    for (let n = 0; n < 40; n++) write(`docs/page-${n}.md`, `# Page ${n}\n\n${"Words and more words. ".repeat(200)}\n`);
    save(file("Interrupted", { channels: {} }));
    const child = start("deploy", "agent.json", "--yes");
    type Files = { files: { name: string; createdAt: string }[]; count: number };
    const { id } = await eventually(async () => {
      const { agents } = (await ada.get<{ agents: { id: string; name: string }[] }>("/api/agents")).body;
      return agents.find(({ name }) => name === "Interrupted");
    });
    const files = async () => (await ada.get<Files>(`/api/agents/${id}/files?limit=100`)).body.files;
    await eventually(async () => (await files()).length > 2);
    await berth.kill();
    expect(await child.exited).toBe(1);
    expect(child.output().stderr).toMatch(/steps were done; run it again to go on\.\n$/);
    await berth.restart({ keepPorts: true });

    const planned = await command("deploy", "agent.json", "--dry-run");
    expect(planned.exitCode).toBe(3);
    expect(planned.stdout).toContain(`(${id}) will change`);
    expect((await command("deploy", "agent.json", "--yes")).exitCode).toBe(0);
    expect((await command("deploy", "agent.json", "--dry-run")).exitCode).toBe(0);
    const names = (await files()).map(({ name }) => name);
    expect(names.length).toBe(41);
    expect(new Set(names).size).toBe(41);
    expect((await command("agents")).stdout.match(/Interrupted/g)).toHaveLength(1);
  });
});
