// Fakes Discord's REST API (version 10) and gateway. It validates every call strictly; tests act as its users and plan failures.
// Also runs as a program that is controlled over HTTP (discord-control.ts): bun tests/support/discord.ts --port N

import { parseArgs } from "node:util";
import { type BotState, createBot } from "./discord-bot.ts";
import { control } from "./discord-control.ts";
import { createGateway, type Gateway, handleMessage, type Socket, type Wire } from "./discord-gateway.ts";
import { createRates } from "./discord-rates.ts";
import { DiscordRefusal, tooMany, unauthorized, unknown } from "./discord-refusal.ts";
import { BY_TOKEN, type Call, ROUTES, runCall } from "./discord-rest.ts";
import type { Accident, AccidentOptions, Discord, DiscordOptions, FakeBot, RestCall, Route } from "./discord-types.ts";
import { createWatch } from "./eventually.ts";
import type { SentFile } from "./sent-file.ts";

export type * from "./discord-types.ts";

interface Planned extends AccidentOptions {
  route: Route | "*";
  accident: Accident;
  times: number;
}

interface Known {
  state: BotState;
  gateway: Gateway;
  bot: FakeBot;
  mayReadContent: boolean;
}

/**
 * Starts the fake on an ephemeral loopback port.
 *
 * @example
 * await using discord = await startDiscord();
 * const bot = discord.addBot("MTAwMQ.test.token", { username: "berth" });
 * bot.userSays(bot.dm(), "hello");
 * await discord.waitFor(() => bot.sent().length === 1);
 */
