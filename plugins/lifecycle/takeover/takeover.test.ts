// Tests what becomes of files of other programs, and that hostile ones are refused.
import { describe, expect, test } from "bun:test";
import { rejectionOf } from "../../../tests/support/rejection.ts";
import { secretShapes } from "../../agents/index.ts";
import { builtInProviders } from "../../ai/providers/registry.ts";
import type { Takeover } from "./draft.ts";
import { factsOf } from "./facts.ts";
import { bytesOf, CARD_V1, CARD_V2, CARD_V3, chunk, ELIZA, OPENCLAW, pngOf, zipOf } from "./support.test.ts";
import { takeOver } from "./takeover.ts";

const shapes = secretShapes(builtInProviders.map(({ credential }) => credential.shape));
const take = (bytes: Uint8Array) => takeOver(bytes, shapes);
const refusalOf = async (bytes: Uint8Array) => {
  const { status, code, message } = (await rejectionOf(take(bytes))) as {
    status: number;
    code: string;
    message: string;
  };
  return { status, code, message };
};
const instructionsOf = ({ agent }: Takeover) => String(Reflect.get(agent.config, "instructions"));
const memoriesOf = ({ agent }: Takeover) => agent.memories?.map(({ content }) => content);
/** `source: CODE` of what was taken, or left. */
const rowsOf = ({ rows }: Takeover, isTaken: boolean) =>
  rows.flatMap(({ source, taken, code, count }) =>
    taken === isTaken ? [`${source}: ${code}${count === null ? "" : ` ${count}`}`] : [],
  );

describe("an OpenClaw folder", () => {
  test("becomes an agent with its instructions, memories, schedules, skills and allow lists", async () => {
    const taken = await take(zipOf(OPENCLAW));
    const { agent } = taken;
    expect(taken.format).toBe("openclaw");
    expect(agent).toMatchObject({
      name: "Skipper",
      model: "model_a",
      config: { model: "provider_4:claude-sonnet-4-5", timezone: "Europe/Vienna" },
    });
    expect(instructionsOf(taken)).toMatch(
      /come from an OpenClaw workspace[\s\S]*# How you work[\s\S]*Read SOUL\.md first[\s\S]*# Who you are\n\nBe brief[\s\S]*⚓[\s\S]*Name: Ada/,
    );
    expect(instructionsOf(taken)).not.toContain("a hint");
    expect(memoriesOf(taken)).toEqual([
      "Boat: Called Aurora since 1999",
      "Boat: Berth 12",
      "Boat: Ada likes tea.",
      "2026-03-18: Fixed the sail",
      "2026-03-17: Bought rope",
    ]);
    const at = null;
    expect(agent.schedules).toEqual([
      { name: "Heartbeat", prompt: "- Check the tide", cron: "*/30 * * * *", at, timezone: "UTC", missed: "once" },
      { name: "Morning", prompt: "Do Morning.", cron: "0 7 * * *", at, timezone: "Europe/Vienna", missed: "once" },
      { name: "Every hour", prompt: "Do Every hour.", cron: "0 * * * *", at, timezone: "UTC", missed: "once" },
      { name: "Once", prompt: "Do Once.", cron: null, at: "2030-01-31T09:00:00.000Z", timezone: "UTC", missed: "once" },
    ]);
    expect(taken.allowLists).toEqual({
      channel_a: { allow: ["42", "43", "44"] },
      channel_b: { allow: ["123456789012345678"] },
      channel_c: { allow: ["431555"] },
    });
    expect(taken.skills.map(({ name }) => name).sort()).toEqual(["broken", "weather"]);
  });

  test("says what it leaves out, and takes no secret", async () => {
    const taken = await take(zipOf(OPENCLAW));
    expect(rowsOf(taken, false)).toEqual([
      "TOOLS.md: MACHINE",
      "BOOTSTRAP.md: FIRST_RUN",
      "openclaw.json: channels.telegram: CONNECT_ANEW",
      "openclaw.json: channels.telegram.allowFrom: NOT_AN_ID 1",
      "openclaw.json: channels.whatsapp: CONNECT_ANEW",
      "openclaw.json: channels.discord: CONNECT_ANEW",
      "openclaw.json: channels.slack: NO_EQUIVALENT",
      "openclaw.json: env: SECRETS",
      "openclaw.json: plugins: PLUGINS",
      "openclaw.json: mcpServers: MCP_SERVERS",
      "openclaw.json: gateway: NO_EQUIVALENT",
      "cron/jobs.json: Every seven minutes: UNSUPPORTED_TIMES",
      "cron/jobs.json: With seconds: UNSUPPORTED_TIMES",
      "all texts: SECRETS_REMOVED 1",
    ]);
    const everything = JSON.stringify([taken, taken.skills.map(({ zip }) => Buffer.from(zip).toString("latin1"))]);
    expect(everything).not.toMatch(/not-taken|sk-or-v1|AAAA|private|KEY=secret/);
    expect(instructionsOf(taken)).toContain("Never say [redacted].");
  });

  test("can be a workspace alone, or one of several", async () => {
    const alone = await take(zipOf({ "bot/AGENTS.md": "Help.", "bot/skills/a/AGENTS.md": "not this" }));
    expect(alone.agent.name).toBe("Imported agent");
    expect(rowsOf(alone, false)).toEqual(["openclaw.json: CONFIG_OUTSIDE"]);
    const two = await take(
      zipOf({ "workspace-ops/SOUL.md": "Ops.", "workspace/SOUL.md": "Main.", "openclaw.json": "{" }),
    );
    expect(instructionsOf(two)).toContain("Main.");
    expect(rowsOf(two, false)).toEqual(["workspace-ops/: OTHER_WORKSPACE", "openclaw.json: UNREADABLE"]);
  });

  test("is cut where an agent has no room", async () => {
    const facts = Array.from({ length: 1_500 }, (_, n) => `- Fact ${n}`).join("\n");
    const taken = await take(
      zipOf({
        "AGENTS.md": "ä".repeat(60_000),
        "SOUL.md": `${"\u0001".repeat(30_000)}x`,
        "USER.md": "z".repeat(9_000),
        "MEMORY.md": facts,
      }),
    );
    expect(Buffer.byteLength(JSON.stringify(taken.agent.config))).toBeLessThan(60_000);
    expect(memoriesOf(taken)).toHaveLength(1_000);
    expect(rowsOf(taken, true)).toEqual([
      "AGENTS.md: CUT",
      "SOUL.md: CUT",
      "USER.md: CUT",
      "MEMORY.md: SOME_MEMORIES 1000",
    ]);
  });
});

