// People who write to the bots, and the proof that each message was answered, once and in order.
import { eventually } from "../support/eventually.ts";
import type { SpawnedTelegram } from "../support/telegram-control.ts";

export interface Conversations {
  /** One message in each of `count` chats of each bot, or of the one with `token`. */
  say(count?: number, token?: string): Promise<void>;
  /** Writes on, some messages a second, until the returned function is called. */
  keepTalking(): () => Promise<number>;
  /** Messages so far, and those without an answer. */
  counts(): Promise<{ said: number; waiting: number }>;
  /** Waits until each message has its answer. */
  answered(what: string, timeoutMs?: number): Promise<void>;
  /**
   * Takes the messages without an answer as given up: their senders were told so, and an answer may come later than that of the next
   * message. Returns how many.
   */
  givenUp(): Promise<number>;
  /**
   * After a restore: waits until no more answers come, and takes those without one as lost. Returns how many, and how long before
   * `goneAt` (of performance.now) the oldest of them was said.
   */
  afterLoss(goneAt: number): Promise<{ lost: number; oldestMs: number }>;
  /** Takes messages of this bot as never said: its agent is gone. */
  forget(token: string): void;
  /** Throws unless each message was answered in the order of its chat. Returns how many answers were shown twice. */
  check(): Promise<number>;
}

const CHATS = 8;
const PACE_MS = 40;
/** If no answer has come for so long, none will. */
const QUIET_MS = 5_000;

interface Said {
  token: string;
  chat: number;
  text: string;
  /** Of performance.now. */
  at: number;
  isGivenUp?: boolean;
}

export function createConversations(telegram: SpawnedTelegram, all: readonly string[]): Conversations {
  let tokens = all;
  let said: Said[] = [];
  let count = 0;
  const sayTo = async (token: string, chat: number) => {
    // Texts are unique and the provider echoes them, so an answer identifies its message.
    const text = `message ${++count} in chat ${chat}`;
    said.push({ token, chat, text, at: performance.now() });
    await telegram.userSays(token, 1_000 + chat, text);
  };
  const missing = async () => {
    const shown = await Promise.all([...new Set(said.map(({ token }) => token))].map((token) => telegram.sent(token)));
    const texts = new Set(shown.flat().map(({ text }) => text));
    return said.filter(({ text }) => !texts.has(`echo: ${text}`));
  };
  return {
    async say(count = CHATS, only) {
      for (const token of only === undefined ? tokens : [only])
        for (let chat = 0; chat < count; chat++) await sayTo(token, chat);
    },
    keepTalking() {
      const before = said.length;
      let isOver = false;
      const talking = (async () => {
        for (let n = 0; !isOver; n++) {
          await sayTo(tokens[n % tokens.length] ?? "", Math.floor(n / tokens.length) % CHATS);
          await Bun.sleep(PACE_MS);
        }
      })();
      return async () => {
        isOver = true;
        await talking;
        return said.length - before;
      };
    },
    async counts() {
      return { said: said.length, waiting: (await missing()).length };
    },
    async answered(what, timeoutMs = 90_000) {
      let left: Said[] = [];
      const isAnswered = async () => {
        left = await missing();
        return left.length === 0;
      };
      await eventually(isAnswered, { timeoutMs, everyMs: 200, what }).catch((cause: unknown) => {
        throw new Error(`${what}: ${left.length} have no answer, such as ${JSON.stringify(left.slice(0, 3))}`, {
          cause,
        });
      });
    },
    async givenUp() {
      const left = await missing();
      for (const one of left) one.isGivenUp = true;
      return left.length;
    },
    async afterLoss(goneAt) {
      let [before, now] = [-1, (await missing()).length];
      while (now > 0 && now !== before) {
        await Bun.sleep(QUIET_MS);
        [before, now] = [now, (await missing()).length];
      }
      const lost = new Set(await missing());
      said = said.filter((one) => !lost.has(one));
      return { lost: lost.size, oldestMs: Math.max(0, ...[...lost].map(({ at }) => Math.round(goneAt - at))) };
    },
    forget(token) {
      tokens = tokens.filter((one) => one !== token);
      said = said.filter((one) => one.token !== token);
    },
    async check() {
      let twice = 0;
      for (const [key, messages] of Map.groupBy(said, ({ token, chat }) => `${token} ${chat}`)) {
        const { token = "", chat = 0 } = messages[0] ?? {};
        const shown = (await telegram.sent(token, 1_000 + chat)).map(({ text }) => text);
        const echoes = shown.filter((text) => text.startsWith("echo: "));
        const firsts = [...new Set(echoes)];
        twice += echoes.length - firsts.length;
        const late = new Set(messages.filter(({ isGivenUp }) => isGivenUp).map(({ text }) => `echo: ${text}`));
        const unanswered = [...late].filter((text) => !firsts.includes(text));
        if (unanswered.length > 0) throw new Error(`Chat ${key} never got "${unanswered.join('", "')}".`);
        const inOrder = firsts.filter((text) => !late.has(text));
        const expected = messages.filter(({ isGivenUp }) => !isGivenUp).map(({ text }) => `echo: ${text}`);
        const at = expected.findIndex((text, n) => inOrder[n] !== text);
        if (at >= 0)
          throw new Error(
            `Chat ${key} got "${inOrder[at]}" where "${expected[at]}" was expected; shown: ${echoes.join(", ")}`,
          );
      }
      return twice;
    },
  };
}