export async function startDiscord(options: DiscordOptions = {}): Promise<Discord> {
  const watch = createWatch();
  const settings: Required<Pick<DiscordOptions, "rates" | "latencyMs" | "identifiesLeft" | "down">> = {
    rates: false,
    latencyMs: 0,
    identifiesLeft: 1000,
    down: false,
    ...options,
  };
  let turnedAway = 0;
  const returned = new Map<string, number>();
  const { heartbeatMs = 41_250, identifyMs = 5_000, acknowledgeMs = 3_000 } = options;
  const known = new Map<string, Known>();
  const rates = createRates(() => settings.rates);
  const calls: RestCall[] = [];
  const counted: Record<string, number> = {};
  let planned: Planned[] = [];
  const closing = new AbortController();
  const origin = () => `http://127.0.0.1:${server.port}`;
  const gatewayUrl = () => `ws://127.0.0.1:${server.port}/gateway`;

  async function handle(request: Request): Promise<Response | undefined> {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname.startsWith("/_control/")) return control(discord, request, pathname.slice("/_control/".length));
    if (settings.down) {
      turnedAway += 1;
      return settings.down === "cut" ? reset() : new DiscordRefusal(502, 0, "502: Bad Gateway").response;
    }
    if (pathname.startsWith("/gateway")) {
      if (searchParams.get("v") !== "10" || searchParams.get("encoding") !== "json")
        return new Response("The fake speaks version 10 in JSON.", { status: 400 });
      const data: Wire = { gateway: undefined, session: undefined, silent: false, sends: [] };
      return server.upgrade(request, { data }) ? undefined : new Response(null, { status: 426 });
    }
    const signal = AbortSignal.any([request.signal, closing.signal]);
    const method = request.method;
    const path = /^\/api\/v10(\/.*)$/.exec(pathname)?.[1] ?? "";
    const file = method === "GET" ? /^\/attachments\/(\d+)\/(.+)$/.exec(pathname) : null;
    const found = ROUTES.find(([, verb, pattern]) => verb === method && pattern.test(path));
    const route = file ? "file" : (found?.[0] ?? "unknown");
    const ids = found?.[2].exec(path)?.slice(1) ?? [];
    const channelId = path.startsWith("/channels/") ? ids[0] : undefined;
    const record: RestCall = { route, botId: undefined, channelId, body: undefined, at: Date.now(), status: 0 };
    calls.push(record);
    counted[route] = (counted[route] ?? 0) + 1;
    const response = await answer(request, record, ids, file, signal).catch((error: unknown) => {
      if (error instanceof DiscordRefusal) return error.response;
      throw error;
    });
    record.status = signal.aborted || cut.has(response) ? 0 : response.status;
    watch.changed();
    return response;
  }

  async function answer(
    request: Request,
    record: RestCall,
    ids: string[],
    file: RegExpExecArray | null,
    signal: AbortSignal,
  ): Promise<Response> {
    const { route } = record;
    if (route === "unknown") throw unknown(0, "route");
    if (file === null && !/^DiscordBot \(https?:\/\/\S+, \S+\)/.test(request.headers.get("user-agent") ?? ""))
      throw new DiscordRefusal(403, 0, "A user agent has the form DiscordBot (url, version).");
    const { body, files } = await readBody(request);
    record.body = body;
    const one = callerOf(request, route, ids, file);
    record.botId = one?.state.id;
    const plan = take(record);
    const half = settings.latencyMs / 2;
    if (half > 0) await pause(half, signal);
    const before = plan?.when === "before" ? await failureResponse(plan.accident, signal) : undefined;
    if (before) return before;
    if (!one) throw file ? unknown(0, "file") : BY_TOKEN.includes(route) ? unknown(10015, "Webhook") : unauthorized();
    const headers = rates.check(one.state.id, route, record.channelId);
    const response = file
      ? download(one.state, file, new URL(request.url).searchParams)
      : runCall({
          route,
          bot: one.state,
          ids,
          body,
          files,
          query: new URL(request.url).searchParams,
          acknowledgeMs,
          gatewayUrl: gatewayUrl(),
          identifiesLeft: settings.identifiesLeft,
          mayReadContent: one.mayReadContent,
        });
    for (const [name, value] of Object.entries(headers)) response.headers.set(name, value);
    watch.changed();
    if (half > 0) await pause(half, signal);
    return (plan?.when === "after" ? await failureResponse(plan.accident, signal) : undefined) ?? response;
  }

  /** The bot of a call, found by its token, or by the interaction or file in its address. */
  function callerOf(request: Request, route: Route, ids: string[], file: RegExpExecArray | null): Known | undefined {
    const all = [...known.values()];
    if (file) return all.find(({ state }) => state.files.has(file[1] ?? ""));
    if (BY_TOKEN.includes(route)) {
      return all.find(({ state }) =>
        route === "acknowledge" ? state.interactions.has(ids[0] ?? "") : state.applicationId === ids[0],
      );
    }
    return known.get(/^Bot (\S+)$/.exec(request.headers.get("authorization") ?? "")?.[1] ?? "");
  }

  /** Takes the failure that is planned for this call. */
  function take({ route, botId, channelId }: RestCall): Planned | undefined {
    const plan = planned.find(
      (plan) =>
        (plan.route === "*" || plan.route === route) &&
        (plan.botId === undefined || plan.botId === botId) &&
        (plan.channelId === undefined || plan.channelId === channelId),
    );
    if (!plan) return undefined;
    plan.times -= 1;
    planned = planned.filter(({ times }) => times > 0);
    return plan;
  }

  function add(token: string, id: string, username: string, mayReadContent: boolean): Known {
    const ready = () => ({
      user: state.me,
      guilds: [],
      application: { id: state.applicationId, flags: mayReadContent ? 1 << 19 : 0 },
      shard: [0, 1],
    });
    const { changed } = watch;
    const gateway = createGateway({ resumeUrl: `${gatewayUrl()}-resume`, identifyMs, mayReadContent, ready, changed });
    const state = createBot({ token, id, username, origin, dispatch: (...event) => gateway.dispatch(...event) });
    return { state, gateway, bot: fakeBot(state, gateway, changed), mayReadContent };
  }

  /** The gateway of the bot with this token; notes the bot's first return after an outage. */
  function at(token: string): Gateway | undefined {
    const gateway = known.get(token)?.gateway;
    if (gateway && !returned.has(token)) returned.set(token, Date.now());
    return gateway;
  }

  const server = Bun.serve<Wire>({
    port: options.port ?? 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    fetch: handle,
    websocket: {
      idleTimeout: 0,
      sendPings: false,
      open: (socket: Socket) => void socket.send(JSON.stringify({ op: 10, d: { heartbeat_interval: heartbeatMs } })),
      message: (socket: Socket, raw) => handleMessage(socket, raw, (token) => at(String(token))),
      close: (socket: Socket, code) => socket.data.gateway?.closed(socket, code),
    },
  });
  const discord: Discord = {
    url: `${origin()}/api`,
    addBot(token, { id = idIn(token), username = "berth_bot", messageContent = true } = {}) {
      const added = add(token, id, username, messageContent);
      known.set(token, added);
      return added.bot;
    },
    bot(token) {
      const one = known.get(token);
      if (!one) throw new Error("No bot has this token.");
      return one.bot;
    },
    revoke(token) {
      const one = known.get(token);
      known.delete(token);
      one?.gateway.end();
    },
    tokenOf(id) {
      const found = [...known.values()].map(({ state }) => state.interactions.get(id)).find(Boolean);
      if (!found) throw new Error("Unknown interaction.");
      return found.token;
    },
    fail(route, accident, { times = 1, when = "before", ...only } = {}) {
      planned.push({ route, accident, times, when, ...only });
    },
    set(changes) {
      const before = Boolean(settings.down);
      Object.assign(settings, changes);
      if (before === Boolean(settings.down)) return;
      if (before) returned.clear();
      else for (const { gateway } of known.values()) gateway.drops();
    },
    calls,
    stats() {
      const all = [...known.values()];
      const sum = (of: (one: Known) => number) => all.reduce((total, one) => total + of(one), 0);
      return {
        bots: all.length,
        connected: sum(({ gateway }) => gateway.connected),
        identifies: sum(({ gateway }) => gateway.count.identifies),
        overlaps: sum(({ gateway }) => gateway.count.overlaps),
        resumes: sum(({ gateway }) => gateway.count.resumes),
        sent: sum(({ state }) => state.sent.size),
        tooMany: rates.count.refused,
        turnedAway,
        returned: [...returned.values()],
        calls: { ...counted },
      };
    },
    waitFor: (predicate, timeoutMs) => watch.waitFor(() => predicate(discord), timeoutMs, String(predicate)),
    async stop() {
      closing.abort();
      await server.stop(true);
    },
    [Symbol.asyncDispose]: () => discord.stop(),
  };
  return discord;
}

