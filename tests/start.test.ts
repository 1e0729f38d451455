// Failing starts: one clear line on standard error, a non-zero exit code, and no change on disk; and third-party plugins.

import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  chmodSync,
  chownSync,
  copyFileSync,
  cpSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { testedBlocks } from "../site/tested-blocks.ts";
import { runBerth, startBerth } from "./support/berth.ts";
import { createClient } from "./support/client.ts";
import { eventually } from "./support/eventually.ts";
import { member, provision } from "./support/members.ts";
import { launch, run, temporaryDir } from "./support/process.ts";
import { changed } from "./support/program.ts";
import { expectRefusal } from "./support/refusal.ts";
import { outputDifference } from "./support/shown-output.ts";

const root = resolve(import.meta.dir, "..");
const path = { PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" };
const quiet = { PORT: "0", BACKEND_PORT: "0", LOG_FORMAT: "json" };

/** Every file of a folder with its mode and content, except SQLite's shared memory, which is temporary. */
function snapshot(dir: string): Record<string, string> {
  const seen: Record<string, string> = {};
  for (const name of readdirSync(dir, { recursive: true, encoding: "utf8" })) {
    const path = join(dir, name);
    const about = statSync(path);
    if (name.endsWith("-shm")) continue;
    const content = about.isFile() ? Bun.hash(readFileSync(path)).toString(36) : "";
    seen[name] = `${(about.mode & 0o7777).toString(8)} ${content}`;
  }
  return seen;
}

/** Expects one line of text: no stack trace, no JSON. */
function expectOneLine(
  { exitCode, stdout, stderr }: { exitCode: number; stdout: string; stderr: string },
  says: RegExp,
) {
  expect(exitCode).not.toBe(0);
  expect(exitCode).toBeLessThan(128);
  expect(stderr).toMatch(/^berth: [^\n]{10,400}\n$/);
  expect(stderr).toMatch(says);
  expect(stderr).not.toMatch(/\bat \S+[:(]|\$bunfs|\bError:|\[object|undefined/);
  expect(stdout).toBe("");
}

/** A used data folder with an account, an agent and a message. */
let used: { path: string; remove(): void };
beforeAll(async () => {
  used = temporaryDir();
  const berth = await startBerth({ dir: used.path });
  const ada = await member(berth);
  await provision(ada);
  await ada.post("/api/agent", { message: "Hello" });
  await berth.stop();
});
afterAll(() => used?.remove());

/** Copies the used folder. */
function copyOfUsed() {
  const dir = temporaryDir();
  cpSync(join(used.path, "data"), join(dir.path, "data"), { recursive: true });
  return { path: dir.path, database: join(dir.path, "data/berth.db"), [Symbol.dispose]: () => dir.remove() };
}

/** Expects that a start in `dir` fails and changes nothing. */
async function refused(dir: string, says: RegExp, env: Record<string, string> = {}, args: string[] = []) {
  const before = snapshot(dir);
  const ran = await runBerth(["serve", ...args], { ...quiet, ...env }, dir);
  expectOneLine(ran, says);
  expect(snapshot(dir)).toEqual(before);
  return ran;
}

describe("an unusable database:", () => {
  function overwrite(path: string, at: number, bytes: Uint8Array) {
    const file = openSync(path, "r+");
    writeSync(file, bytes, 0, bytes.length, at);
  }
  const noise = (length: number) => crypto.getRandomValues(new Uint8Array(length));

  test("damaged pages", async () => {
    using dir = copyOfUsed();
    overwrite(dir.database, 4096, noise(16 * 4096));
    await refused(dir.path, /damaged.*berth restore/);
  });

  test("a damaged header, a text file, a truncated file", async () => {
    using header = copyOfUsed();
    overwrite(header.database, 0, noise(100));
    await refused(header.path, /damaged/);
    using text = copyOfUsed();
    writeFileSync(text.database, "This is no database. ".repeat(100));
    await refused(text.path, /damaged/);
    using cut = copyOfUsed();
    writeFileSync(cut.database, readFileSync(cut.database).subarray(0, 8192));
    await refused(cut.path, /damaged/);
  });

  test("written by a newer version", async () => {
    using dir = copyOfUsed();
    const database = new Database(dir.database);
    database.run("INSERT INTO migrations (name, applied_at) VALUES ('9999_from_the_future', 0)");
    database.run("PRAGMA journal_mode = DELETE");
    database.close();
    await refused(dir.path, /newer version.*9999_from_the_future/);
  });

  test("of another program", async () => {
    using dir = copyOfUsed();
    writeFileSync(dir.database, "");
    const database = new Database(dir.database);
    database.run("CREATE TABLE songs (title TEXT)");
    database.close();
    await refused(dir.path, /another program/);
  });

  test("after the original file is restored, the service starts with all data", async () => {
    using dir = copyOfUsed();
    const good = readFileSync(dir.database);
    overwrite(dir.database, 4096, noise(16 * 4096));
    await refused(dir.path, /damaged/);
    writeFileSync(dir.database, good);
    await using berth = await startBerth({ dir: dir.path });
    expect((await fetch(`${berth.backend}/readyz`)).status).toBe(200);
  });
});

describe("a folder that can't be written", () => {
  /** The user `nobody`, since file modes do not stop root, who may run the tests. */
  const unprivileged = 65_534;
  const asRoot = process.getuid?.() === 0;
  let open: { path: string; remove(): void };
  let binary: string;
  beforeAll(() => {
    open = temporaryDir();
    chmodSync(open.path, 0o755);
    binary = join(open.path, "berth");
    copyFileSync(join(import.meta.dir, "../dist/berth"), binary);
    chmodSync(binary, 0o755);
  });
  afterAll(() => open.remove());
  const asSomeone = (dir: string, env: Record<string, string> = {}) => {
    const drop = asRoot
      ? ["setpriv", `--reuid=${unprivileged}`, `--regid=${unprivileged}`, "--clear-groups", "--"]
      : [];
    return run([...drop, binary, "serve"], { PATH: "/usr/bin:/bin", ...quiet, ...env }, dir);
  };

  test("a working folder without write permission: no file is created", async () => {
    const dir = temporaryDir();
    chmodSync(dir.path, 0o555);
    expectOneLine(await asSomeone(dir.path), /data can't be written .*DATA_DIR/);
    expect(readdirSync(dir.path)).toEqual([]);
    chmodSync(dir.path, 0o755);
    dir.remove();
  });

  test("a full disk is one line, however much room there was", async () => {
    for (const size of ["4k", "12k", "24k", "100k", "600k"]) {
      const dir = temporaryDir();
      // Only root may mount a file system of its own; elsewhere there is no small disk to fill.
      const mounted = await run(["mount", "-t", "tmpfs", "-o", `size=${size}`, "tmpfs", dir.path], path, "/");
      if (mounted.exitCode !== 0) return dir.remove();
      try {
        expectOneLine(await runBerth(["serve"], quiet, dir.path), /^berth: The .*(full)/);
      } finally {
        await run(["umount", dir.path], path, "/");
        dir.remove();
      }
    }
  });

  test("a used data folder that is now read-only: no byte is changed", async () => {
    using dir = copyOfUsed();
    const data = join(dir.path, "data");
    for (const name of readdirSync(data)) {
      if (asRoot) chownSync(join(data, name), unprivileged, unprivileged);
    }
    if (asRoot) chownSync(data, unprivileged, unprivileged);
    chmodSync(dir.path, 0o755);
    chmodSync(data, 0o555);
    const before = snapshot(dir.path);
    expectOneLine(await asSomeone(dir.path), /can't be written/);
    expect(snapshot(dir.path)).toEqual(before);

    chmodSync(data, 0o755);
    chmodSync(dir.database, 0o444);
    const again = snapshot(dir.path);
    expectOneLine(await asSomeone(dir.path), /can't be (?:opened|written)/);
    expect(snapshot(dir.path)["data/berth.db"]).toBe(again["data/berth.db"] ?? "");
  });

  test("a data folder below a file", async () => {
    using dir = copyOfUsed();
    writeFileSync(join(dir.path, "file"), "x");
    await refused(dir.path, /can't be written .*DATA_DIR/, { DATA_DIR: "./file/data" });
    await refused(dir.path, /can't be written .*DATA_DIR/, { DATA_DIR: "./file" });
  });
});

describe("already in use:", () => {
  test("a port of another Berth", async () => {
    const dir = temporaryDir();
    await using first = await startBerth({ isEmpty: true });
    const { port } = new URL(first.web);
    await refused(dir.path, new RegExp(`^berth: PORT: .*${port}.* in use`), { PORT: port });
    expect(readdirSync(dir.path)).toEqual([]);
    dir.remove();
  });

  test("a port of another program, on either listener: no file is created", async () => {
    const dir = temporaryDir();
    const taken = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("mine") });
    await refused(dir.path, new RegExp(`^berth: PORT: .*${taken.port}.* in use`), { PORT: String(taken.port) });
    await refused(dir.path, /^berth: BACKEND_PORT: .* in use/, { BACKEND_PORT: String(taken.port) });
    expect(readdirSync(dir.path)).toEqual([]);
    await taken.stop(true);
    dir.remove();
  });

  test("a database file: a second process fails and the first goes on; after a kill the file is free", async () => {
    await using first = await startBerth({ isEmpty: true });
    const ada = await member(first);
    const second = await runBerth(["serve"], quiet, first.dir);
    expectOneLine(second, /Another process is using the database/);
    expect((await ada.post("/api/agents/provision", { name: "Still here" })).status).toBe(201);
    // The control socket still belongs to the first process.
    await ada.grant("enterprise");
    expect((await ada.get("/api/settings")).body).toMatchObject({ plan: "enterprise" });

    await first.kill();
    await first.restart();
    expect((await ada.get<{ count: number }>("/api/agents")).body.count).toBe(1);
  });
});

describe("invalid settings", () => {
  const bad: [string, string][] = [
    ["PORT", "abc"],
    ["PORT", "70000"],
    ["ROLE", "both"],
    ["BASE_URL", "not a url"],
    ["RATE_LIMITS", '{"sign-up":"often"}'],
    ["RATE_LIMITS", '{"sign-upp":"1/m"}'],
    ["TRUSTED_PROXIES", "10.0.0.0/99"],
    ["SHUTDOWN_GRACE", "soon"],
    ["SIGNUP_TRIAL", "gold:7d"],
    ["LOG_LEVEL", "loud"],
    ["MODEL_A", "best"],
    ["PROVIDER_3_BASE_URL", "ftp://x"],
    ["CHANNEL_A_MODE", "pigeon"],
    ["AI_PUBLIC_BUDGET_USD_PER_DAY", "-1"],
    ["DATABASE_URL", "mysql://x"],
    ["GATING_TOKEN_ADDRESS", "0x12"],
  ];

  test("each invalid variable is named with its value", async () => {
    const dir = temporaryDir();
    for (const [name, value] of bad) {
      const { stderr } = await refused(dir.path, new RegExp(`^berth: ${name}\\b`), { [name]: value });
      expect(stderr).toContain(JSON.stringify(value).slice(1, 12));
    }
    expect(readdirSync(dir.path)).toEqual([]);
    dir.remove();
  });

  test("a .env file counts like the environment, and a secret in an invalid value is not repeated", async () => {
    const dir = temporaryDir();
    writeFileSync(join(dir.path, ".env"), "PORT=abc\n");
    const env = { BACKEND_PORT: "0" };
    expectOneLine(await runBerth(["serve"], env, dir.path), /^berth: PORT\b/);
    writeFileSync(join(dir.path, ".env"), "DATABASE_URL=mysql://user:canary-password@host/db\n");
    const ran = await runBerth(["serve"], quiet, dir.path);
    expectOneLine(ran, /^berth: DATABASE_URL\b/);
    expect(ran.stderr).not.toContain("canary-password");
    expect(readdirSync(dir.path)).toEqual([".env"]);
    dir.remove();
  });

  test("a SECRET_KEY other than the database's, by variable or by file", async () => {
    using dir = copyOfUsed();
    const other = "f".repeat(64);
    await refused(dir.path, /SECRET_KEY is not the one/, { SECRET_KEY: other });
    writeFileSync(join(dir.path, "data/secret.key"), `${other}\n`);
    await refused(dir.path, /SECRET_KEY is not the one/);
    writeFileSync(join(dir.path, "data/secret.key"), "no key\n");
    await refused(dir.path, /secret\.key holds no key/);
  });

  test("split roles without a database server and a key", async () => {
    const dir = temporaryDir();
    for (const ROLE of ["web", "backend"]) {
      await refused(dir.path, /^berth: ROLE: .*remote DATABASE_URL and an explicit SECRET_KEY/, { ROLE });
      await refused(dir.path, /^berth: ROLE: /, { ROLE, SECRET_KEY: "f".repeat(64) });
      await refused(dir.path, /^berth: ROLE: /, { ROLE, DATABASE_URL: "http://127.0.0.1:1" });
    }
    expect(readdirSync(dir.path)).toEqual([]);
    dir.remove();
  });

  test("an unreachable database server", async () => {
    const dir = temporaryDir();
    const ran = await runBerth(["serve"], { ...quiet, DATABASE_URL: "http://127.0.0.1:1" }, dir.path);
    expectOneLine(ran, /database/i);
    expect(existsSync(join(dir.path, "data/berth.db"))).toBe(false);
    dir.remove();
  });

  test("an unknown command, and an unknown flag", async () => {
    expectOneLine(await runBerth(["dance"]), /no command "dance"/);
    expectOneLine(await runBerth(["serve", "--dance"]), /--dance/);
  });
});

describe("third-party plugins", () => {
  const hello = `export default ({ plugin, Elysia, t, AppError, openRoutes }) =>
    plugin("hello", ({ kernel }) => ({
      service: {},
      web: new Elysia({ name: "hello" })
        .use(openRoutes)
        .get("/hello/:name", ({ params }) => ({ hello: params.name, role: kernel.config.role }), { open: true })
        .post("/hello", ({ body }) => ({ hello: body.name }), { open: true, body: t.Object({ name: t.String() }) })
        .get("/teapot", () => { throw new AppError(418, "TEAPOT", "I am a teapot."); }, { open: true }),
      start: () => kernel.log.info("hello has started"),
      stop: () => kernel.log.info("hello has stopped"),
    }));`;

  test("from disk are loaded by --plugin and by PLUGINS, under the same rules as built-in ones", async () => {
    const dir = temporaryDir();
    writeFileSync(join(dir.path, "hello.ts"), hello);
    for (const how of [{ args: ["--plugin", "./hello.ts"] }, { env: { PLUGINS: join(dir.path, "hello.ts") } }]) {
      await using berth = await startBerth({ dir: dir.path, ...how });
      const client = createClient(berth);
      expect((await client.get("/hello/Ada")).body).toEqual({ hello: "Ada", role: "all" });
      expect((await client.post("/hello", { name: "Ada" })).body).toEqual({ hello: "Ada" });
      expectRefusal(await client.post("/hello", { name: 1 }), 400, "INVALID_INPUT");
      expectRefusal(await client.get("/teapot"), 418, "TEAPOT");
      expect((await client.get("/swagger/json")).text).toContain('"/hello/{name}"');
      expect(await berth.stop()).toBe(0);
      expect(berth.output().stderr).toContain("hello has started");
      expect(berth.output().stderr).toContain("hello has stopped");
    }
    dir.remove();
  });

  test("an unhandled rejection in a plugin is logged; the service goes on", async () => {
    const dir = temporaryDir();
    const careless = `export default ({ plugin, Elysia, openRoutes }) =>
      plugin("careless", () => ({
        service: {},
        web: new Elysia().use(openRoutes).get("/stray", () => { Promise.reject(new Error("a stray")); return "ok"; }, { open: true }),
      }));`;
    writeFileSync(join(dir.path, "careless.ts"), careless);
    await using berth = await startBerth({ dir: dir.path, args: ["--plugin", "./careless.ts"] });
    const client = createClient(berth);
    expect((await client.get("/stray")).status).toBe(200);
    await eventually(() => berth.output().stderr.includes("a stray"));
    const line =
      berth
        .output()
        .stderr.split("\n")
        .find((text) => text.includes("a stray")) ?? "";
    expect(JSON.parse(line)).toMatchObject({ level: "error", error: { message: "a stray" } });
    expect((await client.get("/readyz")).status).toBe(200);
    expect(await berth.stop()).toBe(0);
    dir.remove();
  });

  test("an uncaught exception ends the service with one redacted log line, whatever secrets the error holds", async () => {
    const dir = temporaryDir();
    const crashing = `export default ({ plugin, Elysia, openRoutes }) =>
      plugin("crashing", () => ({
        service: {},
        web: new Elysia().use(openRoutes).get("/crash", () => {
          setTimeout(() => {
            const cause = Object.assign(new Error("at http://h/bot?access_token=canary-in-url"), {
              headers: { authorization: "canary-in-header" },
            });
            throw new Error("it fell: Bearer canary-bearer-token, " + process.env.METRICS_TOKEN, { cause });
          });
          return "ok";
        }, { open: true }),
      }));`;
    writeFileSync(join(dir.path, "crashing.ts"), crashing);
    const env = { METRICS_TOKEN: "canary-operator-0123456789", LOG_LEVEL: "debug" };
    await using berth = await startBerth({ dir: dir.path, env, args: ["--plugin", "./crashing.ts"] });
    await fetch(`${berth.web}/crash`).catch(() => undefined);
    await eventually(() => !berth.running);
    const { stdout, stderr } = berth.output();
    expect(stdout + stderr).not.toContain("canary");
    const lines = stderr.split("\n").filter((line) => line.includes("it fell"));
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0] ?? "")).toMatchObject({ level: "error", error: { cause: { name: "Error" } } });

    await berth.restart();
    expect((await fetch(`${berth.web}/readyz`)).status).toBe(200);
    await berth.stop("SIGABRT");
    expect(berth.output().stdout + berth.output().stderr).not.toContain("canary");
    dir.remove();
  });

  test("a plugin that can't be loaded stops the start with its name and the reason", async () => {
    const dir = temporaryDir();
    const broken: [name: string, source: string, says: RegExp][] = [
      ["syntax.ts", "export default (", /syntax\.ts/],
      ["throws.ts", 'throw new Error("no licence");', /throws\.ts.*no licence/],
      ["nothing.ts", "export const x = 1;", /nothing\.ts.*default export/],
      ["other.ts", "export default () => ({});", /other\.ts.*plugin\(name, setup\)/],
    ];
    for (const [name, source] of broken) writeFileSync(join(dir.path, name), source);
    for (const [name, , says] of broken) await refused(dir.path, says, {}, ["--plugin", `./${name}`]);
    await refused(dir.path, /missing\.ts/, {}, ["--plugin", "./missing.ts"]);
    writeFileSync(join(dir.path, "secret.ts"), 'throw new Error("no answer of http://h/?api_key=canary-in-url");');
    const { stderr } = await runBerth(["serve", "--plugin", "./secret.ts"], quiet, dir.path);
    expect(stderr).toContain("api_key=[redacted]");
    expect(stderr).not.toContain("canary");
    expect(existsSync(join(dir.path, "data"))).toBe(false);
    dir.remove();
  });

  test("a plugin whose setup or start fails stops the start likewise", async () => {
    const dir = temporaryDir();
    const failing = {
      "setup.ts": 'export default ({ plugin }) => plugin("odd", () => { throw new Error("no berth free"); });',
      "start.ts":
        'export default ({ plugin }) => plugin("odd", () => ({ service: {}, start() { throw new Error("no berth free"); } }));',
    };
    for (const [name, source] of Object.entries(failing)) {
      writeFileSync(join(dir.path, name), source);
      expectOneLine(await runBerth(["serve", "--plugin", `./${name}`], quiet, dir.path), /odd.*no berth free/);
    }
    dir.remove();
  });
});

describe("npm start", () => {
  /** A copy of the project that has nothing installed. */
  function freshCopy() {
    const dir = temporaryDir();
    for (const name of ["package.json", "bun.lock", "scripts"]) {
      cpSync(join(root, name), join(dir.path, name), { recursive: true });
    }
    return { path: dir.path, [Symbol.dispose]: () => dir.remove() };
  }

  test("without a registry fails in seconds, with a sentence", async () => {
    using copy = freshCopy();
    // A port of this machine where nothing listens.
    const env = { ...path, HOME: copy.path, npm_config_registry: "http://127.0.0.1:9/" };
    const startedAt = performance.now();
    const { exitCode, stderr } = await run(["node", "scripts/start.mjs"], env, copy.path);
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/^berth: The npm registry http:\/\/127\.0\.0\.1:9\/ can't be reached .*\n$/);
    // Without the check, npm tries for minutes.
    expect(performance.now() - startedAt).toBeLessThan(15_000);
    expect(existsSync(join(copy.path, "node_modules"))).toBe(false);
  });

  test("serves, as README.md and docs/start.md say, and prints what docs/start.md shows", async () => {
    const [command, shown] = testedBlocks(import.meta.path, "docs/start.md", 2);
    const [same] = testedBlocks(import.meta.path, "README.md", 1);
    expect(same.code).toBe(command.code);
    const dir = temporaryDir();
    const env = { PATH: process.env.PATH ?? path.PATH, HOME: dir.path, DATA_DIR: join(dir.path, "data"), ...quiet };
    const child = launch({ command: ["bash", "-c", command.code], env, dir: root });
    await eventually(() => child.output().stdout.includes("Try it"), { timeoutMs: 30_000, what: "it is ready" });
    const { stdout } = child.output();
    child.signal("SIGTERM");
    await child.exited;
    dir.remove();
    const own = changed(shown.code, { "/home/ada/berth": dir.path, "./berth demo": "./dist/berth demo" });
    expect(outputDifference(own, stdout.slice(stdout.indexOf("  Berth is ready")))).toBeUndefined();
  });
});
