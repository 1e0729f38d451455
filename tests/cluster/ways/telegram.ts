// Telegram, whose bots ask for messages.
import type { SpawnedTelegram } from "../../support/telegram-control.ts";
import { type Bot, connect, itemOf, type Way, type WayOptions } from "./way.ts";

const CHATS = 42;
const FIRST_CHAT_ID = 1_000;
const BOTS_OF_ONE_CELL = 4;
const BOTS_OF_EACH_CELL = 2;

export async function openTelegram(telegram: SpawnedTelegram, options: WayOptions): Promise<Way> {
  const cells = options.accounts.size;
  const bots: Bot[] = Array.from({ length: cells === 1 ? BOTS_OF_ONE_CELL : cells * BOTS_OF_EACH_CELL }, (_, n) => ({
    token: `${100_000 + n}:${"cluster-test-token-of-a-bot".padEnd(35, "x")}`,
    cell: n % cells,
  }));
  await telegram.addBots(bots.map(({ token }) => ({ token })));
  await connect("channel_a", bots, options);
  return {
    name: "Telegram",
    cells: Array.from({ length: CHATS }, (_, chat) => itemOf(bots, chat).cell),
    isPlatform: true,
    says: async (chat, text) => void (await telegram.userSays(itemOf(bots, chat).token, FIRST_CHAT_ID + chat, text)),
    async replies() {
      const sent = await Promise.all(bots.map(({ token }) => telegram.sent(token)));
      return sent.flat().map(({ chatId, text, at }) => ({ chat: chatId - FIRST_CHAT_ID, text, at }));
    },
  };
}
