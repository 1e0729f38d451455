// Controls the WhatsApp fake in its own process: the verbs that it serves and the client that calls them.

import { type ControlVerbs, createControlCaller, type SpawnedFake, serveControl, spawnFake } from "./fake-control.ts";
import type {
  Accident,
  AccidentOptions,
  AccountAbout,
  Kind,
  Says,
  SentMessage,
  WhatsApp,
  WhatsAppStats,
} from "./whatsapp-types.ts";

export interface UserMessage {
  token: string;
  text: string;
  says?: Says;
}

type Settings = Parameters<WhatsApp["set"]>[0];

/** The same verbs as `WhatsApp`, over HTTP. */
export interface WhatsAppControl {
  /** The value of `CHANNEL_C_API_ROOT`. */
  readonly url: string;
  addApp(id: string, secret: string): Promise<void>;
  addAccounts(accounts: (AccountAbout & { token: string })[]): Promise<void>;
  /** Sends messages in order; returns their ids. */
  usersSay(sayings: UserMessage[]): Promise<string[]>;
  sent(token: string, user?: string): Promise<SentMessage[]>;
  stats(): Promise<WhatsAppStats>;
  fail(kind: Kind | "*", accident: Accident, options?: AccidentOptions): Promise<void>;
  set(settings: Settings): Promise<void>;
}

/** The fake as a child process. */
export type SpawnedWhatsApp = WhatsAppControl & SpawnedFake;

/** Serves `/_control/<verb>`: the arguments as a JSON list in the body. */
export function control(whatsapp: WhatsApp, request: Request, verb: string): Promise<Response> {
  const verbs: ControlVerbs = {
    addApp: ([id, secret]: [string, string]) => whatsapp.addApp(id, secret),
    addAccounts: ([accounts]: [(AccountAbout & { token: string })[]]) => {
      for (const { token, ...about } of accounts) whatsapp.addAccount(token, about);
    },
    usersSay: ([sayings]: [UserMessage[]]) =>
      sayings.map(({ token, text, says }) => whatsapp.account(token).says(text, says)),
    sent: ([token, user]: [string, string?]) => whatsapp.account(token).sent(user ?? undefined),
    stats: () => whatsapp.stats(),
    fail: ([kind, accident, options]: [Kind | "*", Accident, AccidentOptions?]) =>
      whatsapp.fail(kind, accident, options ?? {}),
    set: ([settings]: [Settings]) => whatsapp.set(settings),
  };
  return serveControl(verbs, request, verb);
}

export function whatsappControl(url: string): WhatsAppControl {
  const call = createControlCaller(url);
  return {
    url,
    addApp: (...args) => call("addApp", ...args),
    addAccounts: (accounts) => call("addAccounts", accounts),
    usersSay: (sayings) => call("usersSay", sayings),
    sent: (...args) => call("sent", ...args),
    stats: () => call("stats"),
    fail: (...args) => call("fail", ...args),
    set: (settings) => call("set", settings),
  };
}

/** Starts the fake with these command line arguments. */
export const spawnWhatsApp = (...args: string[]): Promise<SpawnedWhatsApp> =>
  spawnFake("whatsapp.ts", args, whatsappControl);
