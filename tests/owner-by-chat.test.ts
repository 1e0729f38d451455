// An owner who has nothing but the chat, on each platform, on the compiled binary: schedules, approvals, memory, files, commands and
// failures. TRANSCRIPTS=FOLDER writes down what both sides say.

import { expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startBerth } from "./support/berth.ts";
import { eventually } from "./support/eventually.ts";
import { member, provision } from "./support/members.ts";
import { discordPlatform, type Platform, telegramPlatform, whatsappPlatform } from "./support/owner-chats.ts";
import { type ChatRequest, startUpstream } from "./support/upstream.ts";

interface ToolCall {
  name: string;
  arguments: object;
}
const idIn = (result: string) => /"id":"([^"]+)"/.exec(result)?.[1] ?? "";
const REMIND = { name: "remind_me", arguments: { text: "tea", inMinutes: 5 } };
/** What the model calls, one after the other, when the owner says something that begins so. */
const PLANS: Record<string, ((result: string) => ToolCall)[]> = {
  "Every weekday at nine": [
    () => ({
      name: "schedule_task",
      arguments: { name: "Weather", prompt: "Tell the weather.", cron: "0 9 * * MON-FRI", timezone: "Europe/Vienna" },
    }),
  ],
  "What is planned": [() => ({ name: "list_schedules", arguments: {} })],
  "Pause it": [
    () => ({ name: "list_schedules", arguments: {} }),
    (result) => ({ name: "pause_schedule", arguments: { id: idIn(result), paused: true } }),
  ],
  "Delete it": [
    () => ({ name: "list_schedules", arguments: {} }),
    (result) => ({ name: "cancel_schedule", arguments: { id: idIn(result) } }),
  ],
  "Remind me": [() => REMIND],
  "I like green tea": [() => ({ name: "remember", arguments: { fact: "They like green tea." } })],
  "What do you know": [() => ({ name: "recall", arguments: { query: "me" } })],
  "Forget that": [
    () => ({ name: "recall", arguments: { query: "tea" } }),
    (result) => ({ name: "forget", arguments: { id: idIn(result) } }),
  ],
  "[document: guide.txt]": [() => ({ name: "keep_file", arguments: {} })],
  "Keep what I sent": [() => ({ name: "keep_file", arguments: {} })],
  "Keep this one": [() => ({ name: "keep_file", arguments: {} })],
  "How hot": [() => ({ name: "search_files", arguments: { query: "degrees" } })],
};

function answer({ messages, lastUser, toolResults }: ChatRequest) {
  const since = messages.findLastIndex(({ role }) => role === "user");
  const done = messages.slice(since).filter(({ tool_calls: calls }) => calls && calls.length > 0).length;
  const result = toolResults.map(({ content }) => content).join(" ");
  const plan = Object.entries(PLANS).find(([beginning]) => lastUser.includes(beginning))?.[1] ?? [];
  const next = plan[done];
  if (next) return { toolCalls: [next(result)] };
  return done > 0
    ? `[the model tells] ${result.replace(/\s+/g, " ").slice(0, 300)}`
    : `[the model answers] ${lastUser}`;
}

const PLATFORMS: [string, (web: () => string) => Promise<Platform>][] = [
  ["Telegram", () => telegramPlatform("en")],
  ["Discord", () => discordPlatform()],
  ["WhatsApp", (web) => whatsappPlatform(web)],
];

