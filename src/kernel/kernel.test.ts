// Tests the start of the kernel: its database, and the root key that belongs to it.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDir } from "../../tests/support/process.ts";
import { startErrorOf } from "../../tests/support/rejection.ts";
import { loadConfig } from "./config/config.ts";
import { openKernel } from "./kernel.ts";
import { createVault } from "./security/vault.ts";

let dir: ReturnType<typeof temporaryDir>;
beforeEach(() => {
  dir = temporaryDir();
});
afterEach(() => dir.remove());

const config = (env: Record<string, string> = {}) =>
  loadConfig({ DATA_DIR: dir.path, LOG_LEVEL: "error", ...env }, { cwd: dir.path });
const openAndClose = async (env?: Record<string, string>) => (await openKernel(config(env))).close();
const keyFile = () => join(dir.path, "secret.key");
const refusal = (env?: Record<string, string>) => startErrorOf(openAndClose(env));

const ONE = "1".repeat(64);
const TWO = "2".repeat(64);

test("closing releases the database: it can be opened again at once", async () => {
  await openAndClose();
  await openAndClose();
});

describe("the root key", () => {
  test("is created at the first start, kept, and never stored in the database in plain text", async () => {
    await openAndClose();
    const key = readFileSync(keyFile(), "utf8").trim();
    expect(key).toMatch(/^[0-9a-f]{64}$/);
    await openAndClose();
    expect(readFileSync(keyFile(), "utf8").trim()).toBe(key);
    for (const name of readdirSync(dir.path)) {
      if (name !== "secret.key") expect(readFileSync(join(dir.path, name)).includes(key)).toBe(false);
    }
  });

  test("from the environment is used, and no file is created", async () => {
    await openAndClose({ SECRET_KEY: ONE });
    expect(existsSync(keyFile())).toBe(false);
  });

  test("must belong to this database; a refused start changes nothing", async () => {
    await openAndClose({ SECRET_KEY: ONE });
    expect(await refusal({ SECRET_KEY: TWO })).toContain("SECRET_KEY is not the one");
    await openAndClose({ SECRET_KEY: ONE });
    writeFileSync(keyFile(), `${TWO}\n`);
    expect(await refusal()).toContain("SECRET_KEY is not the one");
    expect(readFileSync(keyFile(), "utf8")).toBe(`${TWO}\n`);
  });

  test("that is missing is not replaced by a new one", async () => {
    await openAndClose();
    rmSync(keyFile());
    expect(await refusal()).toMatch(/secret\.key is missing/);
    expect(existsSync(keyFile())).toBe(false);
  });

  test("of a rotation is noted until the rotation is done, without a note where there is none", async () => {
    const notes = async (env: Record<string, string>) => {
      const kernel = await openKernel(loadConfig({ ...env, DATA_DIR: dir.path }));
      const { rows } = await kernel.database.read("SELECT key FROM meta WHERE key LIKE 'sealed_under:%'");
      await kernel.close();
      return rows.map(({ key }) => String(key));
    };
    expect(await notes({ SECRET_KEY: ONE })).toEqual([]);
    const noted = [`sealed_under:${createVault({ key: ONE }).keyId}`];
    expect(await notes({ SECRET_KEY: TWO, SECRET_KEY_PREVIOUS: ONE })).toEqual(noted);
    expect(await notes({ SECRET_KEY: TWO, SECRET_KEY_PREVIOUS: TWO })).toEqual(noted);
    expect(await notes({ SECRET_KEY: TWO })).toEqual(noted);
  });

  test("can be rotated, but not back by accident", async () => {
    await openAndClose({ SECRET_KEY: ONE });
    await openAndClose({ SECRET_KEY: TWO, SECRET_KEY_PREVIOUS: ONE });
    await openAndClose({ SECRET_KEY: TWO });
    expect(await refusal({ SECRET_KEY: ONE })).toContain("SECRET_KEY is not the one");
    expect(await refusal({ SECRET_KEY: "3".repeat(64), SECRET_KEY_PREVIOUS: ONE })).toContain("not the one");
  });
});

test("a refused start releases the database", async () => {
  await openAndClose({ SECRET_KEY: ONE });
  await refusal({ SECRET_KEY: TWO });
  await openAndClose({ SECRET_KEY: ONE });
});

test("configured secrets are blacked out in the log", async () => {
  const secrets = {
    SECRET_KEY: "canary-root-key-0123456789abcdef",
    PROVIDER_5_API_KEY: "canary-provider",
    METRICS_TOKEN: "canary-metrics",
    WEBHOOK_URL: "https://hooks.example/x",
    WEBHOOK_SECRET: "canary-webhook",
    GOOGLE_CLIENT_ID: "id",
    GOOGLE_CLIENT_SECRET: "canary-google",
    GITHUB_CLIENT_ID: "id",
    GITHUB_CLIENT_SECRET: "canary-github",
    CHANNEL_C_APP_ID: "1",
    CHANNEL_C_APP_SECRET: "canary-channel-c",
    SMTP_URL: "smtp://user:canary%2Fmail@mail.example",
    CDP_API_KEY_SECRET: "canary-cdp-key",
    CDP_WALLET_SECRET: "canary-cdp-wallet",
  };
  const values = Object.values(secrets).flatMap((value) => /canary[\w%-]+/.exec(value) ?? []);
  const script = `
    const { loadConfig } = await import("${import.meta.dir}/config/config.ts");
    const { openKernel } = await import("${import.meta.dir}/kernel.ts");
    const { allSettings: settings } = await import("${import.meta.dir}/../server/settings.ts");
    const kernel = await openKernel(loadConfig(${JSON.stringify({ ...secrets, DATA_DIR: dir.path })}, { settings }));
    kernel.log.error(${JSON.stringify(["canary/mail", ...values].join(" , "))});
    await kernel.close();`;
  const child = Bun.spawn([process.execPath, "-e", script], { stderr: "pipe", env: {} });
  const text = await new Response(child.stderr).text();
  expect(await child.exited).toBe(0);
  expect(text).toContain('"level":"error"');
  expect(text).not.toContain("canary");
});
