// Imports agents of other programs with the command and over the API, on the whole binary.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { CARD_V3, OPENCLAW, pngOf, zipOf } from "../plugins/lifecycle/takeover/support.test.ts";
import { type Berth, startBerth } from "./support/berth.ts";
import type { Client } from "./support/client.ts";
import { member } from "./support/members.ts";
import { temporaryDir } from "./support/process.ts";
import { expectRefusal } from "./support/refusal.ts";
import { startSqld } from "./support/sqld.ts";

let berth: Berth;
let ada: Client;
let email: string;
const dir = temporaryDir();
const claw = join(dir.path, "claw");
const secretFile = join(dir.path, "outside.md");

beforeAll(async () => {
  for (const [path, text] of Object.entries(OPENCLAW)) {
    mkdirSync(dirname(join(claw, path)), { recursive: true });
    writeFileSync(join(claw, path), text);
  }
  writeFileSync(secretFile, "- The outside secret");
  symlinkSync(secretFile, join(claw, "workspace/memory/2026-03-19.md"));
  symlinkSync(dir.path, join(claw, "workspace/skills/linked"));
  berth = await startBerth({ env: { RATE_LIMITS: "off", BOT_DETECTION: "off" } });
  ada = await member(berth, "enterprise");
  email = (await ada.get<{ email: string }>("/api/settings")).body.email;
});
afterAll(async () => {
  await berth[Symbol.asyncDispose]();
  dir.remove();
});

interface Imported {
  agent: { id: string; name: string };
  format: string;
  report: { source: string; taken: boolean; code: string }[];
  switchedOff: { kind: string; name: string }[];
}
const agents = async () => (await ada.get<{ count: number }>("/api/agents")).body.count;
const post = (path: string, type: string, body: Uint8Array<ArrayBuffer>) =>
  fetch(`${berth.web}${path}`, {
    method: "POST",
    headers: { cookie: ada.cookie, origin: berth.web, "content-type": type, "user-agent": "test" },
    body,
  });

describe("berth import", () => {
  test("shows what it would take over, and changes nothing", async () => {
    const { exitCode, stdout, stderr } = await berth.command("import", claw, "--dry-run");
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(stdout).toStartWith("Skipper would be made of an OpenClaw workspace. Nothing was changed.\n\nTaken over\n");
    expect(stdout).toMatch(/Not taken over\n[\s\S]*workspace\/memory\/2026-03-19\.md +Links are not followed\n/);
    expect(await agents()).toBe(0);
  });

  test("makes the agent in the running service, and nothing outside the folder is read", async () => {
    const { exitCode, stdout } = await berth.command("import", claw, "--owner", email, "--json");
    expect(exitCode).toBe(0);
    const { agent, report, switchedOff } = JSON.parse(stdout) as Imported;
    expect(agent.name).toBe("Skipper");
    expect(report).toContainEqual(expect.objectContaining({ source: "skills/weather", taken: true }));
    expect(switchedOff).toContainEqual(expect.objectContaining({ kind: "skill", name: "folder:weather" }));
    const exported = (await ada.get(`/api/agents/${agent.id}/export`)).text;
    expect(exported).toContain("Boat: Berth 12");
    expect(exported + stdout).not.toMatch(/outside secret|sk-or-v1|AAAAAAAA|not-taken|private/);
  });

  test("notices the second time: exit code 3; --again makes another", async () => {
    const again = await berth.command("import", claw, "--owner", email);
    expect(again).toMatchObject({ exitCode: 3, stdout: "" });
    expect(again.stderr).toMatch(/^berth: You have imported this already, as the agent Skipper\. .*--again\.\n$/);
    const forced = await berth.command("import", claw, "--owner", email, "--again");
    expect(forced.exitCode).toBe(0);
    expect(forced.stdout).toMatch(/Switched off, or asking first, until you decide:\n[\s\S]*skill|schedules/);
  });

  test.each([
    [["import"], 2, /^Usage: /],
    [["import", join(dir.path, "nothing"), "--dry-run"], 1, /There is no folder or file/],
    [["import", join(dir.path, "claw/cron"), "--dry-run"], 1, /nothing in this folder/],
    [["import", secretFile, "--dry-run"], 1, /This file is not JSON\./],
    [["import", claw, "--owner", "nobody@example.com"], 1, /no account|no user/i],
  ])("%j exits with %d", async (args, exitCode, says) => {
    const ran = await berth.command(...args);
    expect({ exitCode: ran.exitCode, stdout: ran.stdout }).toEqual({ exitCode, stdout: "" });
    expect(ran.stderr).toMatch(says);
  });
});

