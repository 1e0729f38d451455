// Controls the Discord fake in its own process: the verbs that it serves and the client that calls them.

import type { Accident, AccidentOptions, Discord, DiscordStats, FakeBot, Route } from "./discord-types.ts";
import { type ControlVerbs, createControlCaller, type SpawnedFake, serveControl, spawnFake } from "./fake-control.ts";

type Settings = Parameters<Discord["set"]>[0];
type BotVerb = {
  [Name in keyof FakeBot]: FakeBot[Name] extends (...args: never[]) => unknown ? Name : never;
}[keyof FakeBot];

/** The same verbs as `Discord` and its bots, over HTTP. */
export interface DiscordControl {
  readonly url: string;
  addBots(bots: { token: string; id?: string; username?: string; messageContent?: boolean }[]): Promise<void>;
  /** One verb of one bot. */
  bot<Name extends BotVerb>(
    token: string,
    verb: Name,
    ...args: Parameters<FakeBot[Name]>
  ): Promise<ReturnType<FakeBot[Name]>>;
  stats(): Promise<DiscordStats>;
  fail(route: Route | "*", accident: Accident, options?: AccidentOptions): Promise<void>;
  set(settings: Settings): Promise<void>;
}

/** The fake as a child process. */
export type SpawnedDiscord = DiscordControl & SpawnedFake;

/** Serves `/_control/<verb>`: the arguments as a JSON list in the body. */
export function control(discord: Discord, request: Request, verb: string): Promise<Response> {
  const verbs: ControlVerbs = {
    addBots: ([bots]: [({ token: string } & Parameters<Discord["addBot"]>[1])[]]) => {
      for (const { token, ...options } of bots) discord.addBot(token, options);
    },
    bot: ([token, name, ...args]: [string, BotVerb, ...never[]]) => {
      const run = discord.bot(token)[name] as (...args: unknown[]) => unknown;
      return run(...args.map((arg: unknown) => arg ?? undefined));
    },
    stats: () => discord.stats(),
    fail: ([route, accident, options]: [Route, Accident, AccidentOptions?]) =>
      discord.fail(route, accident, options ?? {}),
    set: ([settings]: [Settings]) => discord.set(settings),
  };
  return serveControl(verbs, request, verb);
}

export function discordControl(url: string): DiscordControl {
  const call = createControlCaller(url);
  return {
    url,
    addBots: (bots) => call("addBots", bots),
    bot: (...args) => call("bot", ...args),
    stats: () => call("stats"),
    fail: (...args) => call("fail", ...args),
    set: (settings) => call("set", settings),
  };
}

/** Starts the fake with these command line arguments. */
export const spawnDiscord = (...args: string[]): Promise<SpawnedDiscord> =>
  spawnFake("discord.ts", args, discordControl);
