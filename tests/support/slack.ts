// Fakes Slack's Web API and Socket Mode. It validates every call strictly; tests act as its people and plan failures.
// Also runs as a program that is controlled over HTTP (slack-control.ts): bun tests/support/slack.ts --port N

import { parseArgs } from "node:util";
import { createWatch } from "./eventually.ts";
import { sniffed } from "./sent-file.ts";
import { failureResponse, isCut, pause, reset, uploadedBytes } from "./slack-accidents.ts";
import { type AppState, createAppState, createFakeApp, slackId } from "./slack-app.ts";
import { control } from "./slack-control.ts";
import { METHODS, readArgs, runMethod } from "./slack-methods.ts";
import { createRates } from "./slack-rates.ts";
import { SlackRefusal, TooMany } from "./slack-refusal.ts";
import { createSocketMode, type Socket, type SocketMode, type Wire } from "./slack-socket.ts";
import type { Accident, AccidentOptions, Call, FakeApp, Route, Slack, SlackOptions } from "./slack-types.ts";

export type * from "./slack-types.ts";

/** The scopes of Berth's manifest. */
export const ALL_SCOPES: readonly string[] = [
  ...["channels:history", "chat:write", "files:read", "files:write"],
  ...["groups:history", "im:history", "mpim:history", "users:read"],
];

interface Known {
  state: AppState;
  socketMode: SocketMode;
  fake: FakeApp;
}

interface Planned extends AccidentOptions {
  route: Route | "*";
  accident: Accident;
  times: number;
}

/**
 * Starts the fake on an ephemeral loopback port.
 *
 * @example
 * await using slack = await startSlack();
 * const app = slack.addApp(tokensFor("A0000001"));
 * app.userSays(app.dm(), "hello");
 * await slack.waitFor(() => app.sent().length === 1);
 */
