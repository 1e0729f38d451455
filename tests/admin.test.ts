// `berth user …` on the compiled binary: with a running service, on the database file only, and on a database server.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { type Berth, type Ran, runBerth, startBerth } from "./support/berth.ts";
import { type Client, createClient } from "./support/client.ts";
import { bun, run, temporaryDir } from "./support/process.ts";
import { expectRefusal } from "./support/refusal.ts";
import { startSqld } from "./support/sqld.ts";

const root = resolve(import.meta.dir, "..");
const program =
  Bun.env.BERTH_FROM_SOURCE === "1" ? [bun, join(root, "src/server/main.ts")] : [join(root, "dist/berth")];
const password = "correct horse battery";

interface Entry {
  actor: { kind: string; id: string | null; name: string };
  action: string;
  target: { name: string };
  address: string | null;
}

/** Expects exit code 0 and an empty standard error; returns the standard output. */
function outputOf({ exitCode, stdout, stderr }: Ran): string {
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  return stdout;
}

/** Expects exit code 1 and one line on standard error, without internals. */
function expectLine({ exitCode, stdout, stderr }: Ran, says: RegExp): void {
  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
  expect(stderr).toMatch(/^berth: [^\n]{10,300}\n$/);
  expect(stderr).toMatch(says);
  expect(stderr).not.toMatch(/\bat \S+[:(]|Error:/);
}

/** The link on the last line. */
function linkIn(text: string): string {
  const [link = ""] = /https?:\/\/\S+\/reset-password\?token=[\w-]{43}$/m.exec(text) ?? [];
  expect(link).not.toBe("");
  return link;
}
const tokenIn = (text: string) => new URL(linkIn(text)).searchParams.get("token") ?? "";

/** `berth user create … --password-stdin`, with this on standard input. */
const createWith = (input: string, args: string[], env: Record<string, string>, dir: string) =>
  run(
    [
      "/bin/sh",
      "-c",
      'printf "%s\\n" "$INPUT" | "$@"',
      "sh",
      ...program,
      "user",
      "create",
      ...args,
      "--password-stdin",
    ],
    { ...env, INPUT: input },
    dir,
  );

describe("beside a running service", () => {
  let berth: Berth;
  let admin: Client;
  beforeAll(async () => {
    berth = await startBerth({ env: { RATE_LIMITS: "off" } });
    admin = createClient(berth);
    await admin.signUp({ email: "root@example.com" });
    outputOf(await berth.command("user", "admin", "root@example.com"));
    await admin.signIn();
  });
  afterAll(() => berth?.[Symbol.asyncDispose]());

  const signIn = (email: string, with_ = password) =>
    createClient(berth).post("/api/auth/callback/credentials", { email, password: with_ });
  const entriesOf = async (email: string) =>
    (await admin.get<{ entries: Entry[] }>(`/api/admin/audit?user=${email}`)).body.entries.reverse();

  test("create without a password prints a link that works once to set it", async () => {
    const made = outputOf(await berth.command("user", "create", " Ada@Example.com", "--name", "Ada"));
    expect(made).toStartWith("ada@example.com has an account.\n");
    expect(linkIn(made)).toStartWith(berth.web.replace("127.0.0.1", "localhost"));
    expectRefusal(await signIn("ada@example.com"), 401, "BAD_CREDENTIALS");
    const token = tokenIn(made);
    const reset = () => createClient(berth).post("/api/auth/reset-password", { token, password });
    expect((await reset()).status).toBe(200);
    expectRefusal(await reset(), 400);
    expect((await signIn("ada@example.com")).status).toBe(200);
    const { stdout, stderr } = berth.output();
    expect(stdout + stderr).not.toContain(token);
  });

  test("create reads a password from standard input and shows it nowhere", async () => {
    const args = ["grace@example.com", "--admin"];
    expect(outputOf(await createWith(password, args, berth.env, berth.dir))).toBe(
      "grace@example.com has an account, and is an admin.\n",
    );
    expect((await signIn("grace@example.com")).status).toBe(200);
    expectLine(await createWith("short", ["other@example.com"], berth.env, berth.dir), /at least 8 characters/);
    const { stdout, stderr } = berth.output();
    const disk = readdirSync(join(berth.dir, "data"), { recursive: true, encoding: "utf8" })
      .map((name) => join(berth.dir, "data", name))
      .filter((path) => statSync(path).isFile())
      .map((path) => readFileSync(path, "latin1"));
    expect([stdout, stderr, ...disk].filter((text) => text.includes(password))).toEqual([]);
  });

  test("disable, enable, reset, admin on and off take effect at once, each with one audit log entry", async () => {
    const email = "eve@example.com";
    const eve = createClient(berth);
    await eve.join({ email });
    expect(outputOf(await berth.command("user", "disable", email))).toBe(`${email} is disabled.\n`);
    expectRefusal(await eve.get("/api/settings"), 401, "UNAUTHORIZED");
    expectRefusal(await signIn(email), 403, "ACCOUNT_DISABLED");
    expectLine(await berth.command("user", "reset-password", email), /disabled/);
    expect(outputOf(await berth.command("user", "enable", email))).toBe(`${email} is enabled.\n`);
    expect(outputOf(await berth.command("user", "enable", email))).toBe(`${email} is enabled.\n`);

    const token = tokenIn(outputOf(await berth.command("user", "reset-password", email)));
    const fresh = "another good password";
    expect((await eve.post("/api/auth/reset-password", { token, password: fresh })).status).toBe(200);
    expectRefusal(await signIn(email), 401, "BAD_CREDENTIALS");
    await eve.signIn({ password: fresh });

    expectRefusal(await eve.get("/api/admin/users"), 403, "ADMIN_REQUIRED");
    expect(outputOf(await berth.command("user", "admin", email))).toBe(`${email} is an admin.\n`);
    expect((await eve.get("/api/admin/users")).status).toBe(200);
    expect(outputOf(await berth.command("user", "admin", email, "--off"))).toBe(`${email} is no admin.\n`);
    expectRefusal(await eve.get("/api/admin/users"), 403, "ADMIN_REQUIRED");
    outputOf(await berth.command("user", "grant", email, "starter", "--days", "3"));

    const entries = (await entriesOf(email)).filter(({ actor }) => actor.kind === "command");
    expect(entries.map(({ action }) => action)).toEqual([
      "user.disable",
      "user.enable",
      "user.reset-password",
      "user.promote",
      "user.demote",
      "subscription.set",
    ]);
    for (const { actor, address } of entries) {
      expect({ actor, address }).toEqual({
        actor: { kind: "command", id: null, name: expect.stringMatching(/./) },
        address: null,
      });
    }
    expect(JSON.stringify(entries)).not.toContain(token);
  });

  test("two-factor-off allows sign-in without a code, with one audit log entry", async () => {
    const ada = createClient(berth);
    const { email } = await ada.signUp({ password });
    await ada.signIn();
    expectLine(await berth.command("user", "two-factor-off", email), /has no second factor/);
    const { body } = await ada.post<{ secret: string }>("/api/settings/2fa", { password });
    const { Secret, TOTP } = await import("otpauth");
    const code = new TOTP({ secret: Secret.fromBase32(body.secret) }).generate();
    expect((await ada.post("/api/settings/2fa/confirm", { code })).status).toBe(200);
    expectRefusal(await signIn(email), 401, "TOTP_REQUIRED");

    expect(outputOf(await berth.command("user", "two-factor-off", email))).toBe(
      `${email} signs in without a second factor.\n`,
    );
    expect((await signIn(email)).status).toBe(200);
    expect((await ada.get("/api/settings")).body).toMatchObject({ twoFactorEnabled: false });
    expectLine(await berth.command("user", "two-factor-off", email), /has no second factor/);
    const byCommand = (await entriesOf(email)).filter(({ actor }) => actor.kind === "command");
    expect(byCommand.map(({ action }) => action)).toEqual(["user.two-factor-off"]);
  });

  test("list prints a table or JSON", async () => {
    const table = outputOf(await berth.command("user", "list"));
    const [head = "", ...lines] = table.trimEnd().split("\n");
    expect(head).toMatch(/^EMAIL +NAME +PLAN +STATE +SINCE$/);
    expect(lines.length).toBeGreaterThanOrEqual(4);
    const eve = lines.find((line) => line.startsWith("eve@example.com"));
    expect(eve).toMatch(/ starter until \d{4}-\d\d-\d\d +/);
    expect(lines.find((line) => line.startsWith("grace@example.com"))).toMatch(/ admin +\d{4}-\d\d-\d\d$/);
    const found = JSON.parse(outputOf(await berth.command("user", "list", "--query", "GRACE", "--json")));
    expect(found).toMatchObject([{ email: "grace@example.com", isAdmin: true, disabled: false }]);
    expect(JSON.stringify(found)).not.toMatch(/hash|argon/i);
    const none = outputOf(await berth.command("user", "list", "--query", "nobody"));
    expect(none).toBe('No account has "nobody" in its address or name.\n');
  });

  test.each(["grant", "admin", "disable", "enable", "reset-password", "two-factor-off"])(
    "%s for an unknown account prints one line",
    async (action) => {
      const plan = action === "grant" ? ["pro"] : [];
      const ran = await berth.command("user", action, "nobody@example.com", ...plan);
      expectLine(ran, /^berth: There is no account with this email\.\n$/);
    },
  );

  test("invite prints a link for an address without an account", async () => {
    const printed = outputOf(await berth.command("user", "invite", "Guest@example.com"));
    expect(printed).toMatch(
      /^The owner of guest@example\.com signs up here, once, within a week:\nhttp\S+\/register\?invitation=[\w-]{43}&email=guest%40example\.com\n$/,
    );
    expectLine(await berth.command("user", "invite", "root@example.com"), /exists already/);
    expectLine(await berth.command("user", "invite", "guest"), /not an email address/);
  });

  test("a taken or malformed address prints one line", async () => {
    expectLine(await berth.command("user", "create", "root@example.com"), /exists already/);
    expectLine(await berth.command("user", "create", "root"), /not an email address/);
    expectLine(await berth.command("user", "create", "a@example.com", "--name", "x\ny"), /one line/);
    expectLine(await berth.command("user", "grant", "root@example.com", "gold"), /Unknown plan "gold"/);
  });

  test.each([
    [[], 11],
    [["dance"], 11],
    [["create"], 1],
    [["create", "a@example.com", "a password"], 1],
    [["disable"], 1],
    [["disable", "a@example.com", "--json"], 1],
    [["list", "x"], 1],
    [["grant", "a@example.com"], 1],
  ])("%j is no command: exit code 2 and how it is used", async (words, count) => {
    const { exitCode, stdout, stderr } = await berth.command("user", ...words);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    expect(stderr).toMatch(/^Usage: \S*berth user /);
    expect(stderr.match(/berth user /g)).toHaveLength(count);
  });
});

describe("while no service runs", () => {
  /** Runs every change of an account by commands only; returns the token of its last link. */
  async function runCommands(env: Record<string, string>, dir: string): Promise<string> {
    const user = (...args: string[]) => runBerth(["user", ...args], env, dir);
    const email = "ada@example.com";
    const made = outputOf(await user("create", email, "--admin"));
    expect(made).toContain("is an admin");
    expectLine(await user("create", email), /exists already/);
    outputOf(await user("grant", email, "pro"));
    outputOf(await user("disable", email));
    expect(outputOf(await user("list"))).toMatch(/ada@example\.com .* pro until .* disabled, admin /);
    outputOf(await user("enable", email));
    expectLine(await user("disable", "nobody@example.com"), /no account with this email/);
    // Disabling has invalidated the first link.
    return tokenIn(outputOf(await user("reset-password", email)));
  }

  /** Expects the changes in a service that starts afterwards. */
  async function expectAlive(berth: Berth, token: string): Promise<void> {
    const ada = createClient(berth);
    expect((await ada.post("/api/auth/reset-password", { token, password })).status).toBe(200);
    await ada.post("/api/auth/callback/credentials", { email: "ada@example.com", password });
    expect((await ada.get("/api/settings")).body).toMatchObject({ plan: "pro", isAdmin: true, emailVerified: true });
    const { body } = await ada.get<{ entries: Entry[] }>("/api/admin/audit");
    const byCommand = body.entries.filter(({ actor }) => actor.kind === "command");
    expect(byCommand.map(({ action }) => action).reverse()).toEqual([
      "user.create",
      "subscription.set",
      "user.disable",
      "user.enable",
      "user.reset-password",
    ]);
  }

  test("commands work on the database file", async () => {
    const dir = temporaryDir();
    const env = { LOG_FORMAT: "json" };
    const token = await runCommands(env, dir.path);
    {
      await using berth = await startBerth({ dir: dir.path, env });
      await expectAlive(berth, token);
    }
    dir.remove();
  });

  test("commands work on a database server", async () => {
    const sqld = await startSqld({ isEmpty: true });
    const dir = temporaryDir();
    try {
      const env = { DATABASE_URL: sqld.url };
      const token = await runCommands(env, dir.path);
      await using berth = await startBerth({ dir: dir.path, env });
      await expectAlive(berth, token);
    } finally {
      await sqld.stop();
      dir.remove();
    }
  });
});
