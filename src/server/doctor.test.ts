// Tests the report of `berth doctor`: sources, masked secrets and problems.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Environment, inspectConfig } from "../kernel/config/config.ts";
import { openConnection } from "../kernel/database/connection.ts";
import { createVault } from "../kernel/security/vault.ts";
import { backupReport, scheduleFindings } from "./backups/backup-report.ts";
import { doctorReport, verdictOf } from "./doctor.ts";
import { allSettings } from "./settings.ts";

/** Those that repeat others are shown only where they are set. */
const variableNames = allSettings.flatMap(({ variables }) =>
  Object.keys(variables).filter((name) => variables[name]?.repeats === undefined),
);

const folder = mkdtempSync(join(tmpdir(), "berth-doctor-"));
afterAll(() => rmSync(folder, { recursive: true }));

const report = (
  env: Environment,
  dotenv: string | false = false,
  options: { all?: boolean; isServed?: boolean } = {},
) => doctorReport(env, folder, { dotenv, terminal: false, ...options });
const row = (text: string, name: string) => text.split("\n").find((line) => line.slice(2).startsWith(`${name} `));

test("only what is set is shown, unless all is asked for", () => {
  const { text } = report({ PORT: "4000" }, "HOST=127.0.0.2");
  expect(row(text, "PORT")).toMatch(/environment +4000$/);
  expect(row(text, "HOST")).toMatch(/\.env file +127\.0\.0\.2$/);
  expect(row(text, "BASE_URL")).toBeUndefined();
  expect(text).toContain(
    `${variableNames.length - 2} settings have their default: ./dist/berth doctor --all shows them.`,
  );
  expect(report({}, "", { all: true }).text).not.toContain("--all");
});

test("an empty environment is valid, and every variable can be shown", () => {
  const { text, exitCode } = report({}, false, { all: true });
  expect(exitCode).toBe(0);
  expect(text).not.toContain("wrong");
  expect(verdictOf(text)).toMatch(/^Nothing prevents a start, but see the \d+ warnings? above\.$/);
  expect(text).toContain("the demo model, answers");
  // The first column marks a finding, such as a port that another program uses.
  for (const name of variableNames) expect(text).toMatch(new RegExp(`^. ${name} `, "m"));
  expect(row(text, "BASE_URL")).toMatch(/ default +http:\/\/localhost:3000$/);
  expect(row(text, "SMTP_URL")).toEndWith("not set");
  expect(readdirSync(folder)).toEqual([]);
});

test("with a provider's key, what may be used without paying is shown, also if it is a default", () => {
  const { text } = report({ PROVIDER_4_API_KEY: "k", AI_PUBLIC_BUDGET_USD_PER_DAY: "0.5" });
  expect(text).toContain("together use 5 USD a day (AI_UNPAID_BUDGET_USD_PER_DAY)");
  expect(text).toContain("without an account 0.5 USD (AI_PUBLIC_BUDGET_USD_PER_DAY)");
  expect(report({ AI_UNPAID_BUDGET_USD_PER_DAY: "7", PROVIDER_5_API_KEY: "k" }).text).toContain("together use 7 USD");
  expect(report({ PROVIDER_3_BASE_URL: "http://127.0.0.1:9/v1" }).text).not.toContain("AI_UNPAID_BUDGET_USD_PER_DAY");
});

test("the limit of open files and connections is shown", () => {
  const limit = /^Max open files +(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1];
  expect(report({}).text).toMatch(
    new RegExp(`^At most ${limit} open files and connections, \\d+ connections of one`, "m"),
  );
  expect(report({ CONNECTIONS_PER_ADDRESS: "7" }).text).toContain(", 7 connections of one address.");
  expect(report({ CONNECTIONS_PER_ADDRESS: "0" })).toMatchObject({ exitCode: 1 });
});

test("columns are aligned", () => {
  const { text } = report({ PORT: "4000" }, false, { all: true });
  const columns = ["PORT", "VERIFY_ATTESTATION_SCHEMAS"].map((name) => row(text, name)?.search(/environment|default/));
  expect(columns[0]).toBe(columns[1]);
});

