// Controls the Telegram fake in its own process: the verbs that it serves and the client that calls them.

import { type ControlVerbs, createControlCaller, type SpawnedFake, serveControl, spawnFake } from "./fake-control.ts";
import type { Draft, Says, SentMessage } from "./telegram-bot.ts";
import type { Accident, AccidentOptions, Telegram, TelegramStats } from "./telegram-types.ts";

export interface ChatMessage {
  token: string;
  chatId: number;
  text: string;
  says?: Says;
}

type Settings = Parameters<Telegram["set"]>[0];

/** The same verbs as `Telegram`, over HTTP. */
export interface TelegramControl {
  readonly url: string;
  addBots(bots: { token: string; username?: string }[]): Promise<void>;
  /** Sends messages in order; returns their ids. */
  usersSay(sayings: ChatMessage[]): Promise<{ updateId: number; messageId: number }[]>;
  userSays(token: string, chatId: number, text: string, says?: Says): Promise<{ updateId: number; messageId: number }>;
  sent(token: string, chatId?: number): Promise<SentMessage[]>;
  drafts(token: string, chatId?: number): Promise<Draft[]>;
  stats(): Promise<TelegramStats>;
  fail(method: string, accident: Accident, options?: AccidentOptions): Promise<void>;
  set(settings: Settings): Promise<void>;
}

/** The fake as a child process. */
export type SpawnedTelegram = TelegramControl & SpawnedFake;

/** Serves `/_control/<verb>`: the arguments as a JSON list in the body. */
export function control(telegram: Telegram, request: Request, verb: string): Promise<Response> {
  const verbs: ControlVerbs = {
    addBots: ([bots]: [{ token: string; username?: string }[]]) => {
      for (const { token, username } of bots) telegram.addBot(token, username === undefined ? {} : { username });
    },
    usersSay: ([sayings]: [ChatMessage[]]) =>
      sayings.map(({ token, chatId, text, says }) => telegram.bot(token).userSays(chatId, text, says)),
    sent: ([token, chatId]: [string, number?]) => telegram.bot(token).sent(chatId ?? undefined),
    drafts: ([token, chatId]: [string, number?]) => telegram.bot(token).drafts(chatId ?? undefined),
    stats: () => telegram.stats(),
    fail: ([method, accident, options]: [string, Accident, AccidentOptions?]) =>
      telegram.fail(method, accident, options ?? {}),
    set: ([settings]: [Settings]) => telegram.set(settings),
  };
  return serveControl(verbs, request, verb);
}

export function telegramControl(url: string): TelegramControl {
  const call = createControlCaller(url);
  type SentIds = { updateId: number; messageId: number };
  return {
    url,
    addBots: (bots) => call("addBots", bots),
    usersSay: (sayings) => call("usersSay", sayings),
    async userSays(token, chatId, text, says) {
      const [first] = await call<SentIds[]>("usersSay", [{ token, chatId, text, ...(says ? { says } : {}) }]);
      if (!first) throw new Error("The message was not sent.");
      return first;
    },
    sent: (...args) => call("sent", ...args),
    drafts: (...args) => call("drafts", ...args),
    stats: () => call("stats"),
    fail: (...args) => call("fail", ...args),
    set: (settings) => call("set", settings),
  };
}

/** Starts the fake with these command line arguments. */
export const spawnTelegram = (...args: string[]): Promise<SpawnedTelegram> =>
  spawnFake("telegram.ts", args, telegramControl);