test.each(PLATFORMS)("an owner does all of it by chat on %s", async (name, start) => {
  let web = "";
  await using platform = await start(() => web);
  // Its model has a price, so that a budget can be spent.
  const pricing = { prompt: "0.000001", completion: "0.000002" };
  await using upstream = await startUpstream({ models: [{ id: "fake-small", pricing }] });
  upstream.script(answer);
  await using berth = await startBerth({
    env: {
      ...platform.env,
      PROVIDER_1_BASE_URL: upstream.url,
      PROVIDER_1_API_KEY: "sk-test",
      MODEL_A: "provider_1:fake-small",
      RATE_LIMITS: "off",
    },
  });
  web = berth.web;
  const ada = await member(berth, "enterprise");
  const { id } = await provision(ada, "Harbour", { approvals: { remind_me: "ask" } });
  const chat = await platform.connect(ada, id);
  const transcript: string[] = [];
  let read = 0;
  /** Waits until the bot's newest message contains the words; returns all that it has said since the last time. */
  async function hears(words: string | RegExp): Promise<string> {
    await eventually(
      () => {
        const newest = chat.texts().slice(read);
        return typeof words === "string"
          ? newest.some((text) => text.includes(words))
          : newest.some((text) => words.test(text));
      },
      { timeoutMs: 20_000, what: `${name} says ${words}; it said ${JSON.stringify(chat.texts().slice(read))}` },
    );
    const said = chat.texts().slice(read);
    read += said.length;
    transcript.push(...said.map((text) => `bot: ${text.replaceAll("\n", "\n     ")}`));
    return said.join("\n");
  }
  const ask = (text: string, words: string | RegExp) => {
    transcript.push(`\nowner: ${text}`);
    chat.says(text);
    return hears(words);
  };
  const press = async (label: string, words: string | RegExp) => {
    transcript.push(`\nowner presses: ${label}`);
    await chat.presses(label);
    return hears(words);
  };
  try {
    // Commands.
    await ask("/start", "Harbour");
    const help = await ask("/help", "/approve");
    for (const command of ["/reset", "/status", "/model", "/stop", "/pair"]) expect(help).toContain(command);
    await ask("/status", "Harbour is");
    await ask("/model", "fake-small");
    await ask("/pair", "waiting");
    await ask("/approve", "Which code?");
    await ask("/approve XXXXXX", "code");
    // Schedules.
    await ask("Every weekday at nine, in Vienna, tell me the weather", "Every weekday at 09:00 (Europe/Vienna)");
    await ask("What is planned?", "Weather");
    await ask("Pause it", '"paused":true');
    await ask("Delete it", '"cancelled":true');
    const { schedules } = (await ada.get<{ schedules: object[] }>(`/api/agents/${id}/schedules`)).body;
    expect(schedules).toEqual([]);
    // Memory.
    await ask("I like green tea", '"remembered":true');
    await ask("What do you know about me?", "They like green tea.");
    await ask("Forget that", '"forgotten":true');
    const facts = (await ada.get<{ memories: object[] }>(`/api/agents/${id}/memories`)).body;
    expect(facts.memories).toEqual([]);
    // Approvals: by a button, refused by a button, changed in the console.
    const question = await ask("Remind me of tea in five minutes", "May I do this?");
    expect(question).toContain("Set a reminder in 5 minutes: tea");
    // The buttons carry the codes.
    expect(question).not.toContain("/approve");
    await press("Approve", "[the model tells]");
    await ask("Remind me of tea again", "May I do this?");
    expect(await press("Deny", "[the model tells]")).toContain("denied");
    await ask("Remind me of tea once more", "May I do this?");
    const { approvals } = (await ada.get<{ approvals: { id: string }[] }>(`/api/agents/${id}/approvals?status=pending`))
      .body;
    transcript.push("\nowner changes the call in the console, and approves it");
    const input = { text: "coffee", inMinutes: 10 };
    await ada.post(`/api/agents/${id}/approvals/${approvals[0]?.id}`, { decision: "approve", input });
    expect(await hears("[the model tells]")).toContain("coffee");
    await ask("Remind me of tea a last time", "May I do this?");
    await ask("/stop", "Stopped");
    // A file.
    transcript.push("\nowner sends guide.txt: keep this");
    chat.sends("guide.txt", "Green tea needs eighty degrees.", "keep this");
    const keep = await hears("May I do this?");
    expect(keep).toContain('Keep "guide.txt"');
    expect(keep).toContain("I have read something here that you did not write");
    await press("Approve", "Kept: guide.txt");
    await eventually(
      async () => {
        const { files } = (await ada.get<{ files: { status: string }[] }>(`/api/agents/${id}/files`)).body;
        return files[0]?.status === "ready";
      },
      { timeoutMs: 30_000 },
    );
    // Files of earlier messages: by a reply to one, and the latest.
    transcript.push("\nowner sends oolong.txt and pu-erh.txt");
    const oolong = chat.sends("oolong.txt", "Oolong needs ninety degrees.", "Look at this");
    await hears("[the model answers]");
    chat.sends("pu-erh.txt", "Pu-erh needs boiling water.", "And at this");
    await hears("[the model answers]");
    await ask("Keep what I sent", 'Keep "pu-erh.txt"');
    await press("Approve", "Kept: pu-erh.txt");
    transcript.push("\nowner answers the message with oolong.txt: Keep this one");
    chat.answers(oolong, "Keep this one");
    await hears('Keep "oolong.txt"');
    await press("Approve", "Kept: oolong.txt");
    await ask("/new", "new conversation");
    await ask("How hot is green tea?", "eighty degrees");
    await ask("/reset", "new conversation");
    // Failures.
    upstream.script({ status: 401 });
    await ask("Are you there?", "Sorry");
    upstream.script(answer);
    await ask("And now?", "[the model answers] And now?");
    const budget = (usdPerDay: number) => ada.patch(`/api/agents/${id}`, { config: { budget: { usdPerDay } } });
    expect((await budget(1e-9)).status).toBe(200);
    await ask("And now, with nothing left to spend?", "Sorry");
    expect((await budget(100)).status).toBe(200);
    // What is written to a stopped agent is answered after its start.
    await ada.post(`/api/agents/${id}/stop`);
    transcript.push('\nowner stops the agent in the console, writes "Still there?", and starts it again');
    chat.says("Still there?");
    await ada.post(`/api/agents/${id}/start`);
    await hears("[the model answers] Still there?");
  } finally {
    const folder = process.env.TRANSCRIPTS;
    if (folder) {
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, `${name.toLowerCase()}.txt`), `${transcript.join("\n")}\n`);
    }
  }
});

test("a bot speaks the language of the owner's app, on Telegram in German", async () => {
  await using platform = await telegramPlatform("de");
  await using upstream = await startUpstream();
  upstream.script(answer);
  await using berth = await startBerth({
    env: { ...platform.env, PROVIDER_1_BASE_URL: upstream.url, PROVIDER_1_API_KEY: "sk-test", RATE_LIMITS: "off" },
  });
  const ada = await member(berth, "enterprise");
  const { id } = await provision(ada, "Harbour", {
    model: "provider_1:fake-small",
    approvals: { remind_me: "ask" },
  });
  const chat = await platform.connect(ada, id);
  const hears = (words: string) =>
    eventually(() => chat.texts().findLast((text) => text.includes(words)), { timeoutMs: 20_000, what: words });
  chat.says("/help");
  expect(await hears("/reset")).toContain("ein neues Gespräch anfangen");
  chat.says("Remind me of tea");
  expect(await hears("Darf ich das tun?")).not.toContain("/approve");
  await chat.presses("Erlauben");
  await hears("[the model tells]");
});
