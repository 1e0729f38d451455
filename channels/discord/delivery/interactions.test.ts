// Slash commands that wait for their answer: how long, and what becomes of those that get none.
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

/** A command that was given and taken, and is shown as thought about. */
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

test("one that nobody answers stops thinking before Discord says that it failed", async () => {
  await given();
  interactions.removeAbandoned(ID);
  expect(bot.sent()).toMatchObject([{ thinking: true }]);
  later = 14.2 * MINUTE;
  interactions.removeAbandoned(ID);
  await eventually(() => bot.sent().length === 0);
});

test("one that an earlier process answered keeps its answer, and is nobody else's place", async () => {
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

test("while it waits, its event is held for the next process; not for ever, and not once it is answered", async () => {
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

test("its place is good for as long as Discord takes an answer", async () => {
  const { id, channel_id: peer } = await given();
  later = 14.6 * MINUTE;
  expect(await interactions.find(binding, peer, `interaction:${id}`)).toBeUndefined();
});
