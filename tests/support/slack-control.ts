// Controls the Slack fake in its own process: the verbs that it serves and the client that calls them.

import { type ControlVerbs, createControlCaller, type SpawnedFake, serveControl, spawnFake } from "./fake-control.ts";
import type { Accident, AccidentOptions, AppOptions, FakeApp, Route, Slack, SlackStats } from "./slack-types.ts";

type Settings = Parameters<Slack["set"]>[0];
type AppVerb = {
  [Name in keyof FakeApp]: FakeApp[Name] extends (...args: never[]) => unknown ? Name : never;
}[keyof FakeApp];
type Tokens = Parameters<Slack["addApp"]>[0];

/** The same verbs as `Slack` and its apps, over HTTP. */
export interface SlackControl {
  readonly url: string;
  addApps(apps: (Tokens & AppOptions)[]): Promise<void>;
  /** One verb of one app. */
  app<Name extends AppVerb>(
    botToken: string,
    verb: Name,
    ...args: Parameters<FakeApp[Name]>
  ): Promise<ReturnType<FakeApp[Name]>>;
  stats(): Promise<SlackStats>;
  fail(route: Route | "*", accident: Accident, options?: AccidentOptions): Promise<void>;
  set(settings: Settings): Promise<void>;
}

/** The fake as a child process. */
export type SpawnedSlack = SlackControl & SpawnedFake;

/** Serves `/_control/<verb>`: the arguments as a JSON list in the body. */
export function control(slack: Slack, request: Request, verb: string): Promise<Response> {
  const verbs: ControlVerbs = {
    addApps: ([apps]: [(Tokens & AppOptions)[]]) => {
      for (const { botToken, appToken, ...options } of apps) slack.addApp({ botToken, appToken }, options);
    },
    app: ([token, name, ...args]: [string, AppVerb, ...never[]]) => {
      const run = slack.app(token)[name] as (...args: unknown[]) => unknown;
      return run(...args.map((arg: unknown) => arg ?? undefined));
    },
    stats: () => slack.stats(),
    fail: ([route, accident, options]: [Route, Accident, AccidentOptions?]) =>
      slack.fail(route, accident, options ?? {}),
    set: ([settings]: [Settings]) => slack.set(settings),
  };
  return serveControl(verbs, request, verb);
}

export function slackControl(url: string): SlackControl {
  const call = createControlCaller(url);
  return {
    url,
    addApps: (apps) => call("addApps", apps),
    app: (...args) => call("app", ...args),
    stats: () => call("stats"),
    fail: (...args) => call("fail", ...args),
    set: (settings) => call("set", settings),
  };
}

/** Starts the fake with these command line arguments. */
export const spawnSlack = (...args: string[]): Promise<SpawnedSlack> => spawnFake("slack.ts", args, slackControl);
