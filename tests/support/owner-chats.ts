// An owner's private chat with a bot on each platform, over the strict fakes: the same few verbs for all of them.
import type { Client } from "./client.ts";
import { startDiscord, tokenFor } from "./discord.ts";
import { eventually } from "./eventually.ts";
import { startTelegram } from "./telegram.ts";
import { startWhatsApp } from "./whatsapp.ts";

export interface OwnerChat {
  says(text: string): void;
  /** Sends a file; returns the platform's id of the message. */
  sends(name: string, content: string, caption: string): string;
  /** Replies to a message of one's own. */
  answers(id: string, text: string): void;
  /** Presses a button with this label below the newest message that has one. */
  presses(label: string): Promise<void>;
  /** The bot's messages, oldest first, as they read now. */
  texts(): string[];
}

export interface Platform extends AsyncDisposable {
  channel: string;
  env: Record<string, string>;
  /** Connects the agent's bot and makes the person of the chat its owner. */
  connect(owner: Client, agentId: string): Promise<OwnerChat>;
}

async function connect(owner: Client, agentId: string, channel: string, body: object): Promise<void> {
  const { status, text } = await owner.put(`/api/agents/${agentId}/channels/${channel}`, body);
  if (status !== 200) throw new Error(`${channel} was not connected: ${status} ${text}`);
}

/** Waits for a message with the button, and presses it. */
async function press<T>(messages: () => { message: T; labels: string[] }[], label: string, act: (message: T) => void) {
  const found = await eventually(() => messages().findLast(({ labels }) => labels.includes(label)), {
    what: `a button ${label}`,
  });
  act(found.message);
}

export async function telegramPlatform(language: string): Promise<Platform> {
  const fake = await startTelegram();
  const CHAT = 4711;
  return {
    channel: "channel_a",
    env: { CHANNEL_A_API_ROOT: fake.url },
    async connect(owner, agentId) {
      const token = `300001:${"telegram-test-token-of-a-bot".padEnd(35, "x")}`;
      const bot = fake.addBot(token);
      await connect(owner, agentId, "channel_a", { token, ownerId: String(CHAT) });
      const says = { from: { id: CHAT, language_code: language } };
      return {
        says: (text) => void bot.userSays(CHAT, text, says),
        sends: (name, content, caption) =>
          String(bot.userSendsFile(CHAT, name, Buffer.from(content), caption, says).messageId),
        answers: (id, text) => void bot.userSays(CHAT, text, { ...says, replyTo: Number(id) }),
        presses: (label) =>
          press(
            () => bot.sent(CHAT).map((message) => ({ message, labels: message.buttons.map(({ text }) => text) })),
            label,
            ({ messageId, buttons }) => {
              bot.userPresses(CHAT, messageId, buttons.find(({ text }) => text === label)?.data ?? "");
            },
          ),
        texts: () => bot.sent(CHAT).map(({ text }) => text),
      };
    },
    [Symbol.asyncDispose]: () => fake.stop(),
  };
}

export async function discordPlatform(): Promise<Platform> {
  const fake = await startDiscord();
  const USER = "700000000000000011";
  return {
    channel: "channel_b",
    env: { CHANNEL_B_API_ROOT: fake.url },
    async connect(owner, agentId) {
      const token = tokenFor("515151515151515001");
      const bot = fake.addBot(token, { username: "berth_owner" });
      await connect(owner, agentId, "channel_b", { token, ownerId: USER });
      const dm = bot.dm(USER);
      return {
        says: (text) => void bot.userSays(dm, text, { from: USER }),
        sends: (name, content, caption) =>
          bot.userSays(dm, caption, {
            from: USER,
            files: [{ name, type: "text/plain", bytes: Buffer.from(content) }],
          }),
        answers: (replyTo, text) => void bot.userSays(dm, text, { from: USER, replyTo }),
        presses: (label) =>
          press(
            () => bot.sent(dm).map((message) => ({ message, labels: message.buttons.map((one) => one.label) })),
            label,
            ({ id, buttons }) => {
              bot.userPresses(id, buttons.find((one) => one.label === label)?.customId ?? "", USER);
            },
          ),
        texts: () => bot.sent(dm).map(({ text }) => text),
      };
    },
    [Symbol.asyncDispose]: () => fake.stop(),
  };
}

/** @param web the address of the service, which the platform posts to */
export async function whatsappPlatform(web: () => string): Promise<Platform> {
  const USER = "15550001111";
  const app = { id: "9001", secret: "the-operators-app-secret" };
  const fake = await startWhatsApp({
    webhookAddress: (url) => url.replace("https://berth.example", web()),
    https: true,
    webhookRetryMs: 20,
  });
  fake.addApp(app.id, app.secret);
  return {
    channel: "channel_c",
    env: {
      BASE_URL: "https://berth.example",
      CHANNEL_C_API_ROOT: fake.url,
      CHANNEL_C_APP_ID: app.id,
      CHANNEL_C_APP_SECRET: app.secret,
    },
    async connect(owner, agentId) {
      const account = fake.addAccount("EAAtokenOfTheOwnersAccount", { waba: "102290129340001" });
      await connect(owner, agentId, "channel_c", { token: "EAAtokenOfTheOwnersAccount", ownerId: USER });
      return {
        says: (text) => void account.says(text),
        sends: (filename, content, caption) =>
          account.sendsFile("document", Buffer.from(content), { mime: "text/plain", filename, caption }),
        answers: (id, body) => void account.pushes({ type: "text", text: { body }, context: { from: USER, id } }),
        presses: (label) =>
          press(
            () =>
              account
                .sent(USER)
                .map((message) => ({ message, labels: message.buttons?.map(({ title }) => title) ?? [] })),
            label,
            ({ id, buttons = [] }) => {
              const { id: answer = "", title = "" } = buttons.find((one) => one.title === label) ?? {};
              account.pushes({
                type: "interactive",
                interactive: { type: "button_reply", button_reply: { id: answer, title } },
                context: { id },
              });
            },
          ),
        texts: () => account.sent(USER).map(({ text }) => text),
      };
    },
    [Symbol.asyncDispose]: () => fake.stop(),
  };
}