test("secrets are masked, also in URLs and in invalid values", () => {
  const canary = "canary-5b1f0c77d2";
  const { text } = report({
    SECRET_KEY: `${canary}-0123456789abcdef`,
    PROVIDER_1_API_KEY: canary,
    PROVIDER_2_BASE_URL: `https://ann:${canary}@ai.example/v1`,
    SMTP_URL: `smtp://ann:${canary}@mail.example:587`,
    MAINNET_RPC_URL: `https://rpc.example/v2/${canary}`,
    DATABASE_URL: `libsql://db.example?authToken=${canary}`,
    WEBHOOK_URL: `https://hooks.example/${canary}`,
    SECRET_KEY_PREVIOUS: canary.slice(0, 10),
  });
  expect(text).not.toContain(canary.slice(0, 10));
  expect(row(text, "SMTP_URL")).toEndWith("smtp://mail.example:587/***");
  expect(row(text, "MAINNET_RPC_URL")).toEndWith("https://rpc.example/***");
  expect(row(text, "PROVIDER_1_API_KEY")).toEndWith("*** (17 characters)");
});

test("all problems are listed at once, and the exit code is 1", () => {
  const { text, exitCode } = report({ PORT: "x", ROLE: "y" });
  expect(exitCode).toBe(1);
  expect(text).toContain('✗ PORT: found "x"');
  expect(text).toContain('✗ ROLE: found "y"');
  expect(text).toContain("2 wrong");
  expect(text).not.toContain("Nothing is wrong");
});

test("settings that contradict each other are reported", () => {
  expect(report({ ROLE: "web" }).text).toContain("needs a remote DATABASE_URL and an explicit SECRET_KEY");
  const { text, exitCode } = report({ GOOGLE_CLIENT_ID: "x" }, "PROVIDER_1_APIKEY=k");
  expect(exitCode).toBe(0);
  expect(text).toContain("! GOOGLE_CLIENT_ID: is set without GOOGLE_CLIENT_SECRET");
  expect(text).toContain(
    "! PROVIDER_1_APIKEY: in the .env file, but Berth has no such variable. Did you mean PROVIDER_1_API_KEY?",
  );
});

test("names in the environment that are spelt like a setting are reported, and those of other programs are not", () => {
  const { text, exitCode } = report({ PROVIDER5_API_KEY: "k", SMTP_UR: "x", HOME: "/", POST: "x", XDG_DATA_DIRS: "/" });
  expect(exitCode).toBe(0);
  expect(text).toContain(
    "! PROVIDER5_API_KEY: in the environment, but Berth has no such variable. Did you mean PROVIDER_5_API_KEY?",
  );
  expect(text).toContain("Did you mean SMTP_URL?");
  for (const name of ["HOME", "POST", "XDG_DATA_DIRS"]) expect(text).not.toContain(`! ${name}:`);
});

test("ports that are in use are reported", () => {
  using taken = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data: () => undefined } });
  const { text, exitCode } = report({ PORT: String(taken.port), BACKEND_PORT: "0", RTMP_PORT: "0" });
  expect(exitCode).toBe(0);
  expect(text).toContain(`! PORT: port ${taken.port} is in use, by a Berth that runs already or by another program.`);
  expect(text).not.toContain("! BACKEND_PORT");
  // They are those of the service itself.
  expect(report({ PORT: String(taken.port) }, false, { isServed: true }).text).not.toContain("! PORT");
  taken.stop(true);
  expect(report({ PORT: String(taken.port) }).text).not.toContain("! PORT");
});

test("files and folders that can't be used are reported", () => {
  writeFileSync(join(folder, "file"), "");
  expect(report({ DATA_DIR: "file" }).text).toContain("✗ DATA_DIR:");
  expect(report({ PLUGINS: "gone.ts" })).toMatchObject({ exitCode: 1 });
  expect(report({ SKILLS_DIR: "gone" })).toMatchObject({ exitCode: 0, text: expect.stringContaining("no skills are") });
  writeFileSync(join(folder, "secret.key"), "");
  chmodSync(join(folder, "secret.key"), 0o644);
  expect(report({ DATA_DIR: "." }).text).toContain("its mode should be 0600");
});

