// Tests the report of settings for admins.
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { settingsReport } from "./settings-report.ts";

const folder = mkdtempSync(join(tmpdir(), "berth-settings-"));
afterAll(() => rmSync(folder, { recursive: true }));

test("values have their source, secrets are masked, and findings are those of doctor", () => {
  const env = { PORT: "4000", SECRET_KEY: "canary-secret-of-the-operator-0123456789", DATA_DIR: folder, PORTT: "1" };
  const report = settingsReport(env, folder, Date.now());
  const setting = (name: string) => report.settings.find((one) => one.name === name);
  expect(setting("PORT")).toMatchObject({ value: "4000", source: "environment", secret: false });
  expect(setting("SECRET_KEY")).toMatchObject({ value: "*** (40 characters)", source: "environment", secret: true });
  expect(setting("SMTP_URL")).toMatchObject({ value: null, source: "not set" });
  expect(setting("HOST")?.description).not.toBe("");
  expect(JSON.stringify(report)).not.toContain("canary");
});

test("a .env file that was changed after the start is not in force", () => {
  const path = join(folder, ".env");
  writeFileSync(path, "PORT=4001\n");
  const env = { DATA_DIR: folder };
  expect(settingsReport(env, folder, Date.now() + 5_000).findings).toEqual([]);
  utimesSync(path, new Date(), new Date(Date.now() + 60_000));
  const [finding] = settingsReport(env, folder, Date.now()).findings;
  expect(finding).toMatchObject({ name: ".env", severity: "warning" });
});
