// The fake in a process of its own: its control endpoints, and the client through which a test drives them.

import { bun, type Child, launch } from "./process.ts";
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

export interface Saying {
  token: string;
  text: string;
  says?: Says;
}

type Settings = Parameters<WhatsApp["set"]>[0];

/** The same verbs as `WhatsApp`, over HTTP. */
export interface WhatsAppControl {
  /** What `CHANNEL_C_API_ROOT` takes. */
  readonly url: string;
  addApp(id: string, secret: string): Promise<void>;
  addAccounts(accounts: (AccountAbout & { token: string })[]): Promise<void>;
  /** In that order; answers with the ids of the messages. */
  usersSay(sayings: Saying[]): Promise<string[]>;
  sent(token: string, user?: string): Promise<SentMessage[]>;
  stats(): Promise<WhatsAppStats>;
  fail(kind: Kind | "*", accident: Accident, options?: AccidentOptions): Promise<void>;
  set(settings: Settings): Promise<void>;
}

/** The fake as a child process. */
export interface SpawnedWhatsApp extends WhatsAppControl, AsyncDisposable {
  readonly child: Child;
  stop(): Promise<void>;
}

/** Serves `/_control/<verb>`: the arguments as a JSON list in the body. */
export async function control(whatsapp: WhatsApp, request: Request, verb: string): Promise<Response> {
  const verbs: Record<string, (body: never) => unknown> = {
    addApp: ([id, secret]: [string, string]) => whatsapp.addApp(id, secret),
    addAccounts: ([accounts]: [(AccountAbout & { token: string })[]]) => {
      for (const { token, ...about } of accounts) whatsapp.addAccount(token, about);
    },
    usersSay: ([sayings]: [Saying[]]) =>
      sayings.map(({ token, text, says }) => whatsapp.account(token).says(text, says)),
    sent: ([token, user]: [string, string?]) => whatsapp.account(token).sent(user ?? undefined),
    stats: () => whatsapp.stats(),
    fail: ([kind, accident, options]: [Kind | "*", Accident, AccidentOptions?]) =>
      whatsapp.fail(kind, accident, options ?? {}),
    set: ([settings]: [Settings]) => whatsapp.set(settings),
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

export function whatsappControl(url: string): WhatsAppControl {
  async function call<T>(verb: string, ...args: unknown[]): Promise<T> {
    const response = await fetch(new URL(`/_control/${verb}`, url), { method: "POST", body: JSON.stringify(args) });
    if (!response.ok) throw new Error(`${verb}: ${await response.text()}`);
    return (await response.json()) as T;
  }
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

/** Starts `bun tests/support/whatsapp.ts` with those arguments; it ends with this process at the latest. */
export async function spawnWhatsApp(...args: string[]): Promise<SpawnedWhatsApp> {
  const command = [bun, `${import.meta.dir}/whatsapp.ts`, ...args];
  const child = launch({ command, env: {}, dir: import.meta.dir });
  const { url } = JSON.parse(await child.ready()) as { url: string };
  const stop = async () => {
    child.signal("SIGKILL");
    await child.exited;
  };
  return { ...whatsappControl(url), child, stop, [Symbol.asyncDispose]: stop };
}