describe("a character card", () => {
  test.each([
    ["V1 as JSON", bytesOf(CARD_V1)],
    ["V2 as JSON", bytesOf(CARD_V2)],
    ["V2 as PNG", pngOf({ chara: CARD_V2 })],
    [
      "V3 as CHARX",
      zipOf({ "card.json": JSON.stringify({ ...CARD_V3, data: { ...CARD_V3.data, nickname: "" } }), "a.png": "x" }),
    ],
  ])("%s becomes an agent", async (_, bytes) => {
    const taken = await take(bytes);
    expect(taken.format).toBe("character-card");
    expect(taken.agent).toMatchObject({ name: "Vera", publicPage: { enabled: false, greeting: "Ahoy, the user!" } });
    expect(instructionsOf(taken)).toMatch(
      /# Who you are: Vera\n\nVera keeps the lighthouse\. the user is a sailor\.[\s\S]*Dry humour[\s\S]*A storm[\s\S]*Vera: Mind the rocks\./,
    );
  });

  test("has its book as memories, and says what is left out", async () => {
    const taken = await take(bytesOf(CARD_V2));
    expect(instructionsOf(taken)).toStartWith("You are Vera.");
    expect(memoriesOf(taken)).toEqual(["lamp, light: The lamp burns oil.", "ghost: There is a ghost."]);
    expect(rowsOf(taken, false)).toEqual([
      "alternate_greetings: NO_EQUIVALENT 2",
      "creator_notes: FOR_PEOPLE",
      "creator: FOR_PEOPLE",
      "character_version: FOR_PEOPLE",
      "tags: FOR_PEOPLE 1",
      "extensions: NO_EQUIVALENT 1",
    ]);
  });

  test("of both versions in one picture counts as V3, with its nickname", async () => {
    const taken = await take(pngOf({ chara: CARD_V2, ccv3: CARD_V3 }));
    expect(taken.agent.name).toBe("Vera");
    expect(instructionsOf(taken)).toContain("Vee keeps the lighthouse.");
    expect(rowsOf(taken, false)).toContain("assets: PICTURES 1");
  });
});

