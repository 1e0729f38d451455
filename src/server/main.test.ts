// Tests the command line: output, streams and exit codes.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { version } from "../../package.json";
import { bun, run, temporaryDir } from "../../tests/support/process.ts";
import { openServer, type TestServer } from "../../tests/support/server.ts";
import { createCommandHandlers, listenOnControlSocket, runCommandOf } from "./control-socket.ts";

const dir = temporaryDir();
afterAll(() => dir.remove());
const berth = (args: string[], env: Record<string, string> = {}) =>
  run([bun, join(import.meta.dir, "main.ts"), ...args], env, dir.path);

function characterFile(): string {
  const path = join(dir.path, "skipper.json");
  writeFileSync(path, JSON.stringify({ name: "Skipper", bio: "Runs the harbour." }));
  return path;
}

/** Matches one line on standard error. */
const line = /^berth: [^\n]{10,300}\n$/;

test("the version and the help go to standard output", async () => {
  for (const args of [["version"], ["--version"], ["-v"]]) {
    expect(await berth(args)).toEqual({ exitCode: 0, stdout: `${version}\n`, stderr: "" });
  }
  const [help, flag] = await Promise.all([berth(["help"]), berth(["--help"])]);
  expect(help).toEqual(flag);
  expect(help.exitCode).toBe(0);
  for (const name of [
    "serve",
    "demo",
    "doctor",
    "top",
    "user",
    "ledger",
    "audit",
    "prune",
    "person",
    "backup",
    "backups",
    "restore",
    "import",
    "cells",
    "cluster",
    "upgrade",
    "restart",
    "migrate",
    "openapi",
    "health",
    "login",
    "logout",
    "agents",
    "chat",
    "logs",
    "deploy",
    "pull",
  ]) {
    expect(help.stdout).toContain(`  ${name}`);
  }
});

test("each command has its own help, which names the program as it can be called here", async () => {
  const [doctor, again, user] = await Promise.all([
    berth(["doctor", "--help"]),
    berth(["help", "doctor"]),
    berth(["user", "-h"]),
  ]);
  expect(doctor).toEqual(again);
  expect(doctor).toMatchObject({ exitCode: 0, stderr: "" });
  expect(doctor.stdout).toStartWith("Usage: ./dist/berth doctor [--all] [--online] [--plugin FILE]…\n");
  expect(doctor.stdout).toContain("--all  ");
  expect(user.stdout).toContain("./dist/berth user grant EMAIL PLAN [--days N]");
  expect(await berth(["help", "dance"])).toMatchObject({ exitCode: 2, stdout: "" });
});

test.each([
  [["dance"], /no command "dance"/],
  [["toString"], /no command "toString"/],
  [["serve", "--dance"], /--dance/],
  [["-x"], /-x/],
  [["serve", "--ready-fd", "three"], /--ready-fd .*"three"/],
  [["serve", "--plugin"], /--plugin/],
  // Nothing is accepted that the command would ignore.
  [["doctor", "--days", "5"], /doctor takes no --days\. See: \.\/dist\/berth doctor --help/],
  [["migrate", "now"], /migrate has no use for "now"/],
  [["backup", "a.db", "b.db"], /backup has no use for "b\.db"/],
  [["chat"], /Usage: \.\/dist\/berth chat AGENT/],
  [["deploy"], /Usage: \.\/dist\/berth deploy FILE/],
  [["deploy", "missing.json"], /There is no file missing\.json/],
  [["deploy", "/tmp"], /\/tmp is a folder\. Name the file in it\./],
  [["login", "ftp://berth.example.com"], /http or https/],
  [["login", "--scope", "admin"], /--scope is a list of read, write, chat/],
  [["agents", "--key", "bk_x"], /--url/],
  // A negative number is the option's, and an option without its value is named.
  [["user", "grant", "ada@example.com", "pro", "--days", "-3"], /--days takes a whole number .*"-3"/],
  [["prune", "--days", "-3"], /prune takes no --days/],
  [["prune", "--older-than", "-3d"], /--older-than is a time of at least 1d.*"-3d"/],
  [["user", "grant", "ada@example.com", "pro", "--days", "99999999"], /--days .* from 1 to 36500, .*"99999999"/],
  [["user", "grant", "ada@example.com", "pro", "--days"], /--days needs a value\./],
  [["upgrade", "new", "--key", "--unsigned"], /--key needs a value\./],
  [["prune", "--dry-run", "--compact"], /leave one out/],
  [["migrate", "--plugin", "tides.ts"], /serve migrates those of plugins/],
  [["audit", "verify", "--head", "-3"], /--head takes a number and a hash/],
  [["upgrade"], /needs the new program/],
  [["upgrade", "new", "--key", "/nokey"], /--key: there is no file \/nokey/],
  [["upgrade", "new", "--key", "/tmp"], /--key: \/tmp is a folder/],
  [["upgrade", "new", "--back"], /takes no file.*"new"/],
  [["upgrade", "--back", "--unsigned"], /neither --key nor --unsigned/],
  [["upgrade", "new", "--with-database"], /--with-database is for upgrade --back/],
  [["upgrade", "new", "--key", "k", "--unsigned"], /leave out --key/],
])("%j is not valid: exit code 2 and one line", async (args, says) => {
  const { exitCode, stdout, stderr } = await berth(args);
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
  expect(stderr).toMatch(line);
  expect(stderr).toMatch(says);
});

