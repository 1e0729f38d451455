// A trial refuses what a start refuses, and leaves the data folder as it is.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { placeMigratedDatabase } from "../../../tests/support/migrated.ts";
import { temporaryDir } from "../../../tests/support/process.ts";
import { rejectionOf, startErrorOf } from "../../../tests/support/rejection.ts";
import { openConnection } from "../../kernel/database/connection.ts";
import { openKernel } from "../../kernel/kernel.ts";
import { loadAllSettings } from "../settings.ts";
import { tryStart } from "./trial.ts";

let dir: ReturnType<typeof temporaryDir>;
beforeEach(() => {
  dir = temporaryDir();
});
afterEach(() => dir.remove());

const environment = (env: Record<string, string> = {}) => ({ DATA_DIR: dir.path, LOG_LEVEL: "error", ...env });
const start = async (env?: Record<string, string>) => (await openKernel(loadAllSettings(environment(env)))).close();
const attempt = (env?: Record<string, string>, plugins: string[] = []) => tryStart(environment(env), plugins);
const files = () => readdirSync(dir.path, { recursive: true }).map(String).sort();

const STRIPE = { STRIPE_SECRET_KEY: "sk_test_1", STRIPE_WEBHOOK_SECRET: "whsec_1" };

/** Gives an account a plan of which no settings know. */
function subscribe(file: string): void {
  const connection = openConnection(file);
  const now = Date.now();
  connection.run("PRAGMA foreign_keys = OFF");
  connection.run(
    `INSERT INTO subscriptions (user_id, plan, status, current_period_end, updated_at)
     VALUES ('u', 'vanished', 'active', ${now + 60_000}, ${now})`,
  );
  connection.close();
}

describe("with a database", () => {
  beforeEach(async () => {
    await placeMigratedDatabase(dir.path);
    await start();
  });

  test("settings that a start accepts are accepted, beside a service that runs, and nothing is left behind", async () => {
    const running = await openKernel(loadAllSettings(environment()));
    const before = files();
    expect(await attempt({ BACKUP_SCHEDULE: "0 3 * * *" })).toBe(true);
    expect(files()).toEqual(before);
    await running.close();
  });

  test.each(["61 3 * * *", "0 0 31 2 *"])("a schedule of backups that can't be kept is refused: %s", async (cron) => {
    expect(await startErrorOf(attempt({ BACKUP_SCHEDULE: cron }))).toStartWith("BACKUP_SCHEDULE: This ");
  });

  test("a plan that an account has can't vanish", async () => {
    subscribe(join(dir.path, "berth.db"));
    expect(await startErrorOf(attempt())).toContain('there is no plan "vanished", but an account has it');
  });

  test("nor can one of an account in another cell", async () => {
    const key = readFileSync(join(dir.path, "secret.key"), "utf8").trim();
    const cell = join(dir.path, "cells/1");
    await placeMigratedDatabase(cell);
    await start({ DATA_DIR: cell, SECRET_KEY: key });
    expect(await attempt({ CELLS: "2" })).toBe(true);
    subscribe(join(cell, "berth.db"));
    expect(await startErrorOf(attempt({ CELLS: "2" }))).toContain('there is no plan "vanished"');
    expect(await startErrorOf(attempt())).toContain("has the data of 2 cells");
  });

  test.each([
    [STRIPE, "CELLS: payments through Stripe need CELLS=1. Leave STRIPE_SECRET_KEY or CELLS out."],
    [{ STABLECOIN_PAY_TO: `0x${"1".repeat(40)}` }, "CELLS: payments in stablecoin need CELLS=1."],
  ])("payments with several cells are refused", async (settings: Record<string, string>, why) => {
    expect(await attempt(settings)).toBe(true);
    expect((await rejectionOf(attempt({ ...settings, CELLS: "2" }))).message).toStartWith(why);
  });

  test("a plugin that checks its settings is asked, and not started", async () => {
    const file = join(dir.path, "tides.ts");
    const write = (check: string) =>
      writeFileSync(
        file,
        `export default ({ plugin }) => plugin("tides", () => ({ service: {}, check() { ${check} }, start() { throw new Error("started"); } }));`,
      );
    write("");
    expect(await attempt({}, [file])).toBe(true);
    const other = join(dir.path, "ebb.ts");
    writeFileSync(other, readFileSync(file, "utf8").replace("check() {", 'check() { throw new Error("no water");'));
    expect(await startErrorOf(attempt({}, [other]))).toBe("The plugin tides can't be started: no water");
  });

  test("a secret.key that is missing is missed, and not made", async () => {
    rmSync(join(dir.path, "secret.key"));
    const before = files();
    const refusal = await startErrorOf(attempt());
    expect(refusal).toBe(await startErrorOf(start()));
    expect(refusal).toContain(`${dir.path}/secret.key is missing`);
    expect(files()).toEqual(before);
  });
});

test("without a database, settings and plugins are checked, and none is made", async () => {
  expect(await attempt()).toBe(false);
  expect(await startErrorOf(attempt({ BACKUP_SCHEDULE: "61 3 * * *" }))).toContain("BACKUP_SCHEDULE");
  expect(files()).toEqual([]);
});