/** The JSON of a request, and the files of a form: `payload_json` beside `files[n]`. */
async function readBody(request: Request): Promise<Pick<Call, "body" | "files">> {
  const type = request.headers.get("content-type") ?? "";
  const files = new Map<number, SentFile>();
  if (!type.startsWith("multipart/form-data")) {
    const text = await request.text();
    if (text !== "" && !type.startsWith("application/json"))
      throw new DiscordRefusal(400, 50109, "The request body contains invalid JSON.");
    return { body: (text === "" ? {} : JSON.parse(text)) as Record<string, unknown>, files };
  }
  const form = await request.formData();
  for (const [name, value] of form) {
    const number = /^files\[(\d+)\]$/.exec(name)?.[1];
    if (number === undefined || !(value instanceof Blob)) continue;
    const bytes = new Uint8Array(await value.arrayBuffer());
    files.set(Number(number), { as: "attachment", name: (value as File).name, type: value.type, bytes });
  }
  return { body: JSON.parse(String(form.get("payload_json") ?? "{}")) as Record<string, unknown>, files };
}

/** The bot's id, which is the first part of its token in base64. */
function idIn(token: string): string {
  const id = Buffer.from(token.split(".")[0] ?? "", "base64url").toString();
  if (!/^\d{15,20}$/.test(id)) throw new Error("A token begins with the bot's id in base64; or name the id.");
  return id;
}

/** A token for a bot with this id, in Discord's format. */
export const tokenFor = (id: string, secret = "fake-secret-fake-secret-fake") =>
  `${Buffer.from(id).toString("base64url")}.AbCdEf.${secret}`;

