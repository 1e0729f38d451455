// Fakes Telegram's Bot API. It validates every call strictly; tests act as its users and plan failures.
// Also runs as a program that is controlled over HTTP (telegram-control.ts): bun tests/support/telegram.ts --port N

import { parseArgs } from "node:util";
import { createWatch } from "./eventually.ts";
import { type BotState, createBot } from "./telegram-bot.ts";
import { control } from "./telegram-control.ts";
import { type Call, methodNamed, type Outcome, runMethod } from "./telegram-methods.ts";
import { readParams, TelegramRefusal } from "./telegram-params.ts";
import { createRates } from "./telegram-rates.ts";
import type { Accident, AccidentOptions, ApiCall, FakeBot, Telegram, TelegramOptions } from "./telegram-types.ts";

export type { Draft, Says, SentMessage } from "./telegram-bot.ts";
export type * from "./telegram-types.ts";
export type { Update } from "./telegram-updates.ts";

interface Planned extends AccidentOptions {
  method: string;
  accident: Accident;
  times: number;
}

/**
 * Starts the fake on an ephemeral loopback port.
 *
 * @example
 * await using telegram = await startTelegram();
 * const bot = telegram.addBot("1001:test-token", { username: "berth_bot" });
 * bot.userSays(42, "hello");
 * await telegram.waitFor(() => bot.sent(42).length === 1);
 */