test.each([
  [["user"]],
  [["user", "grant", "ada@example.com"]],
  [["user", "dance", "a", "b"]],
  [["restore"]],
  [["openapi", "x"]],
])("%j lacks an argument: exit code 2 and the usage", async (args) => {
  const { exitCode, stdout, stderr } = await berth(args);
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
  expect(stderr).toMatch(/^Usage: \.\/dist\/berth /);
});

test("a failure is one line on standard error and exit code 1, without a stack", async () => {
  for (const [args, env, says] of [
    [["serve"], { PORT: "none" }, /^berth: PORT/],
    [["health"], { PORT: "1" }, /nothing answers on 127\.0\.0\.1:1/],
    [["health"], { PORT: "1", HOST: "::1" }, /nothing answers on \[::1\]:1/],
    [["restore", "missing.db"], {}, /missing\.db/],
    [["upgrade", "missing"], {}, /There is no file missing\. Name the new program\./],
    [["upgrade", "missing", "--unsigned"], {}, /There is no file missing\./],
    [["serve", "--plugin", "/tmp"], {}, /it is a folder, not a file/],
    [["import", "main.ts/x"], {}, /There is no folder or file main\.ts\/x\./],
  ] as [string[], Record<string, string>, RegExp][]) {
    const { exitCode, stdout, stderr } = await berth(args, env);
    expect({ args, exitCode, stdout }).toEqual({ args, exitCode: 1, stdout: "" });
    expect(stderr).toMatch(line);
    expect(stderr).toMatch(says);
    expect(stderr).not.toMatch(/\bat \S+[:(]|Error:/);
  }
});

test("what needs a database refuses a folder without one, and writes nothing there", async () => {
  const empty = temporaryDir();
  const character = characterFile();
  const commands = [["audit", "verify"], ["backup"], ["ledger", "check"], ["import", character]];
  try {
    const results = commands.map((args) => run([bun, join(import.meta.dir, "main.ts"), ...args], {}, empty.path));
    for (const { exitCode, stdout, stderr } of await Promise.all(results)) {
      expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
      expect(stderr).toMatch(line);
      expect(stderr).toContain(`There is no database at ${join(empty.path, "data/berth.db")}. DATA_DIR is not set`);
    }
    expect(readdirSync(empty.path)).toEqual([]);
  } finally {
    empty.remove();
  }
});

test("a preview of an import needs no service, and writes nothing", async () => {
  const empty = temporaryDir();
  try {
    const args = [bun, join(import.meta.dir, "main.ts"), "import", characterFile(), "--dry-run"];
    const { exitCode, stdout, stderr } = await run(args, {}, empty.path);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(stdout).toStartWith("Skipper would be made of an elizaOS character. Nothing was changed.\n");
    expect(readdirSync(empty.path)).toEqual([]);
  } finally {
    empty.remove();
  }
});

test("a command with which a service may begin judges its arguments first, and writes nothing for wrong ones", async () => {
  const empty = temporaryDir();
  const commands: [string[], RegExp][] = [
    [["user", "create", "notmail"], /This is not an email address\./],
    [["user", "create", "ada@example.com", "--name", "A".repeat(500)], /name/],
    [["user", "invite", "notmail"], /This is not an email address\./],
    [["user", "admin", "ada@example.com"], /There is no database at/],
    [["cells"], /There is no database at/],
  ];
  try {
    const results = commands.map(([args]) => run([bun, join(import.meta.dir, "main.ts"), ...args], {}, empty.path));
    for (const [at, { exitCode, stdout, stderr }] of (await Promise.all(results)).entries()) {
      expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
      expect(stderr).toMatch(commands[at]?.[1] ?? "");
    }
    expect(readdirSync(empty.path)).toEqual([]);
  } finally {
    empty.remove();
  }
});

test("serve names every wrong setting, a line each", async () => {
  const { exitCode, stderr } = await berth(["serve"], { PORT: "none", ROLE: "cook", LOG_LEVEL: "loud" });
  expect(exitCode).toBe(1);
  expect(stderr.trimEnd().split("\n").sort()).toEqual([
    expect.stringMatching(/^berth: LOG_LEVEL: found "loud"/),
    expect.stringMatching(/^berth: PORT: found "none"/),
    expect.stringMatching(/^berth: ROLE: found "cook"/),
  ]);
});

test("without a service, its cells are unknown; without accounts, the list says how to make one", async () => {
  const dir = temporaryDir();
  const here = (...args: string[]) => run([bun, join(import.meta.dir, "main.ts"), ...args], {}, dir.path);
  expect((await here("migrate")).exitCode).toBe(0);
  const cells = await here("cells");
  expect([cells.exitCode, cells.stdout]).toEqual([1, ""]);
  expect(cells.stderr).toStartWith("berth: No service runs on ");
  expect((await here("user", "list")).stdout).toBe(
    "There are no accounts yet. Make the first one: ./dist/berth user create EMAIL --admin\n",
  );
  expect((await here("user", "list", "--query", "ada")).stdout).toBe('No account has "ada" in its address or name.\n');
  dir.remove();
});

describe("while a service runs", () => {
  let server: TestServer;
  let control: { close(): Promise<void> };
  beforeAll(async () => {
    server = await openServer({ dir: dir.path });
    control = await listenOnControlSocket(
      server.kernel,
      runCommandOf(createCommandHandlers(server.kernel, server.app)),
    );
    await server.app.accounts.users.create({ email: "ada@example.com", passwordHash: null });
  });
  afterAll(async () => {
    await control?.close();
    await server?.[Symbol.asyncDispose]();
  });

  test("health has exit code 0 and no output", async () => {
    const { port } = new URL(server.web);
    expect(await berth(["health"], { PORT: port })).toEqual({ exitCode: 0, stdout: "", stderr: "" });
    const backend = { PORT: "1", BACKEND_PORT: new URL(server.backend).port, ROLE: "backend" };
    const split = { DATABASE_URL: "http://127.0.0.1:1", SECRET_KEY: "1".repeat(64) };
    expect((await berth(["health"], { ...backend, ...split })).exitCode).toBe(0);
  });

  test("user grant runs in the service, and prints the end of the plan", async () => {
    const { exitCode, stdout, stderr } = await berth(["user", "grant", "ada@example.com", "pro", "--days", "7"]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(stdout).toMatch(/^ada@example\.com has the plan pro until \d{4}-\d\d-\d\dT[\d:.]+Z\.\n$/);
    expect((await server.app.accounts.users.byEmail("ada@example.com"))?.plan).toBe("pro");
  });

  test("cells says that there is one", async () => {
    const { exitCode, stderr } = await berth(["cells"]);
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/^berth: The service has one cell, with all accounts and agents\./);
  });

  test("migrate is refused by the lock", async () => {
    const { exitCode, stderr } = await berth(["migrate"]);
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/Another process is using the database/);
  });
});

