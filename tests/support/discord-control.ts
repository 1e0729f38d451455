// The fake in a process of its own: its control endpoints, and the client through which a test drives it.

import type { Accident, AccidentOptions, Discord, DiscordStats, FakeBot, Route } from "./discord-types.ts";
import { bun, type Child, launch } from "./process.ts";

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
export interface SpawnedDiscord extends DiscordControl, AsyncDisposable {
  readonly child: Child;
  stop(): Promise<void>;
}

/** Serves `/_control/<verb>`: the arguments as a JSON list in the body. */
export async function control(discord: Discord, request: Request, verb: string): Promise<Response> {
  const verbs: Record<string, (body: never) => unknown> = {
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
  const run = Object.hasOwn(verbs, verb) ? verbs[verb] : undefined;
  if (!run) return Response.json({ error: `No control verb ${verb}.` }, { status: 404 });
  try {
    const given = await request.text();
    return Response.json((run(JSON.parse(given || "[]") as never) as unknown) ?? null);
  } catch (error) {
    return Response.json({ error: String(error) }, { status: 400 });
  }
}

export function discordControl(url: string): DiscordControl {
  async function call<T>(verb: string, ...args: unknown[]): Promise<T> {
    const body = JSON.stringify(args);
    const response = await fetch(`${new URL(url).origin}/_control/${verb}`, { method: "POST", body });
    if (!response.ok) throw new Error(`${verb}: ${await response.text()}`);
    return (await response.json()) as T;
  }
  return {
    url,
    addBots: (bots) => call("addBots", bots),
    bot: (...args) => call("bot", ...args),
    stats: () => call("stats"),
    fail: (...args) => call("fail", ...args),
    set: (settings) => call("set", settings),
  };
}

/** Starts `bun tests/support/discord.ts` with those arguments; it ends with this process at the latest. */
export async function spawnDiscord(...args: string[]): Promise<SpawnedDiscord> {
  const command = [bun, `${import.meta.dir}/discord.ts`, ...args];
  const child = launch({ command, env: {}, dir: import.meta.dir });
  const { url } = JSON.parse(await child.ready()) as { url: string };
  const stop = async () => {
    child.signal("SIGKILL");
    await child.exited;
  };
  return { ...discordControl(url), child, stop, [Symbol.asyncDispose]: stop };
}