export async function startTelegram(options: TelegramOptions = {}): Promise<Telegram> {
  const watch = createWatch();
  const bots = new Map<string, { state: BotState; bot: FakeBot }>();
  const settings: Required<Pick<TelegramOptions, "rates" | "drafts" | "latencyMs" | "down">> = {
    rates: false,
    drafts: true,
    latencyMs: 0,
    down: false,
    ...options,
  };
  const rates = createRates(() => settings.rates);
  const calls: ApiCall[] = [];
  const counted: Record<string, number> = {};
  let planned: Planned[] = [];
  let turnedAway = 0;
  const returned = new Map<number, number>();
  const closing = new AbortController();

  async function handle(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    if (pathname.startsWith("/_control/")) return control(telegram, request, pathname.slice("/_control/".length));
    const [, file, token = "", rest = ""] = /^\/(file\/)?bot([^/]+)\/(.+)$/.exec(pathname) ?? [];
    if (!/^\d+:[\w-]+$/.test(token)) return Response.json(new TelegramRefusal(404, "Not Found").body, { status: 404 });
    if (settings.down) return turnAway(settings.down);
    const state = bots.get(token)?.state;
    if (!state) return Response.json(new TelegramRefusal(401, "Unauthorized").body, { status: 401 });
    if (file) return download(state, rest);
    const signal = AbortSignal.any([request.signal, closing.signal]);
    const record: ApiCall = { botId: state.id, method: rest, params: {}, at: Date.now(), status: 0 };
    const response = await answer(state, request, record, signal).catch((error: unknown) => {
      if (error instanceof TelegramRefusal) return Response.json(error.body, { status: error.status });
      throw error;
    });
    record.status = signal.aborted || cut.has(response) ? 0 : response.status;
    watch.changed();
    return response;
  }

  async function answer(bot: BotState, request: Request, record: ApiCall, signal: AbortSignal): Promise<Response> {
    const method = methodNamed(record.method);
    if (!method || !["GET", "POST"].includes(request.method)) throw new TelegramRefusal(404, "Not Found");
    const params = await readParams(request);
    Object.assign(record, { method: method.name, params });
    counted[method.name] = (counted[method.name] ?? 0) + 1;
    if (method.name !== "getUpdates") calls.push(record);
    const plan = take(record);
    if (/^(?:getUpdates|setWebhook)$/.test(method.name) && !returned.has(bot.id)) returned.set(bot.id, Date.now());
    const half = method.name === "getUpdates" ? 0 : settings.latencyMs / 2;
    if (half > 0) await pause(half, signal);
    if (plan?.when === "before") {
      const instead = await failureResponse(plan.accident, signal);
      if (instead) return instead;
    }
    const call: Call = { bot, params, signal, rates, drafts: settings.drafts };
    const outcome: Outcome = await runMethod(method, call);
    watch.changed();
    if (settings.down && method.name === "getUpdates") return turnAway(settings.down);
    if (half > 0) await pause(half, signal);
    if (plan?.when === "after") {
      const instead = await failureResponse(plan.accident, signal);
      if (instead) return instead;
    }
    if (outcome.entry) outcome.entry.delivered = !signal.aborted;
    const { result, description } = outcome;
    return Response.json({ ok: true, result, ...(description === undefined ? {} : { description }) });
  }

  function turnAway(how: "broken" | "cut"): Response {
    turnedAway += 1;
    if (how === "broken") return Response.json(new TelegramRefusal(502, "Bad Gateway").body, { status: 502 });
    return reset();
  }

  /** Starts an outage, or ends it and delivers the messages that users wrote meanwhile. */
  function turn(down: TelegramOptions["down"]): void {
    if (!down) returned.clear();
    for (const { state } of bots.values()) {
      if (down) {
        state.updates.hold();
        state.updates.interrupt();
      } else state.updates.release();
    }
  }

  /** Takes the failure that is planned for this call. */
  function take({ method, botId, params }: ApiCall): Planned | undefined {
    const plan = planned.find(
      (plan) =>
        (plan.method === "*" || plan.method.toLowerCase() === method.toLowerCase()) &&
        (plan.botId === undefined || plan.botId === botId) &&
        (plan.chatId === undefined || plan.chatId === Number(params.chat_id)),
    );
    if (!plan) return undefined;
    plan.times -= 1;
    planned = planned.filter(({ times }) => times > 0);
    return plan;
  }

  function fakeBot(state: BotState): FakeBot {
    const changed = <T>(value: T) => {
      watch.changed();
      return value;
    };
    const of = <T extends { chatId: number }>(list: T[], chatId?: number) =>
      chatId === undefined ? [...list] : list.filter((item) => item.chatId === chatId);
    return {
      id: state.id,
      username: state.username,
      token: state.token,
      userSays: (chatId, text, says) => changed(state.says(chatId, text, says)),
      userPresses: (...given) => changed(state.presses(...given)),
      userEdits: (chatId, messageId, text) => changed(state.edits(chatId, messageId, text)),
      userDeletes: (chatId, messageId) => changed(state.deletes(chatId, messageId)),
      userSendsFile: (chatId, name, bytes, caption, says) =>
        changed(state.sendsFile(chatId, name, bytes, caption, says)),
      groupUpgrades: (chatId, to) => state.upgrade(chatId, to),
      userBlocks: (chatId) => state.block(chatId),
      pushes: (kind, payload) => state.updates.create(kind, payload),
      repeats: (updateId) => state.updates.repeat(updateId),
      hold: () => state.updates.hold(),
      release: (reverse) => state.updates.release(reverse),
      sent: (chatId) => of(state.sent, chatId),
      drafts: (chatId) => of(state.drafts, chatId),
      actions: (chatId) => of(state.actions, chatId),
      pending: () => state.updates.pending(),
      get polling() {
        return state.updates.polling();
      },
      get webhook() {
        return state.updates.webhook();
      },
      get commands() {
        return [...state.commands.values()].flat();
      },
    };
  }

  const server = Bun.serve({ port: options.port ?? 0, hostname: "127.0.0.1", idleTimeout: 0, fetch: handle });
  const telegram: Telegram = {
    url: `http://127.0.0.1:${server.port}`,
    addBot(token, { id = Number(token.split(":")[0]), username = `bot${id}_bot` } = {}) {
      if (!/^\d+:[\w-]+$/.test(token) || Number(token.split(":")[0]) !== id)
        throw new Error("A token is <bot id>:<secret>.");
      const state = createBot(token, username, {
        webhookRetryMs: options.webhookRetryMs ?? 50,
        webhookTimeoutMs: options.webhookTimeoutMs ?? 10_000,
        webhookAddress: options.webhookAddress ?? ((url) => url),
        changed: watch.changed,
      });
      const bot = fakeBot(state);
      bots.set(token, { state, bot });
      return bot;
    },
    bot(token) {
      const known = bots.get(token);
      if (!known) throw new Error("No bot has this token.");
      return known.bot;
    },
    revoke(token) {
      bots.get(token)?.state.updates.stop();
      bots.delete(token);
    },
    fail(method, accident, { times = 1, when = "before", ...only } = {}) {
      if (method !== "*" && !methodNamed(method)) throw new Error(`The fake has no method ${method}.`);
      planned.push({ method, accident, times, when, ...only });
    },
    set(changes) {
      const { down = settings.down } = changes;
      const before = settings.down;
      Object.assign(settings, changes);
      if (Boolean(down) !== Boolean(before)) turn(down);
    },
    calls,
    stats() {
      const all = [...bots.values()].map(({ state }) => state);
      const sum = (of: (state: BotState) => number) => all.reduce((total, state) => total + of(state), 0);
      return {
        bots: all.length,
        sent: sum(({ sent }) => sent.length),
        pending: sum(({ updates }) => updates.pending()),
        polling: sum(({ updates }) => Number(updates.polling())),
        updates: sum(({ updates }) => updates.count.created),
        posted: sum(({ updates }) => updates.count.posted),
        refusedPosts: sum(({ updates }) => updates.count.refused),
        conflicts: sum(({ updates }) => updates.conflicts.length),
        conflictsAt: all.flatMap(({ updates }) => updates.conflicts),
        tooMany: rates.count.refused,
        turnedAway,
        returned: [...returned.values()],
        calls: { ...counted },
      };
    },
    waitFor: (predicate, timeoutMs) => watch.waitFor(() => predicate(telegram), timeoutMs, String(predicate)),
    async stop() {
      closing.abort();
      for (const { state } of bots.values()) state.updates.stop();
      await server.stop(true);
    },
    [Symbol.asyncDispose]: () => telegram.stop(),
  };
  return telegram;
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
    return new Response("<html><h1>502 Bad Gateway</h1></html>", {
      status: 502,
      headers: { "content-type": "text/html" },
    });
  }
  if (accident === "hang") await pause(2 ** 31 - 1, signal);
  else if ("slowMs" in accident) await pause(accident.slowMs, signal);
  else if ("until" in accident) await accident.until;
  else {
    const { status, retryAfter, description } = accident;
    const text =
      status === 429 ? `Too Many Requests: retry after ${retryAfter ?? 1}` : status >= 500 ? "Bad Gateway" : "";
    const more = status === 429 ? { retry_after: retryAfter ?? 1 } : undefined;
    return Response.json(new TelegramRefusal(status, description ?? text, more).body, { status });
  }
  return undefined;
}

function download(bot: BotState, path: string): Response {
  for (const { file_path, bytes } of bot.files.values()) {
    if (file_path === decodeURIComponent(path)) return new Response(bytes.slice());
  }
  return Response.json(new TelegramRefusal(404, "Not Found").body, { status: 404 });
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener(
      "abort",
      () => {
        clearTimeout(timer);
        resolve();
      },
      { once: true },
    );
  });
}

if (import.meta.main) {
  const { values } = parseArgs({
    args: Bun.argv.slice(2),
    options: {
      port: { type: "string", default: "0" },
      "latency-ms": { type: "string", default: "0" },
      rates: { type: "boolean", default: false },
      /** Posts go to this origin in place of the webhook's own. */
      "webhook-to": { type: "string" },
    },
  });
  const to = values["webhook-to"];
  const telegram = await startTelegram({
    port: Number(values.port),
    latencyMs: Number(values["latency-ms"]),
    rates: values.rates,
    ...(to === undefined
      ? {}
      : { webhookAddress: (url: string) => `${to}${new URL(url).pathname}${new URL(url).search}` }),
  });
  process.stdout.write(`${JSON.stringify({ url: telegram.url })}\n`);
}
