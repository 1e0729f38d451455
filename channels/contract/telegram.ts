// Telegram's side of the contract: the strict fake, played as any platform is.
import { startTelegram } from "../../tests/support/telegram.ts";
import { createTelegram } from "../telegram.ts";
import type { Place, Platform } from "./platform.ts";

const FAST = { every: 0, burst: 1 };
const quiet = { debug: () => undefined, warn: () => undefined };

export async function telegram(): Promise<Platform> {
  const fake = await startTelegram();
  const token = "4242:contract-test-token";
  const bot = fake.addBot(token, { username: "contract_bot" });
  const chats: Record<Place, number> = { private: 77, group: -1005 };
  const rules = { bot: FAST, chat: FAST, group: FAST, draft: FAST, edit: FAST, groupEdit: FAST };
  const accidents = {
    busy: { status: 429, retryAfter: 2 },
    broken: { status: 502 },
    cut: "cut",
    silent: "hang",
  } as const;
  let last = { updateId: 0, chatId: 0, messageId: 0 };
  const standing = (chatId: number) => bot.sent(chatId).filter(({ deleted }) => !deleted);
  // Bots can't write to people who never wrote to them.
  bot.userSays(chats.private, "/start");
  bot.userSays(chats.group, "hello all");
  await fetch(`${fake.url}/bot${token}/getUpdates?offset=2000000000`);
  return {
    channel: createTelegram({ apiRoot: fake.url, commands: {}, log: quiet, rules }),
    binding: { agentId: "agent", token, bot: { id: "4242", username: "contract_bot" } },
    strangeToken: "4243:contract-test-token",
    peers: { private: "77", group: "-1005" },
    limit: 4096,
    idempotent: false,
    says(text, place = "private", naming = false) {
      const chatId = chats[place];
      const { updateId = 0, messageId } = bot.userSays(chatId, naming ? `@contract_bot ${text}` : text, {
        from: { id: 77 },
      });
      last = { updateId, chatId, messageId };
      return `${chatId}:${messageId}`;
    },
    pictures(bytes, words) {
      const { messageId } = bot.userSendsFile(chats.private, "picture.jpg", bytes, words, { as: "photo" });
      return `${chats.private}:${messageId}`;
    },
    repeats: () => bot.repeats(last.updateId),
    edits: (text) => void bot.userEdits(last.chatId, last.messageId, text),
    deletes: () => bot.userDeletes(last.chatId, last.messageId),
    disorders(texts) {
      bot.hold();
      const ids = texts.map((text) => `${chats.private}:${bot.userSays(chats.private, text).messageId}`);
      bot.release(true);
      return ids;
    },
    removes(id) {
      const [chatId, messageId] = id.split(":").map(Number);
      bot.userDeletes(chatId ?? 0, messageId ?? 0);
    },
    shown: (place = "private") =>
      standing(chats[place]).map(({ chatId, messageId, text, replyTo }) => ({
        id: `${chatId}:${messageId}`,
        text,
        ...(replyTo === undefined ? {} : { replyTo: `${chatId}:${replyTo}` }),
      })),
    grew: (place = "private") => [
      ...bot.drafts(chats[place]).map(({ text }) => text),
      ...bot.sent(chats[place]).flatMap(({ edits }) => edits.map(({ text }) => text)),
    ],
    typing: (place = "private") => bot.actions(chats[place]).length,
    sendFails: (accident) =>
      accident === "lost"
        ? fake.fail("sendMessage", "cut", { when: "after" })
        : fake.fail("sendMessage", accidents[accident]),
    receiveFails: (accident) => fake.fail("getUpdates", accidents[accident]),
    blocks: () => bot.userBlocks(chats.private),
    revokes: () => fake.revoke(token),
    unconfirmed: () => bot.pending(),
    [Symbol.asyncDispose]: () => fake.stop(),
  };
}