export async function startSlack(options: SlackOptions = {}): Promise<Slack> {
  const watch = createWatch();
  const settings = { rates: false, latencyMs: 0, down: false as false | "cut" | "broken", ...options };
  const { confirmMs = 3_000 } = options;
  const byToken = new Map<string, { known: Known; kind: "bot" | "app" }>();
  const revoked = new Set<string>();
  const byId = new Map<string, Known>();
  const tickets = new Map<string, string>();
  const calls: Call[] = [];
  const counted: Record<string, number> = {};
  const returned = new Map<string, number>();
  const rates = createRates(() => settings.rates);
  const closing = new AbortController();
  let planned: Planned[] = [];
  let turnedAway = 0;
  const origin = () => `http://127.0.0.1:${server.port}`;

  async function handle(request: Request): Promise<Response | undefined> {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname.startsWith("/_control/")) return control(slack, request, pathname.slice("/_control/".length));
    if (settings.down) {
      turnedAway++;
      return settings.down === "cut" ? reset() : new Response("502", { status: 502 });
    }
    if (pathname === "/link/") return connect(request, searchParams.get("ticket") ?? "");
    const [route, parts] = routeOf(request.method, pathname);
    const record: Call = {
      route,
      app: undefined,
      channel: undefined,
      args: {},
      at: Date.now(),
      status: 0,
      error: undefined,
    };
    calls.push(record);
    counted[route] = (counted[route] ?? 0) + 1;
    const signal = AbortSignal.any([request.signal, closing.signal]);
    const response = await answer(request, record, parts, signal).catch((error: unknown) => {
      if (!(error instanceof SlackRefusal) && !(error instanceof TooMany)) throw error;
      record.error = error.message;
      return error.response;
    });
    record.status = signal.aborted || isCut(response) ? 0 : response.status;
    watch.changed();
    return response;
  }

  /** A ticket opens one connection. */
  function connect(request: Request, ticket: string): Response | undefined {
    const app = tickets.get(ticket);
    tickets.delete(ticket);
    if (app === undefined) return new Response("invalid ticket", { status: 403 });
    const data: Wire = { app, silent: false, warned: false };
    return server.upgrade(request, { data }) ? undefined : new Response(null, { status: 426 });
  }

  async function answer(request: Request, record: Call, parts: string[], signal: AbortSignal): Promise<Response> {
    const { route } = record;
    if (route === "unknown") throw new SlackRefusal("unknown_method");
    const isUpload = route === "upload";
    const caller = isUpload ? undefined : callerOf(request, route);
    const body = isUpload ? await uploadedBytes(request) : await request.bytes();
    const known = isUpload ? byId.get(parts[0] ?? "") : caller;
    record.app = known?.state.id;
    if (METHODS[route]) {
      if (!request.headers.get("content-type")?.startsWith("application/x-www-form-urlencoded")) {
        throw new SlackRefusal("invalid_post_type");
      }
      record.args = readArgs(route, new URLSearchParams(new TextDecoder().decode(body)));
    }
    const channel = record.args.channel ?? record.args.channel_id;
    record.channel = typeof channel === "string" ? channel : undefined;
    const plan = take(record);
    const half = settings.latencyMs / 2;
    if (half > 0) await pause(half, signal);
    const before = plan?.when === "before" ? await failureResponse(plan.accident, signal) : undefined;
    if (before) return before;
    if (!known) throw new SlackRefusal("invalid_auth");
    rates.check(known.state.id, route, record.channel);
    const response = run(known, record, parts, body);
    response.headers.set("x-oauth-scopes", known.state.scopes.join(","));
    watch.changed();
    if (half > 0) await pause(half, signal);
    return (plan?.when === "after" ? await failureResponse(plan.accident, signal) : undefined) ?? response;
  }

  function run({ state }: Known, { route, args }: Call, parts: string[], body: Uint8Array): Response {
    if (route === "upload") {
      const file = state.files.get(parts[1] ?? "");
      if (!file || file.isShared || file.bytes.length !== body.length)
        return new Response("bad upload", { status: 400 });
      file.bytes = body;
      file.type = sniffed(body) ?? "text/plain";
      return new Response(`OK - ${body.length}`);
    }
    if (route === "download") {
      const file = state.files.get(parts[0] ?? "");
      return file
        ? new Response(file.bytes.slice(), { headers: { "content-type": file.type } })
        : new Response(null, { status: 302, headers: { location: "/signin" } });
    }
    const response = runMethod(route, state, args, origin());
    if (route === "apps.connections.open") {
      const ticket = `${state.id}-${crypto.randomUUID()}`;
      tickets.set(ticket, state.id);
      if (!returned.has(state.id)) returned.set(state.id, Date.now());
      return Response.json({
        ok: true,
        url: `${origin().replace("http", "ws")}/link/?ticket=${ticket}&app_id=${state.id}`,
      });
    }
    return response;
  }

  function callerOf(request: Request, route: Route): Known | undefined {
    const token = /^Bearer (\S+)$/.exec(request.headers.get("authorization") ?? "")?.[1] ?? "";
    if (token === "") throw new SlackRefusal("not_authed");
    if (revoked.has(token)) throw new SlackRefusal("token_revoked");
    const found = byToken.get(token);
    if (!found) throw new SlackRefusal("invalid_auth");
    const wanted = METHODS[route]?.token ?? "bot";
    if (found.kind !== wanted) throw new SlackRefusal("not_allowed_token_type");
    return found.known;
  }

  function take({ route, app, channel }: Call): Planned | undefined {
    const plan = planned.find(
      (one) =>
        (one.route === "*" || one.route === route) &&
        (one.app === undefined || one.app === app) &&
        (one.channel === undefined || one.channel === channel),
    );
    if (!plan) return undefined;
    plan.times--;
    planned = planned.filter(({ times }) => times > 0);
    return plan;
  }

  const server = Bun.serve<Wire>({
    port: options.port ?? 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    fetch: handle,
    websocket: {
      idleTimeout: 0,
      sendPings: false,
      open: (socket: Socket) => byId.get(socket.data.app)?.socketMode.opened(socket),
      message: (socket: Socket, raw) => byId.get(socket.data.app)?.socketMode.received(socket, String(raw)),
      close: (socket: Socket) => byId.get(socket.data.app)?.socketMode.closed(socket),
    },
  });

  const slack: Slack = {
    url: `${origin()}/api`,
    addApp({ botToken, appToken }, options = {}) {
      const { id = idIn(appToken), username = "berth", scopes = ALL_SCOPES, team = "T0000001" } = options;
      const existing = byId.get(id);
      const botUser = options.botUser ?? slackId("U");
      const state = existing?.state ?? createAppState({ id, username, scopes, team, botUser });
      const socketMode = existing?.socketMode ?? createSocketMode({ appId: id, confirmMs, changed: watch.changed });
      const known = existing ?? { state, socketMode, fake: createFakeApp(state, socketMode, watch.changed) };
      byId.set(id, known);
      byToken.set(botToken, { known, kind: "bot" });
      byToken.set(appToken, { known, kind: "app" });
      return known.fake;
    },
    app(botToken) {
      const one = byToken.get(botToken);
      if (!one) throw new Error("No app has this token.");
      return one.known.fake;
    },
    revoke(token) {
      revoked.add(token);
      const one = byToken.get(token);
      if (one?.kind === "app") one.known.socketMode.end();
    },
    fail(route, accident, { times = 1, when = "before", ...only } = {}) {
      planned.push({ route, accident, times, when, ...only });
    },
    set(changes) {
      const before = Boolean(settings.down);
      Object.assign(settings, changes);
      if (before === Boolean(settings.down)) return;
      if (before) returned.clear();
      else for (const { socketMode } of byId.values()) socketMode.drops();
    },
    calls,
    stats() {
      const all = [...byId.values()];
      const sum = (of: (one: Known) => number) => all.reduce((total, one) => total + of(one), 0);
      return {
        apps: all.length,
        connected: sum(({ socketMode }) => socketMode.connected),
        opened: sum(({ socketMode }) => socketMode.count.opened),
        sent: sum(({ fake }) => fake.sent().length),
        tooMany: rates.count.refused,
        turnedAway,
        returned: [...returned.values()],
        calls: { ...counted },
      };
    },
    waitFor: (predicate, timeoutMs) => watch.waitFor(() => predicate(slack), timeoutMs, String(predicate)),
    async stop() {
      closing.abort();
      for (const { socketMode } of byId.values()) socketMode.end();
      await server.stop(true);
    },
    [Symbol.asyncDispose]: () => slack.stop(),
  };
  return slack;
}

