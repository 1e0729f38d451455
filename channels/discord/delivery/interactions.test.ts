// Tests how long slash commands wait for their answer, and what happens to those that get none.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { type Discord, type FakeBot, startDiscord, tokenFor } from "../../../tests/support/discord.ts";
import { eventually } from "../../../tests/support/eventually.ts";
import type { SlashCommand } from "../gateway/messages.ts";
import { createRestClients } from "../rest/rest-clients.ts";
import { createInteractions, type Interactions } from "./interactions.ts";

const ID = "515151515151515151";
const MINUTE = 60_000;
const binding = { agentId: "agent", token: tokenFor(ID), bot: { id: ID, username: "berth" } };

let fake: Discord;
let bot: FakeBot;
let later: number;
let interactions: Interactions;

const process = () =>
  createInteractions({
    clients: createRestClients({ apiRoot: fake.url }),
    onFailure: () => undefined,
    now: () => Date.now() + later,
  });

beforeEach(async () => {
  fake = await startDiscord();
  bot = fake.addBot(binding.token);
  later = 0;
  interactions = process();
});
afterEach(() => fake.stop());

/** A command that was acknowledged and shows "… is thinking". */
async function given(seq = 5): Promise<SlashCommand> {
  const peer = bot.dm();
  const id = bot.userCommands(peer, "ask", { question: "why?" });
  const command: SlashCommand = {
    id,
    application_id: ID,
    token: fake.tokenOf(id),
    channel_id: peer,
    user: { id: "700000000000000001", username: "ada" },
    data: { name: "ask" },
  };
  interactions.track(binding, command, { session: "s", seq });
  await interactions.find(binding, peer, `interaction:${id}`);
  return command;
}

test("a command without an answer stops thinking before Discord marks it as failed", async () => {
  await given();
  interactions.removeAbandoned(ID);
  expect(bot.sent()).toMatchObject([{ thinking: true }]);
  later = 14.2 * MINUTE;
  interactions.removeAbandoned(ID);
  await eventually(() => bot.sent().length === 0);
});

test("a command that an earlier process answered keeps its answer", async () => {
  const command = await given();
  const place = await interactions.find(binding, command.channel_id, `interaction:${command.id}`);
  const path = `${place?.path ?? "/"}/messages/@original` as const;
  const apis = createRestClients({ apiRoot: fake.url });
  const body = { content: "Because." };
  await apis.call(binding, AbortSignal.timeout(1_000), {
    method: "patch",
    path: path as `/${string}`,
    body,
    auth: false,
  });
  interactions = process();
  interactions.track(binding, command, { session: "s", seq: 5 });
  expect(await interactions.find(binding, command.channel_id, `interaction:${command.id}`)).toBeDefined();
  expect(await interactions.find(binding, command.channel_id, undefined)).toBeUndefined();
  later = 14.2 * MINUTE;
  interactions.removeAbandoned(ID);
  await fake.waitFor(() => fake.stats().calls.getOriginal === 1);
  expect(bot.sent()).toMatchObject([{ text: "Because." }]);
});

test("the resume point stays before a waiting command, but not for ever and not after its answer", async () => {
  const { id } = await given(5);
  expect(interactions.resumableSequence("s", 9)).toBe(4);
  expect(interactions.resumableSequence("another", 9)).toBe(9);
  expect(interactions.resumableSequence("s", 500)).toBe(500);
  later = 14.6 * MINUTE;
  expect(interactions.resumableSequence("s", 9)).toBe(9);
  later = 0;
  interactions.markAnswered(id);
  expect(interactions.resumableSequence("s", 9)).toBe(9);
});

test("a command can be answered for as long as Discord accepts it", async () => {
  const { id, channel_id: peer } = await given();
  later = 14.6 * MINUTE;
  expect(await interactions.find(binding, peer, `interaction:${id}`)).toBeUndefined();
});