test("berth import gives the agent to the only account, and asks which one if there are several", async () => {
  await using fresh = await startBerth();
  const nobody = await fresh.command("import", claw);
  expect(nobody).toMatchObject({ exitCode: 1, stdout: "" });
  expect(nobody.stderr).toContain("There is no account yet");
  const only = await member(fresh);
  const { email: address } = (await only.get<{ email: string }>("/api/settings")).body;
  const { exitCode, stdout } = await fresh.command("import", claw, "--json");
  expect({ exitCode, owner: (JSON.parse(stdout) as { owner: string }).owner }).toEqual({ exitCode: 0, owner: address });
  await member(fresh);
  const unclear = await fresh.command("import", claw, "--again");
  expect(unclear).toMatchObject({ exitCode: 1, stdout: "" });
  expect(unclear.stderr).toContain("There are 2 accounts. Say which one is to own the agent: --owner EMAIL.");
});

describe("POST /api/agents/import", () => {
  test("takes a card as a picture, after a preview", async () => {
    const preview = await post("/api/agents/import/preview", "image/png", pngOf({ ccv3: CARD_V3 }));
    expect(preview.status).toBe(200);
    expect(await preview.json()).toMatchObject({ name: "Vera", format: "character-card" });
    const made = await post("/api/agents/import", "image/png", pngOf({ ccv3: CARD_V3 }));
    expect(made.status).toBe(201);
    const { agent } = (await made.json()) as Imported;
    const page = await ada.get<{ enabled: boolean; greeting: string }>(`/api/agents/${agent.id}/public`);
    expect(page.text).toContain("Ahoy, the user!");
    const second = await post("/api/agents/import", "image/png", pngOf({ ccv3: CARD_V3 }));
    expect([second.status, await second.json()]).toEqual([409, expect.objectContaining({ code: "ALREADY_IMPORTED" })]);
    expect((await post("/api/agents/import?again=1", "image/png", pngOf({ ccv3: CARD_V3 }))).status).toBe(201);
  });

  test("gives a time zone to an agent whose file names none, and refuses one that does not exist", async () => {
    const zoneOf = async (file: object, zone: string) => {
      const path = `/api/agents/import?again=1&timezone=${encodeURIComponent(zone)}`;
      const { agent } = (await ada.post<Imported>(path, file)).body;
      return (await ada.get<{ config: { timezone?: string } }>(`/api/agents/${agent.id}/config`)).body.config.timezone;
    };
    const file = (config: object) => ({ format: "berth.agent/1", name: "Vera", model: "model_a", config });
    expect(await zoneOf(file({ instructions: "Be brief." }), "Asia/Tokyo")).toBe("Asia/Tokyo");
    expect(await zoneOf(file({ timezone: "Europe/Vienna" }), "Asia/Tokyo")).toBe("Europe/Vienna");
    const refused = await ada.post("/api/agents/import?timezone=Mars%2FOlympus", file({}));
    expect(expectRefusal(refused, 400, "INVALID_INPUT").issues).toMatchObject([{ path: "timezone" }]);
  });

  test("takes a workspace as a zip, and refuses other types of bodies", async () => {
    const answer = await post("/api/agents/import/preview", "application/zip", zipOf(OPENCLAW));
    expect(await answer.json()).toMatchObject({ name: "Skipper", format: "openclaw" });
    expect((await post("/api/agents/import/preview", "text/plain", zipOf(OPENCLAW))).status).toBe(415);
    expectRefusal(await ada.post("/api/agents/import/preview", { a: 1 }), 400, "UNKNOWN_FORMAT");
  });
});

describe("as two processes on a database server", () => {
  test("the web hands files to the backend, which alone makes agents, also for the command", async () => {
    const sqld = await startSqld();
    await using _ = { [Symbol.asyncDispose]: () => sqld.stop() };
    const shared = { DATABASE_URL: sqld.url, SECRET_KEY: "import-split-root-key-0123456789abcdef", RATE_LIMITS: "off" };
    await using backend = await startBerth({ env: { ...shared, ROLE: "backend" } });
    await using web = await startBerth({ env: { ...shared, ROLE: "web", BACKEND_URL: backend.backend } });
    const bob = await member(web);
    const answer = await fetch(`${web.web}/api/agents/import`, {
      method: "POST",
      headers: { cookie: bob.cookie, origin: web.web, "content-type": "application/zip", "user-agent": "test" },
      body: zipOf(OPENCLAW),
    });
    expect(answer.status).toBe(201);
    const { agent } = (await answer.json()) as Imported;
    const { skills } = (await bob.get<{ skills: { id: string }[] }>(`/api/agent?action=skills&agentId=${agent.id}`))
      .body;
    expect(skills.map(({ id }) => id)).toContain("folder:weather");
    const address = (await bob.get<{ email: string }>("/api/settings")).body.email;
    const refused = await web.command("import", claw, "--owner", address);
    expect(refused).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("where the backend runs") });
    expect((await backend.command("import", claw, "--owner", address)).exitCode).toBe(0);
  });
});