describe("the root key of an existing database", () => {
  const made = join(folder, "made");
  const path = join(made, "secret.key");
  const key = "7".repeat(64);
  const doctor = (env: Environment = {}) => report({ DATA_DIR: made, PORT: "0", BACKEND_PORT: "0", ...env });
  beforeAll(() => {
    mkdirSync(made);
    const connection = openConnection(join(made, "berth.db"));
    connection.run("CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT)");
    connection.run("INSERT INTO meta VALUES ('secret_fingerprint', ?)", [createVault({ key }).fingerprint()]);
    connection.close();
  });

  test("is missing: what is encrypted can't be read, and the start would be refused", () => {
    const { text, exitCode } = doctor();
    expect(exitCode).toBe(1);
    expect(text).toContain(
      `✗ SECRET_KEY: ${path} is missing, and ${join(made, "berth.db")} was made with it: what is encrypted there can't be read.`,
    );
  });

  test("is another one, or none", () => {
    writeFileSync(path, `${"8".repeat(64)}\n`, { mode: 0o600 });
    expect(doctor()).toMatchObject({ exitCode: 1, text: expect.stringContaining(`${path} is not the one with which`) });
    expect(doctor({ SECRET_KEY: "x".repeat(32) }).text).toContain("✗ SECRET_KEY: the key that is set is not the one");
    writeFileSync(path, "");
    expect(doctor().text).toContain(`✗ SECRET_KEY: ${path} holds no key`);
  });

  test("is there, as a file, as a setting, or as the one before", () => {
    const next = { SECRET_KEY: "n".repeat(32) };
    expect(doctor({ SECRET_KEY: key }).exitCode).toBe(0);
    expect(doctor({ ...next, SECRET_KEY_PREVIOUS: key }).exitCode).toBe(0);
    writeFileSync(path, `${key}\n`, { mode: 0o600 });
    expect(doctor()).toMatchObject({ exitCode: 0, text: expect.not.stringContaining("✗") });
  });

  test("is not asked for while there is no database", () => {
    expect(report({ DATA_DIR: join(made, "new") }).text).not.toContain("SECRET_KEY");
  });
});

test("a folder of backups that can't be written is reported", () => {
  writeFileSync(join(folder, "no-folder"), "");
  for (const BACKUP_TO of ["no-folder", "no-folder/backups"]) {
    const { text, exitCode } = report({ BACKUP_TO });
    expect(text).toContain(
      `! BACKUP_TO: ${join(folder, "no-folder")} is not a folder, so no backups can be made there.`,
    );
    expect(exitCode).toBe(0);
  }
  expect(report({ BACKUP_TO: "backups" }).text).not.toContain("! BACKUP_TO");
  // Only the last part is made.
  expect(report({ BACKUP_TO: "disk/of/berth" }).text).toContain(
    `! BACKUP_TO: there is no folder ${join(folder, "disk/of")}, so no backups can be made there. Mount its disk, or make it.`,
  );
});

test("an identity file of backups that can't be used is reported", () => {
  const env = { BACKUP_ENCRYPT_TO: `age1${"q".repeat(58)}`, BACKUP_IDENTITY_FILE: "gone.txt" };
  expect(report(env)).toMatchObject({ exitCode: 0 });
  expect(report(env).text).toContain(
    `! BACKUP_IDENTITY_FILE: The identity ${join(folder, "gone.txt")} can't be read. Give the file that age-keygen has written. Until then, each backup fails.`,
  );
  writeFileSync(join(folder, "identity.txt"), "AGE-SECRET-KEY-1\n");
  expect(report({ ...env, BACKUP_IDENTITY_FILE: "identity.txt" }).text).not.toContain("! BACKUP_IDENTITY_FILE");
});

