// `npm run audit` against a registry of this test: a known hole fails, an exception with a date lets it pass until then.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDir } from "./support/process.ts";

const hole = {
  id: 1,
  url: "https://github.com/advisories/GHSA-aaaa-bbbb-cccc",
  title: "A hole of this test",
  severity: "high",
  vulnerable_versions: ">=0",
  cwe: [],
  cvss: { score: 7, vectorString: null },
};
let known: object = {};
let isDown = false;
const folder = temporaryDir();
let registry: ReturnType<typeof Bun.serve>;
beforeAll(() => {
  registry = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () => (isDown ? new Response("down", { status: 503 }) : Response.json(known)),
  });
});
afterAll(async () => {
  await registry?.stop(true);
  folder.remove();
});

async function audit(exceptions: object[]): Promise<{ code: number; text: string }> {
  const file = join(folder.path, "exceptions.json");
  writeFileSync(file, JSON.stringify(exceptions));
  const env = { ...process.env, BUN_CONFIG_REGISTRY: registry.url.href, AUDIT_EXCEPTIONS: file };
  const process_ = Bun.spawn(["node", "scripts/audit.mjs"], { env, stdout: "pipe", stderr: "pipe" });
  const [out, err, code] = await Promise.all([
    new Response(process_.stdout).text(),
    new Response(process_.stderr).text(),
    process_.exited,
  ]);
  return { code, text: out + err };
}
const exception = (until: string) => ({ id: "GHSA-aaaa-bbbb-cccc", package: "viem", until, why: "not reached" });

test("passes without a known hole", async () => {
  known = {};
  expect(await audit([])).toMatchObject({ code: 0 });
});

test("fails on a known hole, and passes with an exception until its date", async () => {
  known = { viem: [hole] };
  const failed = await audit([]);
  expect(failed.code).toBe(1);
  expect(failed.text).toContain("viem: A hole of this test (high, https://github.com/advisories/GHSA-aaaa-bbbb-cccc)");
  expect(await audit([exception("2999-12-31")])).toMatchObject({ code: 0 });
  const late = await audit([exception("2020-01-01")]);
  expect(late.code).toBe(1);
  expect(late.text).toContain("ended on 2020-01-01: decide again");
});

test("fails on an exception that is of no use, and if the registry can't be asked", async () => {
  known = {};
  expect((await audit([exception("2999-12-31")])).text).toContain("of no use any more: remove it");
  isDown = true;
  const down = await audit([]);
  expect(down.code).toBe(1);
  expect(down.text).toContain("could not be asked");
});