test("openapi prints the document without a data folder", async () => {
  const before = readdirSync(dir.path);
  const { exitCode, stdout } = await berth(["openapi", "backend"]);
  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout).openapi).toStartWith("3.1");
  expect(readdirSync(dir.path)).toEqual(before);
});

test("a slow reader gets all output, and a closed pipe is no failure", async () => {
  const piped = (reader: string) =>
    run(
      ["bash", "-o", "pipefail", "-c", `"$0" "$1" openapi web | ${reader}`, bun, join(import.meta.dir, "main.ts")],
      { PATH: "/usr/local/bin:/usr/bin:/bin" },
      dir.path,
    );
  const slow = await piped("(sleep 0.3; cat)");
  expect(JSON.parse(slow.stdout).openapi).toStartWith("3.1");
  expect({ ...(await piped("head -c 9")), stdout: "" }).toEqual({ exitCode: 0, stdout: "", stderr: "" });
});

test("doctor knows the settings of plugins, and names a file that can't be loaded", async () => {
  const dir = temporaryDir();
  const path = join(dir.path, "tides.ts");
  writeFileSync(
    path,
    `export default ({ plugin, defineSettings, withDefault, optional, parser }) => {
      const digits = parser("digits", (text) => (/^[0-9]+$/.test(text) ? Number(text) : undefined));
      defineSettings({
        name: "tides",
        variables: {
          TIDES_SECONDS: withDefault(digits, "60", "How often."),
          TIDES_KEY: optional(parser("a text", (text) => text), "The key.", "secret"),
        },
        build: (values) => values,
      });
      return plugin("tides", () => ({ service: undefined }));
    };`,
  );
  const doctor = (env: Record<string, string>, ...args: string[]) =>
    berth(["doctor", ...args], { DATA_DIR: dir.path, ...env });
  const wrong = await doctor({ PLUGINS: path, TIDES_SECONDS: "abc", TIDES_KEY: "canary-of-the-tides" });
  expect([wrong.exitCode, wrong.stdout]).toEqual([
    1,
    expect.stringContaining('✗ TIDES_SECONDS: found "abc"; allowed is digits.'),
  ]);
  expect(wrong.stdout).not.toContain("canary");
  expect((await doctor({}, "--all", "--plugin", path)).stdout).toMatch(/^. TIDES_SECONDS +default +60$/m);
  writeFileSync(path, "export default (");
  const broken = await doctor({ PLUGINS: path });
  expect([broken.exitCode, broken.stdout]).toEqual([
    1,
    expect.stringContaining(`✗ The plugin ${path} can't be loaded: `),
  ]);
  dir.remove();
});
