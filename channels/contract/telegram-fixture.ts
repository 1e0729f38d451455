// Drives the strict fake of Telegram through the interface that the contract's scenarios use.
import { startTelegram } from "../../tests/support/telegram.ts";
import { createTelegram } from "../telegram/index.ts";
import type { ConversationKind, PlatformFixture } from "./harness.ts";

const UNLIMITED = { every: 0, burst: 1 };
const silentLog = { debug: () => undefined, warn: () => undefined };

export async function createTelegramFixture(): Promise<PlatformFixture> {
  const fake = await startTelegram();
  const token = "4242:contract-test-token";
  const bot = fake.addBot(token, { username: "contract_bot" });
  const chats: Record<ConversationKind, number> = { private: 77, group: -1005 };
  const rules = {
    bot: UNLIMITED,
    chat: UNLIMITED,
    group: UNLIMITED,
    draft: UNLIMITED,
    edit: UNLIMITED,
    groupEdit: UNLIMITED,
  };
  const faults = {
    busy: { status: 429, retryAfter: 2 },
    broken: { status: 502 },
    cut: "cut",
    silent: "hang",
  } as const;
  let last = { updateId: 0, chatId: 0, messageId: 0 };
  const notDeleted = (chatId: number) => bot.sent(chatId).filter(({ deleted }) => !deleted);
  // A bot can't write to people who never wrote to it.
  bot.userSays(chats.private, "/start");
  bot.userSays(chats.group, "hello all");
  await fetch(`${fake.url}/bot${token}/getUpdates?offset=2000000000`);
  return {
    channel: createTelegram({ apiRoot: fake.url, commands: {}, log: silentLog, rules }),
    binding: { agentId: "agent", token, bot: { id: "4242", username: "contract_bot" } },
    strangeToken: "4243:contract-test-token",
    peers: { private: "77", group: "-1005" },
    limit: 4096,
    userSays(text, kind = "private", isNamed = false) {
      const chatId = chats[kind];
      const { updateId = 0, messageId } = bot.userSays(chatId, isNamed ? `@contract_bot ${text}` : text, {
        from: { id: 77 },
      });
      last = { updateId, chatId, messageId };
      return `${chatId}:${messageId}`;
    },
    userSendsPicture(bytes, words) {
      const { messageId } = bot.userSendsFile(chats.private, "picture.jpg", bytes, words, { as: "photo" });
      return `${chats.private}:${messageId}`;
    },
    userReplies: (id, words) => void bot.userSays(chats.private, words, { replyTo: Number(id.split(":").at(-1)) }),
    userSendsVoice(bytes) {
      const { messageId } = bot.userSendsFile(chats.private, "voice.ogg", bytes, undefined, { as: "voice" });
      return `${chats.private}:${messageId}`;
    },
    redeliverLast: () => bot.repeats(last.updateId),
    editLast: (text) => void bot.userEdits(last.chatId, last.messageId, text),
    deleteLast: () => bot.userDeletes(last.chatId, last.messageId),
    userSaysOutOfOrder(texts) {
      bot.hold();
      const ids = texts.map((text) => `${chats.private}:${bot.userSays(chats.private, text).messageId}`);
      bot.release(true);
      return ids;
    },
    removeBotMessage(id) {
      const [chatId, messageId] = id.split(":").map(Number);
      bot.userDeletes(chatId ?? 0, messageId ?? 0);
    },
    visibleMessages: (kind = "private") =>
      notDeleted(chats[kind]).map(({ chatId, messageId, text, replyTo, file }) => ({
        id: `${chatId}:${messageId}`,
        text,
        ...(file && { file }),
        ...(replyTo === undefined ? {} : { replyTo: `${chatId}:${replyTo}` }),
      })),
    visibleChoices: (id) =>
      bot
        .sent(chats.private)
        .filter(({ messageId }) => id === `${chats.private}:${messageId}`)
        .flatMap(({ buttons }) => buttons.map(({ text: label, data: text }) => ({ label, text }))),
    userChooses: (id, { text }) => void bot.userPresses(chats.private, Number(id.split(":")[1]), text),
    previewTexts: (kind = "private") => [
      ...bot.drafts(chats[kind]).map(({ text }) => text),
      ...bot.sent(chats[kind]).flatMap(({ edits }) => edits.map(({ text }) => text)),
    ],
    typingCount: (kind = "private") => bot.actions(chats[kind]).length,
    failNextSend: (fault) =>
      fault === "lost" ? fake.fail("sendMessage", "cut", { when: "after" }) : fake.fail("sendMessage", faults[fault]),
    shownAs: { picture: "photo", voice: "voice", audio: "audio", document: "document" },
    failNextFiles(fault) {
      if (fault === "lost") fake.fail("sendPhoto", "cut", { when: "after" });
      else if (fault !== "refused") fake.fail("sendPhoto", faults[fault]);
      else for (const method of ["sendPhoto", "sendDocument"]) fake.fail(method, { status: 400 });
    },
    failNextReceive: (fault) => fake.fail("getUpdates", faults[fault]),
    userBlocksBot: () => bot.userBlocks(chats.private),
    revokeToken: () => fake.revoke(token),
    unconfirmedCount: () => bot.pending(),
    [Symbol.asyncDispose]: () => fake.stop(),
  };
}
