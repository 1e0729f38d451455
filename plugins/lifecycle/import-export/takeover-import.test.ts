// Tests agents that are made of other programs' files: what they arrive with, switched off, tainted, and noticed the second time.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { rejectionOf } from "../../../tests/support/rejection.ts";
import { type Harness, openHarness } from "../backups/support.test.ts";
import { bytesOf, CARD_V2, ELIZA, OPENCLAW, pngOf, zipOf } from "../takeover/support.test.ts";
import { createImportExport, type ImportExport } from "./import-export.ts";

let harness: Harness;
let importExport: ImportExport;
beforeAll(async () => {
  harness = await openHarness();
  importExport = createImportExport(harness.host);
});
afterAll(() => harness[Symbol.asyncDispose]());

async function newOwner() {
  const email = `importer-${crypto.randomUUID()}@example.com`;
  const { id: userId } = await harness.services.accounts.users.create({ email, name: "Bob", passwordHash: "none" });
  return { userId, isAdmin: true };
}

describe("an OpenClaw workspace", () => {
  test("arrives with everything that acts switched off, and its texts from outside", async () => {
    const owner = await newOwner();
    const { agent, switchedOff, report, format } = await importExport.importAgent(owner, zipOf(OPENCLAW));
    expect(format).toBe("openclaw");
    expect(agent).toMatchObject({ name: "Skipper", model: "model_a", userId: owner.userId });
    const config = JSON.parse(await harness.services.agents.configText(agent.id)) as Record<string, unknown>;
    expect(config.channels).toEqual({
      channel_a: { allow: ["42", "43", "44"] },
      channel_b: { allow: ["123456789012345678"] },
      channel_c: { allow: ["431555"] },
    });
    expect((await harness.services.agents.settings(agent.id)).imported).toBe(true);
    const count = (sql: string) => harness.one(sql, agent.id);
    expect(await count("SELECT count(*) FROM memories WHERE agent_id = ? AND taint > 0")).toBe(5);
    expect(await count("SELECT count(*) FROM memories WHERE agent_id = ? AND taint = 0")).toBe(0);
    expect(await count("SELECT count(*) FROM schedules WHERE agent_id = ? AND enabled = 0 AND taint > 0")).toBe(4);
    expect(await count("SELECT count(*) FROM schedules WHERE agent_id = ? AND enabled = 1")).toBe(0);
    expect(await count("SELECT count(*) FROM credentials WHERE owner_id = ?")).toBe(0);

    const weather = (await harness.services.skills.list(agent.id)).find(({ id }) => id === "folder:weather");
    expect(weather).toMatchObject({ enabled: false });
    expect(switchedOff.map(({ kind, name }) => `${kind} ${name}`)).toEqual(
      expect.arrayContaining(["skill folder:weather", "instructions instructions"]),
    );
    expect(report).toContainEqual(expect.objectContaining({ source: "skills/weather", taken: true, code: "SKILL" }));
    expect(report).toContainEqual(
      expect.objectContaining({ source: "skills/broken", taken: false, code: "SKILL_REFUSED" }),
    );
    await harness.chat(agent, "Who are you?");
    expect(JSON.stringify(harness.upstream.chats.at(-1)?.messages)).toContain("Be brief and kind.");
  });

  test("keeps the version of a skill that the account has already", async () => {
    const owner = await newOwner();
    await importExport.importAgent(owner, zipOf(OPENCLAW));
    const other = zipOf({
      ...OPENCLAW,
      "workspace/skills/weather/SKILL.md": "---\nname: weather\ndescription: Other.\n---\nNew",
    });
    const { report } = await importExport.importAgent(owner, other);
    expect(report).toContainEqual(
      expect.objectContaining({ source: "skills/weather", taken: false, code: "SKILL_EXISTS" }),
    );
    const versions = await harness.one("SELECT count(*) FROM skill_versions WHERE user_id = ?", owner.userId);
    expect(versions).toBe(1);
  });
});

describe("a second import", () => {
  test("of the same file is refused with the agent's name, unless it is asked for again", async () => {
    const owner = await newOwner();
    const { agent } = await importExport.importAgent(owner, pngOf({ chara: CARD_V2 }));
    const refusal = await rejectionOf(importExport.importAgent(owner, pngOf({ chara: CARD_V2 })));
    expect(refusal).toMatchObject({
      status: 409,
      code: "ALREADY_IMPORTED",
      extras: { agent: { id: agent.id, name: "Vera" }, changed: false },
    });
    const again = await importExport.importAgent(owner, pngOf({ chara: CARD_V2 }), { again: true });
    expect(again.agent.id).not.toBe(agent.id);
    expect((await importExport.importAgent(await newOwner(), pngOf({ chara: CARD_V2 }))).agent.name).toBe("Vera");
  });

  test("of a folder that has changed is noticed by its place; a deleted agent is forgotten", async () => {
    const owner = await newOwner();
    const origin = "0".repeat(64);
    const { agent } = await importExport.importAgent(owner, zipOf({ "SOUL.md": "One." }), { origin });
    const refusal = await rejectionOf(importExport.importAgent(owner, zipOf({ "SOUL.md": "Two." }), { origin }));
    expect(refusal).toMatchObject({ code: "ALREADY_IMPORTED", extras: { changed: true } });
    await harness.services.agents.remove(agent.id);
    expect((await importExport.importAgent(owner, zipOf({ "SOUL.md": "Two." }), { origin })).format).toBe("openclaw");
  });
});

test("a preview shows the same report and stores nothing", async () => {
  const before = await harness.one("SELECT count(*) FROM agents");
  const preview = await importExport.previewImport(bytesOf(ELIZA));
  expect(preview).toMatchObject({ name: "Nautilus", format: "elizaos" });
  expect(await harness.one("SELECT count(*) FROM agents")).toBe(before);
  const { report } = await importExport.importAgent(await newOwner(), bytesOf(ELIZA));
  expect(report).toEqual(preview.report);
});
