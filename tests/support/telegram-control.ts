// The fake in a process of its own: its control endpoints, and the client through which a test drives them.

import { bun, type Child, launch } from "./process.ts";
import type { Draft, Says, SentMessage } from "./telegram-bot.ts";
import type { Accident, AccidentOptions, Telegram, TelegramStats } from "./telegram-types.ts";

export interface Saying {
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
  /** In that order; answers with the ids of the messages. */
  usersSay(sayings: Saying[]): Promise<{ updateId: number; messageId: number }[]>;
  userSays(token: string, chatId: number, text: string, says?: Says): Promise<{ updateId: number; messageId: number }>;
  sent(token: string, chatId?: number): Promise<SentMessage[]>;
  drafts(token: string, chatId?: number): Promise<Draft[]>;
  stats(): Promise<TelegramStats>;
  fail(method: string, accident: Accident, options?: AccidentOptions): Promise<void>;
  set(settings: Settings): Promise<void>;
}

/** The fake as a child process. */
export interface SpawnedTelegram extends TelegramControl, AsyncDisposable {
  readonly child: Child;
  stop(): Promise<void>;
}

/** Serves `/_control/<verb>`: the arguments as a JSON list in the body. */
export async function control(telegram: Telegram, request: Request, verb: string): Promise<Response> {
  const verbs: Record<string, (body: never) => unknown> = {
    addBots: ([bots]: [{ token: string; username?: string }[]]) => {
      for (const { token, username } of bots) telegram.addBot(token, username === undefined ? {} : { username });
    },
    usersSay: ([sayings]: [Saying[]]) =>
      sayings.map(({ token, chatId, text, says }) => telegram.bot(token).userSays(chatId, text, says)),
    sent: ([token, chatId]: [string, number?]) => telegram.bot(token).sent(chatId ?? undefined),
    drafts: ([token, chatId]: [string, number?]) => telegram.bot(token).drafts(chatId ?? undefined),
    stats: () => telegram.stats(),
    fail: ([method, accident, options]: [string, Accident, AccidentOptions?]) =>
      telegram.fail(method, accident, options ?? {}),
    set: ([settings]: [Settings]) => telegram.set(settings),
  };
  const run = Object.hasOwn(verbs, verb) ? verbs[verb] : undefined;
  if (!run) return Response.json({ error: `No control verb ${verb}.` }, { status: 404 });
  try {
    const given = await request.text();
    return Response.json((run(JSON.parse(given || "[]") as never) as unknown) ?? null);
  } catch (error) {
    return Response.json({ error: String(error) }, { status: 400 });
  }
}

export function telegramControl(url: string): TelegramControl {
  async function call<T>(verb: string, ...args: unknown[]): Promise<T> {
    const response = await fetch(`${url}/_control/${verb}`, { method: "POST", body: JSON.stringify(args) });
    if (!response.ok) throw new Error(`${verb}: ${await response.text()}`);
    return (await response.json()) as T;
  }
  type Said = { updateId: number; messageId: number };
  return {
    url,
    addBots: (bots) => call("addBots", bots),
    usersSay: (sayings) => call("usersSay", sayings),
    async userSays(token, chatId, text, says) {
      const [said] = await call<Said[]>("usersSay", [{ token, chatId, text, ...(says ? { says } : {}) }]);
      if (!said) throw new Error("Nothing was said.");
      return said;
    },
    sent: (...args) => call("sent", ...args),
    drafts: (...args) => call("drafts", ...args),
    stats: () => call("stats"),
    fail: (...args) => call("fail", ...args),
    set: (settings) => call("set", settings),
  };
}

/** Starts `bun tests/support/telegram.ts` with those arguments; it ends with this process at the latest. */
export async function spawnTelegram(...args: string[]): Promise<SpawnedTelegram> {
  const command = [bun, `${import.meta.dir}/telegram.ts`, ...args];
  const child = launch({ command, env: {}, dir: import.meta.dir });
  const { url } = JSON.parse(await child.ready()) as { url: string };
  const stop = async () => {
    child.signal("SIGKILL");
    await child.exited;
  };
  return { ...telegramControl(url), child, stop, [Symbol.asyncDispose]: stop };
}