test("a backup that failed is named with its reason, and not the lack of a schedule", async () => {
  const dir = join(folder, "failed");
  mkdirSync(dir);
  const connection = openConnection(join(dir, "berth.db"));
  connection.run(
    "CREATE TABLE backup_runs (started_at INTEGER, ended_at INTEGER, name TEXT, bytes INTEGER, error TEXT)",
  );
  connection.run("INSERT INTO backup_runs VALUES (1, 1764000000000, 'x', NULL, 'The folder is full')");
  connection.close();
  const said = async (env: Environment) => {
    const settings = { settings: allSettings, dotenv: false, cwd: folder } as const;
    const { config } = inspectConfig({ DATA_DIR: dir, ...env }, settings);
    return config ? backupReport(config) : "";
  };
  const failure = "! The last backup failed at 2025-11-24T16:00:00.000Z: The folder is full.";
  expect(await said({ BACKUP_SCHEDULE: "0 3 * * *" })).toStartWith(`${failure} There is none at ${dir}`);
  expect(await said({})).toStartWith(failure);
  expect(await said({ DATA_DIR: join(folder, "new") })).toBe("");
});

test("the last line is true of all lines before it", () => {
  expect(verdictOf("PORT  environment  4000\n✓ Mail: x\n")).toBe("Nothing is wrong.");
  expect(verdictOf("! One.\n  → Do it.\n")).toBe("Nothing prevents a start, but see the 1 warning above.");
  expect(verdictOf("! One.\n! Two.\n")).toBe("Nothing prevents a start, but see the 2 warnings above.");
  expect(verdictOf("! One.\n✗ Mail: x\n")).toBe("1 wrong: see the line with ✗ above.");
});

test("keys that admins stored in the database are named by their end", () => {
  const file = join(folder, "stored.db");
  const connection = openConnection(file);
  connection.run(
    "CREATE TABLE model_providers (provider TEXT, sealed_key TEXT, key_end TEXT, base_url TEXT, updated_at INTEGER)",
  );
  connection.run("INSERT INTO model_providers VALUES ('provider_1', 'v1.sealed', '7Q2z', NULL, 1)");
  connection.run("INSERT INTO model_providers VALUES ('provider_3', NULL, NULL, 'http://127.0.0.1:11434/v1', 1)");
  connection.close();
  const { text } = report({ DATABASE_URL: `file:${file}` });
  expect(text).toContain("Stored in the database for OpenRouter: a key that ends in 7Q2z.");
  expect(text).toContain("Stored in the database for Groq: no key, address http://127.0.0.1:11434/v1.");
  expect(text).not.toContain("the demo model, answers");
  expect(text).not.toContain("sealed");
  const models = { MODEL_A: "provider_1:x", MODEL_B: "provider_2:x" };
  const withModels = report({ DATABASE_URL: `file:${file}`, ...models }).text;
  expect(withModels).not.toContain("MODEL_A: ");
  expect(withModels).toContain("! MODEL_B: names a model of a provider that has no key");
  expect(report({ DATABASE_URL: `file:${file}`, PROVIDER_1_API_KEY: "sk-or-v1-abcdefgh" }).text).toContain(
    "It is not used, since PROVIDER_1_API_KEY is set.",
  );
});

test("payments with several cells, for which the start would be refused, are wrong", () => {
  const stripe = { STRIPE_SECRET_KEY: "sk_test_1", STRIPE_WEBHOOK_SECRET: "whsec_1" };
  const { text, exitCode } = report({ ...stripe, CELLS: "2" });
  expect(exitCode).toBe(1);
  expect(text).toContain("✗ CELLS: payments through Stripe need CELLS=1. Leave STRIPE_SECRET_KEY or CELLS out.");
  expect(report(stripe).exitCode).toBe(0);
});

test.each(["61 3 * * *", "0 0 31 2 *"])("a schedule of backups that can't be kept is wrong: %s", async (cron) => {
  const env = { BACKUP_SCHEDULE: cron };
  const { config } = inspectConfig(env, { settings: allSettings, dotenv: false });
  const findings = config ? await scheduleFindings(config) : [];
  const { text, exitCode } = doctorReport(env, folder, { dotenv: false, terminal: false, findings });
  expect(exitCode).toBe(1);
  expect(text).toMatch(/^✗ BACKUP_SCHEDULE: This /m);
  expect(text).toEndWith("1 wrong: the start would be refused.\n");
});