function routeOf(method: string, pathname: string): [Route, string[]] {
  const download = method === "GET" ? /^\/files\/(\w+)\//.exec(pathname) : null;
  if (download) return ["download", download.slice(1)];
  const upload = method === "POST" ? /^\/upload\/(\w+)\/(\w+)$/.exec(pathname) : null;
  if (upload) return ["upload", upload.slice(1)];
  const name = /^\/api\/([\w.]+)$/.exec(pathname)?.[1] ?? "";
  return [method === "POST" && Object.hasOwn(METHODS, name) ? (name as Route) : "unknown", []];
}

/** The app's id, which is a part of its app-level token. */
function idIn(appToken: string): string {
  const id = /^xapp-1-(A[A-Z0-9]+)-/.exec(appToken)?.[1];
  if (id === undefined) throw new Error("An app-level token holds the app's id; or name the id.");
  return id;
}

/** Tokens of an app with this id, in Slack's format. */
export const tokensFor = (id: string, secret = "fakesecretfakesecretfake") => ({
  botToken: `xoxb-1000000000001-2000000000002-${id}${secret}`,
  appToken: `xapp-1-${id}-3000000000003-${secret.repeat(2)}`,
});

/** An id of an app that no other test has. */
export const newAppId = () => slackId("A");

if (import.meta.main) {
  const { values } = parseArgs({
    args: Bun.argv.slice(2),
    options: {
      port: { type: "string", default: "0" },
      "latency-ms": { type: "string", default: "0" },
      rates: { type: "boolean", default: false },
    },
  });
  const slack = await startSlack({
    ...{ port: Number(values.port), latencyMs: Number(values["latency-ms"]), rates: values.rates },
  });
  process.stdout.write(`${JSON.stringify({ url: slack.url })}\n`);
}