describe("an elizaOS character", () => {
  test("becomes an agent", async () => {
    const taken = await take(bytesOf(ELIZA));
    expect(taken.format).toBe("elizaos");
    expect(taken.agent).toMatchObject({ name: "Nautilus", config: { model: "provider_4:claude-sonnet-4-5" } });
    expect(instructionsOf(taken)).toMatch(
      /^Help sailors\.[\s\S]*# Who you are: Nautilus\n\n- Knows every harbour\.\n- Likes maps\.[\s\S]*1999[\s\S]*- tides\n- knots[\s\S]*calm[\s\S]*Be short\.[\s\S]*Be warm\.[\s\S]*Somebody: Which knot\?\nYou: A bowline\.[\s\S]*Somebody: Thanks/,
    );
    expect(memoriesOf(taken)).toEqual(["The tide turns twice a day."]);
    expect(rowsOf(taken, false)).toEqual([
      "knowledge: FILES 1",
      "secrets: OPENAI_API_KEY, TELEGRAM_BOT_TOKEN: SECRETS 2",
      "plugins: PLUGINS 2",
      "clients: CONNECT_ANEW 1",
      "postExamples: NO_EQUIVALENT",
      "style.post: NO_EQUIVALENT",
      "settings.voice: NO_EQUIVALENT",
      "settings: NO_EQUIVALENT 1",
    ]);
    expect(JSON.stringify(taken)).not.toContain("not-taken");
  });

  test("with a provider that Berth does not have says so", async () => {
    const taken = await take(bytesOf({ name: "N", bio: "B", modelProvider: "llama_local" }));
    expect(rowsOf(taken, false)).toEqual(["modelProvider: llama_local: UNKNOWN_MODEL"]);
  });
});

describe("a hostile file", () => {
  const damaged = pngOf({ chara: CARD_V2 });
  new DataView(damaged.buffer).setUint32(8, 0xffffffff);
  test.each([
    ["JSON of nothing known", bytesOf({ a: 1 }), "UNKNOWN_FORMAT"],
    ["a list", bytesOf([]), "UNKNOWN_FORMAT"],
    ["no JSON", bytesOf("hello"), "INVALID_JSON"],
    ["deep JSON", bytesOf(`${'{"bio":'.repeat(200)}1${"}".repeat(200)}`), "JSON_TOO_DEEP"],
    ["a zip without an agent", zipOf({ "readme.md": "x" }), "UNKNOWN_FORMAT"],
    ["a damaged zip", zipOf(OPENCLAW).slice(0, 900), "UNREADABLE_FILE"],
    ["a zip that leads out", zipOf({ "../AGENTS.md": "x" }), "UNREADABLE_FILE"],
    ["a zip bomb", zipOf({ "AGENTS.md": new Uint8Array(60 * 1024 * 1024) }), "UNREADABLE_FILE"],
    [
      "too many files",
      zipOf(Object.fromEntries(Array.from({ length: 7_000 }, (_, n) => [`f${n}`, ""]))),
      "UNREADABLE_FILE",
    ],
    ["a picture without a character", pngOf({ note: {} }), "UNREADABLE_FILE"],
    ["a picture whose text is no card", pngOf({ chara: { a: 1 } }), "UNREADABLE_FILE"],
    ["a damaged picture", damaged, "UNREADABLE_FILE"],
    ["a picture that ends early", pngOf({ chara: CARD_V2 }).slice(0, 60), "UNREADABLE_FILE"],
  ])("%s is refused", async (_, bytes, code) => {
    expect(await refusalOf(bytes)).toMatchObject({ status: 400, code });
  });

  test.each(["hello", "[1,"])("that is no JSON says which files are taken: %s", async (text) => {
    expect((await refusalOf(bytesOf(text))).message).toMatch(/^This file is not JSON\. .*character cards/);
  });

  test("with a name for another's prototype changes nothing", async () => {
    const taken = await take(
      bytesOf('{"name":"P","bio":"B","__proto__":{"polluted":1},"settings":{"__proto__":{"secrets":{"a":1}}}}'),
    );
    expect(taken.agent.name).toBe("P");
    expect(Reflect.get({}, "polluted")).toBeUndefined();
  });

  test("with control characters, half surrogates and endless lines is stored as text", async () => {
    const taken = await take(bytesOf('{"name":"A\\u202eB","bio":"B"}'));
    expect(taken.agent.name).toBe("A B");
    expect(instructionsOf(await take(zipOf({ "SOUL.md": "x\0y" })))).not.toContain("\0");
    expect(factsOf(`- ${"word ".repeat(2_000)}`).every((fact) => fact.length <= 2_000)).toBe(true);
    expect(factsOf("<!-- ".repeat(10_000)).length).toBeLessThan(50);
  });

  test("a text chunk without an end of its keyword is no card", async () => {
    const png = Buffer.concat([
      pngOf({}).subarray(0, -12),
      chunk("tEXt", Buffer.alloc(300, 65)),
      chunk("IEND", Buffer.alloc(0)),
    ]);
    expect(await refusalOf(png)).toMatchObject({ code: "UNREADABLE_FILE" });
  });
});
