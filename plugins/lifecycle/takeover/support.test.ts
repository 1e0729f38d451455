// Builds files of other programs for tests.
import { crc32, deflateSync } from "node:zlib";
import { zipSync } from "fflate";

const encode = (text: string) => new TextEncoder().encode(text);

export const bytesOf = (value: unknown): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(encode(typeof value === "string" ? value : JSON.stringify(value)));

export const zipOf = (files: Record<string, string | Uint8Array>): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(
    zipSync(
      Object.fromEntries(
        Object.entries(files).map(([path, text]) => [path, typeof text === "string" ? encode(text) : text]),
      ),
    ),
  );

/** A chunk of a PNG. */
export function chunk(type: string, data: Uint8Array): Uint8Array {
  const typed = Buffer.concat([encode(type), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(typed));
  return Buffer.concat([length, typed, sum]);
}

const SIGNATURE = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a);
/** One black point. */
const PIXEL = [
  chunk("IHDR", Uint8Array.of(0, 0, 0, 1, 0, 0, 0, 1, 8, 0, 0, 0, 0)),
  chunk("IDAT", deflateSync(Uint8Array.of(0, 0))),
];

/** A picture with these texts, in base64 as cards are. */
export function pngOf(texts: Record<string, unknown>): Uint8Array<ArrayBuffer> {
  const chunks = Object.entries(texts).map(([keyword, value]) => {
    const base64 = Buffer.from(JSON.stringify(value)).toString("base64");
    return chunk("tEXt", encode(`${keyword}\0${base64}`));
  });
  return Uint8Array.from(Buffer.concat([SIGNATURE, ...PIXEL, ...chunks, chunk("IEND", new Uint8Array())]));
}

/** The state folder of OpenClaw with one agent. */
export const OPENCLAW: Readonly<Record<string, string>> = {
  "workspace/AGENTS.md":
    "# AGENTS.md\n<!-- a hint -->\n- Read SOUL.md first.\n- Never say sk-or-v1-0123456789abcdef0123456789abcdef.",
  "workspace/SOUL.md": "Be brief and kind.",
  "workspace/IDENTITY.md": "# IDENTITY.md\n\n- **Name:** Skipper\n- **Emoji:** ⚓\n",
  "workspace/USER.md": "- Name: Ada",
  "workspace/MEMORY.md": "## Boat\n- Called Aurora\n  since 1999\n- Berth 12\n\nAda likes tea.\n",
  "workspace/memory/2026-03-17.md": "- Bought rope",
  "workspace/memory/2026-03-18.md": "- Fixed the sail",
  "workspace/HEARTBEAT.md": "# Heartbeat\n- Check the tide",
  "workspace/TOOLS.md": "ssh harbour",
  "workspace/BOOTSTRAP.md": "Hello",
  "workspace/skills/weather/SKILL.md": "---\nname: weather\ndescription: Tells the weather.\n---\nLook outside.",
  "workspace/skills/weather/.env": "KEY=secret",
  "workspace/skills/broken/SKILL.md": "no fields",
  "openclaw.json": `{
    // JSON5, with comments
    agents: { defaults: { model: { primary: "anthropic/claude-sonnet-4-5" }, userTimezone: "Europe/Vienna" } },
    channels: {
      telegram: { botToken: "123456789:${"A".repeat(35)}", dmPolicy: "allowlist", allowFrom: ["42", 43, "tg:44", "@ada", "*"] },
      whatsapp: { allowFrom: ["+43 1 555"] },
      discord: { dm: { allowFrom: ["123456789012345678"] } },
      slack: { botToken: "xoxb-not-taken" },
    },
    env: { OPENROUTER_API_KEY: "sk-or-not-taken" },
    plugins: { entries: {} },
    mcpServers: { files: { command: "npx" } },
    gateway: { auth: { token: "not-taken" }, },
  }`,
  "cron/jobs.json": JSON.stringify({
    jobs: [
      job("Morning", { kind: "cron", expr: "0 7 * * *", tz: "Europe/Vienna" }),
      job("Every hour", { kind: "every", everyMs: 3_600_000 }),
      job("Every seven minutes", { kind: "every", everyMs: 420_000 }),
      job("With seconds", { kind: "cron", expr: "0 0 7 * * *" }),
      job("Once", { kind: "at", at: "2030-01-31T09:00:00" }),
    ],
  }),
  "agents/main/sessions/sessions.json": "private",
  "credentials/oauth.json": "private",
};

function job(name: string, schedule: object) {
  return { jobId: name, name, enabled: true, schedule, payload: { kind: "agentTurn", message: `Do ${name}.` } };
}

export const CARD_V1 = {
  name: "Vera",
  description: "{{char}} keeps the lighthouse. {{user}} is a sailor.",
  personality: "Dry humour",
  scenario: "A storm",
  first_mes: "Ahoy, {{user}}!",
  mes_example: "<START>\n{{user}}: Hi\n{{char}}: Mind the rocks.",
};

export const CARD_V2 = {
  spec: "chara_card_v2",
  spec_version: "2.0",
  data: {
    ...CARD_V1,
    system_prompt: "{{original}} You are {{char}}.",
    post_history_instructions: "Stay in character.",
    creator_notes: "Made for fun",
    alternate_greetings: ["Hm?", "Who is there?"],
    tags: ["sea"],
    creator: "Bob",
    character_version: "1",
    extensions: { depth: 1 },
    character_book: {
      extensions: {},
      entries: [
        { keys: ["lamp", "light"], content: "The lamp burns oil.", enabled: true, insertion_order: 1, extensions: {} },
        { keys: ["ghost"], content: "@@depth 4\nThere is a ghost.", enabled: true, insertion_order: 2, extensions: {} },
        { keys: ["off"], content: "Never shown.", enabled: false, insertion_order: 3, extensions: {} },
      ],
    },
  },
};

export const CARD_V3 = {
  spec: "chara_card_v3",
  spec_version: "3.0",
  data: {
    ...CARD_V2.data,
    nickname: "Vee",
    assets: [{ type: "icon", uri: "ccdefault:", name: "main", ext: "png" }],
    group_only_greetings: [],
    source: ["https://cards.example.com/vera"],
  },
};

export const ELIZA = {
  name: "Nautilus",
  system: "Help sailors.",
  bio: ["Knows every harbour.", "Likes maps."],
  lore: ["Was built in 1999."],
  topics: ["tides", "knots"],
  adjectives: ["calm"],
  style: { all: ["Be short."], chat: ["Be warm."], post: ["Be loud."] },
  messageExamples: [
    [
      { user: "{{user1}}", content: { text: "Which knot?" } },
      { user: "Nautilus", content: { text: "A bowline." } },
    ],
    { examples: [{ name: "Ada", content: { text: "Thanks" } }] },
  ],
  postExamples: ["Ahoy"],
  knowledge: ["The tide turns twice a day.", { path: "docs/tides.md" }],
  plugins: ["@elizaos/plugin-openai", "@elizaos/plugin-telegram"],
  clients: ["telegram"],
  modelProvider: "anthropic",
  settings: {
    model: "claude-sonnet-4-5",
    secrets: { OPENAI_API_KEY: "sk-not-taken-0123456789abcdef", TELEGRAM_BOT_TOKEN: "not-taken" },
    voice: { model: "en_US" },
    avatar: "https://pictures.example.com/n.png",
  },
};