function fakeBot(state: BotState, gateway: Gateway, changed: () => void): FakeBot {
  const after = <T>(value: T) => {
    changed();
    return value;
  };
  return {
    id: state.id,
    username: state.username,
    token: state.token,
    applicationId: state.applicationId,
    roleId: state.roleId,
    dm: state.dm,
    channel: state.channel,
    userSays: (channelId, text, says) => after(state.says(channelId, text, says)),
    userEdits: (messageId, text) => after(state.edits(messageId, text)),
    userDeletes: (messageId) => after(state.removes(messageId)),
    userCommands: (channelId, name, options, from) => after(state.userCommands(channelId, name, options, from)),
    userPresses: (messageId, customId, from) => after(state.userPresses(messageId, customId, from)),
    repeats: (messageId) => after(state.repeats(messageId)),
    closes(channelId) {
      state.channelNamed(channelId).closed = true;
    },
    sent: (channelId) =>
      [...state.sent.values()].filter((sent) => channelId === undefined || sent.channelId === channelId),
    typing: (channelId) =>
      state.typing.filter((one) => channelId === undefined || one.channelId === channelId).map(({ at }) => at),
    filesExpire: state.filesExpire,
    get commands() {
      return state.state.commands;
    },
    get identifies() {
      return gateway.count.identifies;
    },
    get resumes() {
      return gateway.count.resumes;
    },
    get connected() {
      return gateway.connected;
    },
    get sequence() {
      return gateway.sequence;
    },
    sequenceOf: gateway.sequenceOf,
    hold: gateway.hold,
    release: (reverse) => after(gateway.release(reverse)),
    drops: gateway.drops,
    reconnects: gateway.reconnects,
    invalidates: gateway.invalidates,
    forgets: gateway.forgets,
    silent: gateway.silent,
    nextConnection: gateway.nextConnection,
  };
}

/** Responses that must not arrive: Bun resets the connection when their body fails. */
const cut = new WeakSet<Response>();

function reset(): Response {
  const response = new Response(new ReadableStream({ start: (controller) => controller.error() }));
  cut.add(response);
  return response;
}

/** The response of a planned failure; undefined if the failure is only a delay. */
async function failureResponse(accident: Accident, signal: AbortSignal): Promise<Response | undefined> {
  if (accident === "cut") return reset();
  if (accident === "garbage") {
    const headers = { "content-type": "text/html" };
    return new Response("<html><h1>502 Bad Gateway</h1></html>", { status: 502, headers });
  }
  if (accident === "hang") await pause(2 ** 31 - 1, signal);
  else if ("slowMs" in accident) await pause(accident.slowMs, signal);
  else {
    const { status, retryAfter = 1, global = false, code = 0, message = "It did not work." } = accident;
    if (status === 429) return tooMany(retryAfter, global ? "global" : "user").response;
    return new DiscordRefusal(status, code, message).response;
  }
  return undefined;
}

function download(bot: BotState, file: RegExpExecArray, query: URLSearchParams): Response {
  const stored = bot.files.get(file[1] ?? "");
  if (!stored || query.get("hm") !== stored.signature)
    return new Response("This content is no longer available.", { status: 404 });
  return new Response(stored.bytes.slice(), stored.type ? { headers: { "content-type": stored.type } } : {});
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    const end = () => {
      clearTimeout(timer);
      resolve();
    };
    signal.addEventListener("abort", end, { once: true });
  });
}

if (import.meta.main) {
  const { values } = parseArgs({
    args: Bun.argv.slice(2),
    options: {
      port: { type: "string", default: "0" },
      "latency-ms": { type: "string", default: "0" },
      "identify-ms": { type: "string", default: "5000" },
      "heartbeat-ms": { type: "string", default: "41250" },
      rates: { type: "boolean", default: false },
    },
  });
  const discord = await startDiscord({
    port: Number(values.port),
    latencyMs: Number(values["latency-ms"]),
    identifyMs: Number(values["identify-ms"]),
    heartbeatMs: Number(values["heartbeat-ms"]),
    rates: values.rates,
  });
  process.stdout.write(`${JSON.stringify({ url: discord.url })}\n`);
}
