// Tests skills as folders on the compiled binary: install, use in a turn, restart; and kills while many are installed.
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { upload } from "../plugins/skill-folders/support.test.ts";
import { type Berth, startBerth } from "./support/berth.ts";
import { seeded } from "./support/eventually.ts";
import { member, provision } from "./support/members.ts";
import { startUpstream, type Upstream } from "./support/upstream.ts";
import { skillMd, zipEntries, zipOf } from "./support/zips.ts";

let upstream: Upstream;
let berth: Berth;
beforeAll(async () => {
  upstream = await startUpstream();
  berth = await startBerth({
    env: { PROVIDER_3_BASE_URL: upstream.url, MODEL_A: "provider_3:fake-small", RATE_LIMITS: "off" },
  });
});
afterAll(async () => {
  await berth?.[Symbol.asyncDispose]();
  await upstream?.stop();
});

test("an uploaded skill is unpacked on its thread, switched on, loaded by a turn, and there after a restart", async () => {
  const ada = await member(berth);
  const { id: agentId } = await provision(ada);
  const zip = zipOf({
    "tea/SKILL.md": skillMd("tea", "Makes tea.", "Boil water."),
    "tea/leaves.md": "Green.",
    "tea/scripts/minutes.ts":
      "import { readFileSync } from 'node:fs';\nconst minutes: number = 3;\nconsole.log(readFileSync('leaves.md', 'utf8'), minutes);",
  });
  expect(await upload(berth.web, ada, zip)).toMatchObject({ status: 201, body: { id: "folder:tea", warnings: [] } });
  const bomb = zipEntries([{ path: "SKILL.md", content: new Uint8Array(100_000_000), declaredSize: 10 }]);
  expect(await upload(berth.web, ada, bomb)).toMatchObject({ status: 400, body: { issues: [{ code: "TOO_LARGE" }] } });
  await ada.post("/api/agent", { action: "update-skill", agentId, skillId: "folder:tea", enabled: true });
  await berth.restart();
  upstream.script(({ toolResults }) => {
    const [result] = toolResults;
    return result ? `I read: ${result.content}` : { toolCalls: [{ name: "load_skill", arguments: { skill: "tea" } }] };
  });
  const { body } = await ada.post<{ reply: string }>("/api/agent", { message: "Tea, please." });
  expect(body.reply).toContain("Boil water.");
  expect(body.reply).toContain("- leaves.md");
  upstream.script(({ toolResults }) => {
    const [result] = toolResults;
    const call = { name: "run_skill_script", arguments: { skill: "tea", script: "scripts/minutes.ts" } };
    return result ? `It printed: ${result.content}` : { toolCalls: [call] };
  });
  const ran = await ada.post<{ reply: string }>("/api/agent", { message: "How long?" });
  expect(ran.body.reply).toContain("Green. 3");
  await ada.post("/api/agent", { action: "update-skill", agentId, skillId: "run-code", enabled: true });
  upstream.script(({ toolResults }) => {
    const [result] = toolResults;
    const call = { name: "run_code", arguments: { code: "const x: number = 6; return x * 7;" } };
    return result ? `It returned: ${result.content}` : { toolCalls: [call] };
  });
  const computed = await ada.post<{ reply: string }>("/api/agent", { message: "What is 6 times 7?" });
  expect(computed.body.reply).toContain("Returned: 42");
  expect(berth.output().stderr).not.toContain('"level":"error"');
});

test("after kills at any moment, each version is there with all of its files, or not at all", async () => {
  const random = seeded(process.env.CRASH_SEED === undefined ? undefined : Number(process.env.CRASH_SEED));
  console.log(`skills crash test: CRASH_SEED=${random.seed}`);
  const ada = await member(berth, "enterprise");
  const FILES = 60;
  const zip = (n: number) =>
    zipOf({
      "SKILL.md": skillMd(`tea-${n % 5}`, `Number ${n}.`),
      ...Object.fromEntries(Array.from({ length: FILES - 1 }, (_, at) => [`${at}.md`, `${n} `.repeat(5_000)])),
    });
  let installed = 0;
  for (let kill = 0, n = 0; kill < 6; kill++) {
    const uploads = Array.from({ length: 6 }, () => {
      const one = upload(berth.web, ada, zip(n++));
      return one.then(({ status }) => status).catch(() => 0);
    });
    await Bun.sleep(random.integer(5, 300));
    await berth.kill();
    installed += (await Promise.all(uploads)).filter((status) => status === 201).length;
    await berth.restart();
  }
  expect((await upload(berth.web, ada, zip(0))).status).toBe(201);
  await berth.stop();
  const database = new Database(join(berth.dir, "data", "berth.db"), { readonly: true });
  const versions = database
    .query(
      `SELECT v.name, v.version, (SELECT count(*) FROM skill_files f
        WHERE f.user_id = v.user_id AND f.name = v.name AND f.version = v.version) AS files
        FROM skill_versions v WHERE v.name LIKE 'tea-%'`,
    )
    .all() as { files: number }[];
  const broken = database
    .query(
      `SELECT name FROM installed_skills s WHERE NOT EXISTS
        (SELECT 1 FROM skill_versions v WHERE v.user_id = s.user_id AND v.name = s.name AND v.version = s.version)`,
    )
    .all();
  database.close();
  console.log(`skills crash test: ${installed} answered before a kill, ${versions.length} versions kept`);
  expect(versions.filter(({ files }) => files !== FILES)).toEqual([]);
  expect(broken).toEqual([]);
});
