// Fakes the Graph API with WhatsApp business accounts. It validates every call strictly; tests act as its users and plan failures.
// Also runs as a program that is controlled over HTTP (whatsapp-control.ts): bun tests/support/whatsapp.ts --port N

import { parseArgs } from "node:util";
import { createWatch } from "./eventually.ts";
import { cut, failureResponse, reset } from "./whatsapp-accidents.ts";
import { type AccountState, createAccount } from "./whatsapp-account.ts";
import { control } from "./whatsapp-control.ts";
import { bad, GraphRefusal, isFields, kindOf, readMessage, readUpload } from "./whatsapp-graph.ts";
import { pause } from "./whatsapp-hooks.ts";
import type {
  Accident,
  AccidentOptions,
  AccountAbout,
  FakeAccount,
  GraphCall,
  Kind,
  WhatsApp,
  WhatsAppOptions,
} from "./whatsapp-types.ts";

export type * from "./whatsapp-types.ts";

const SCOPES = ["whatsapp_business_management", "whatsapp_business_messaging"];

interface Planned extends AccidentOptions {
  kind: Kind | "*";
  accident: Accident;
  times: number;
}

/** A token's app, scopes and accounts. */
interface Grant {
  app: string;
  scopes: string[];
  targets: boolean;
  accounts: Map<string, { state: AccountState; account: FakeAccount }>;
}

/**
 * Starts the fake on an ephemeral loopback port.
 *
 * @example
 * await using whatsapp = await startWhatsApp();
 * const account = whatsapp.addAccount("EAAtoken", { waba: "300" });
 * account.says("hello");
 * await whatsapp.waitFor(() => account.sent().length === 1);
 */
export async function startWhatsApp(options: WhatsAppOptions = {}): Promise<WhatsApp> {
  const watch = createWatch();
  const settings: Required<Pick<WhatsAppOptions, "rates" | "statuses" | "latencyMs" | "down" | "https">> = {
    rates: false,
    statuses: true,
    latencyMs: 0,
    down: false,
    https: false,
    ...options,
  };
  let turnedAway = 0;
  const returned = new Map<string, number>();
  const apps = new Map<string, string>();
  const grants = new Map<string, Grant>();
  const wabas = new Map<string, AccountState>();
  const calls: GraphCall[] = [];
  const counted: Record<string, number> = {};
  const closing = new AbortController();
  let planned: Planned[] = [];

  const secretOf = (app: string) => {
    const secret = apps.get(app) ?? crypto.randomUUID();
    apps.set(app, secret);
    return secret;
  };

  async function handle(request: Request): Promise<Response> {
    const url = new URL(request.url);
    if (url.pathname.startsWith("/_control/"))
      return control(whatsapp, request, url.pathname.slice("/_control/".length));
    if (settings.down) {
      turnedAway += 1;
      return settings.down === "cut" ? reset() : new GraphRefusal(131000, undefined, 503).response();
    }
    const signal = AbortSignal.any([request.signal, closing.signal]);
    const isForm = request.headers.get("content-type")?.startsWith("multipart/form-data") ?? false;
    const raw = request.method === "POST" && !isForm ? await request.text() : "";
    const body = parse(raw);
    const record: GraphCall = {
      kind: kindOf(url.pathname, body),
      method: request.method,
      path: url.pathname,
      body,
      at: Date.now(),
      status: 0,
    };
    calls.push(record);
    watch.changed();
    if (record.kind) counted[record.kind] = (counted[record.kind] ?? 0) + 1;
    const response = await answer(request, url, record, signal).catch((error: unknown) => {
      if (error instanceof GraphRefusal) return error.response();
      throw error;
    });
    record.status = signal.aborted || cut.has(response) ? 0 : response.status;
    watch.changed();
    return response;
  }

  async function answer(request: Request, url: URL, record: GraphCall, signal: AbortSignal): Promise<Response> {
    const token = /^Bearer (\S+)$/.exec(request.headers.get("authorization") ?? "")?.[1];
    const plan = record.kind && take(record.kind, token);
    const half = settings.latencyMs / 2;
    if (half > 0) await pause(half, signal);
    const instead = plan?.when === "before" ? await failureResponse(plan.accident, signal) : undefined;
    if (instead) return instead;
    const grant = token === undefined ? undefined : grants.get(token);
    if (!grant || token === undefined) throw new GraphRefusal(190, undefined, 401);
    if (!returned.has(token)) returned.set(token, Date.now());
    const { result, sent } = await run(request, url, record, token, grant);
    if (half > 0) await pause(half, signal);
    const late = plan?.when === "after" ? await failureResponse(plan.accident, signal) : undefined;
    if (late) return late;
    if (sent) sent.delivered = !signal.aborted;
    return result;
  }

  async function run(request: Request, url: URL, { kind, body }: GraphCall, token: string, grant: Grant) {
    const [, id = ""] = /^\/v\d+\.\d+\/([^/]+)/.exec(url.pathname) ?? [];
    const unsent = (value: unknown) => ({ result: Response.json(value), sent: undefined });
    if (kind === "download") return { result: download(grant, url), sent: undefined };
    if (kind === "debug_token") return unsent({ data: describe(url.searchParams.get("input_token") ?? "") });
    if (kind === "phone_numbers") {
      const data = accountOf(grant, id).numbers.map((number) => ({
        id: number.id,
        display_phone_number: number.display,
        verified_name: "A business",
        quality_rating: "GREEN",
      }));
      return unsent({ data, paging: { cursors: { before: "x", after: "y" } } });
    }
    if (kind === "subscribed_apps")
      return unsent(await subscribe(request.method, accountOf(grant, id), grant.app, body));
    if (kind === "upload") {
      const state = stateOf(id);
      const { bytes, ...file } = await readUpload(request);
      const uploaded = `${Date.now()}${state.media.size}`;
      state.media.set(uploaded, { ...file, bytes });
      return unsent({ id: uploaded });
    }
    if (kind === "messages" || kind === "read") {
      if (request.method !== "POST") throw bad("Unsupported method.");
      if (!request.headers.get("content-type")?.startsWith("application/json")) throw bad("Send JSON.");
      const state = stateOf(id);
      const wish = readMessage(body);
      if ("messageId" in wish) {
        state.read(id, wish.messageId, wish.typing);
        return unsent({ success: true });
      }
      const sent = state.post(id, wish);
      const contacts = [{ input: wish.to, wa_id: wish.to }];
      return { result: Response.json({ messaging_product: "whatsapp", contacts, messages: [{ id: sent.id }] }), sent };
    }
    if (kind === "media") {
      for (const { state } of grant.accounts.values()) {
        const file = state.media.get(id);
        if (!file) continue;
        const about = { mime_type: file.mime, sha256: "x", file_size: file.bytes.length };
        return unsent({
          messaging_product: "whatsapp",
          url: `${new URL(whatsapp.url).origin}/_media/${id}?ext=1`,
          ...about,
          id,
        });
      }
    }
    throw missing(id);

    /** The account with this number. */
    function stateOf(number: string): AccountState {
      if (!grant.scopes.includes("whatsapp_business_messaging")) throw new GraphRefusal(10);
      const found = [...grant.accounts.values()].find(({ state }) => state.numbers.some(({ id }) => id === number));
      if (!found) throw missing(number);
      return found.state;
    }

    function describe(input: string) {
      // The fake describes only the calling token itself.
      if (input !== token) return { is_valid: false, scopes: [], error: { code: 190, message: "Invalid token." } };
      const targets = grant.targets ? { target_ids: [...grant.accounts.keys()] } : {};
      const granular = grant.scopes.map((scope) => ({ scope, ...targets }));
      return {
        app_id: grant.app,
        type: "SYSTEM_USER",
        is_valid: true,
        expires_at: 0,
        scopes: grant.scopes,
        granular_scopes: granular,
      };
    }
  }

  async function subscribe(method: string, state: AccountState, app: string, body: unknown): Promise<object> {
    if (method === "GET") {
      const data = [...state.subscriptions].map(([id, callback]) => ({
        whatsapp_business_api_data: { id, name: "An app", link: "https://www.facebook.com/games/" },
        ...(callback === undefined ? {} : { override_callback_uri: callback }),
      }));
      return { data };
    }
    if (method === "DELETE") {
      state.subscriptions.delete(app);
      return { success: true };
    }
    if (method !== "POST") throw bad("Unsupported method.");
    const { override_callback_uri: callback, verify_token: verify } = isFields(body) ? body : {};
    if (callback !== undefined) {
      if (typeof callback !== "string" || callback.length > 200 || !URL.canParse(callback))
        throw bad("Not an address.");
      if (settings.https && !callback.startsWith("https:")) throw bad("The callback has to be https.");
      if (typeof verify !== "string" || verify === "") throw bad("The parameter verify_token is required.");
      if (!(await proves(callback, verify))) throw new GraphRefusal(2200);
    }
    state.subscriptions.set(app, callback);
    if (typeof verify === "string") state.verifyTokens.set(app, verify);
    return { success: true };
  }

  /** https://developers.facebook.com/docs/graph-api/webhooks/getting-started#verification-requests */
  async function proves(callback: string, verify: string): Promise<boolean> {
    const challenge = String(Math.floor(Math.random() * 1e9));
    const address = new URL((options.webhookAddress ?? ((url: string) => url))(callback));
    address.searchParams.set("hub.mode", "subscribe");
    address.searchParams.set("hub.challenge", challenge);
    address.searchParams.set("hub.verify_token", verify);
    try {
      const response = await fetch(address, { redirect: "manual", signal: AbortSignal.timeout(5_000) });
      return response.status === 200 && (await response.text()) === challenge;
    } catch {
      return false;
    }
  }

  /** Takes the failure that is planned for this call. */
  function take(kind: Kind, token: string | undefined): Planned | undefined {
    const plan = planned.find(
      (one) => (one.kind === "*" || one.kind === kind) && (one.token === undefined || one.token === token),
    );
    if (!plan) return undefined;
    plan.times -= 1;
    planned = planned.filter(({ times }) => times > 0);
    return plan;
  }

  const server = Bun.serve({ port: options.port ?? 0, hostname: "127.0.0.1", idleTimeout: 0, fetch: handle });
  const whatsapp: WhatsApp = {
    url: `http://127.0.0.1:${server.port}/v25.0`,
    addApp: (id, secret) => void apps.set(id, secret),
    addAccount(token, about) {
      const { waba, app = "9001", scopes = SCOPES, withoutTargets = false } = about;
      const state = wabas.get(waba) ?? open(about);
      wabas.set(waba, state);
      const grant = grants.get(token) ?? { app, scopes, targets: !withoutTargets, accounts: new Map() };
      const account = state.as(token);
      grant.accounts.set(waba, { state, account });
      grants.set(token, grant);
      return account;
    },
    account(token) {
      const [first] = grants.get(token)?.accounts.values() ?? [];
      if (!first) throw new Error("No account has this token.");
      return first.account;
    },
    revoke: (token) => void grants.delete(token),
    fail: (kind, accident, { times = 1, when = "before", ...only } = {}) =>
      void planned.push({ kind, accident, times, when, ...only }),
    set(changes) {
      const before = Boolean(settings.down);
      Object.assign(settings, changes);
      if (before === Boolean(settings.down)) return;
      if (before) returned.clear();
      for (const { hooks } of wabas.values()) {
        if (before) hooks.release(false);
        else hooks.hold();
      }
    },
    calls,
    stats() {
      const all = [...wabas.values()];
      const sum = (of: (state: AccountState) => number) => all.reduce((total, state) => total + of(state), 0);
      return {
        accounts: all.length,
        sent: sum(({ sent }) => sent.length),
        pending: sum(({ hooks }) => hooks.pending()),
        posted: sum(({ hooks }) => hooks.count.posted),
        refusedPosts: sum(({ hooks }) => hooks.count.refused),
        tooMany: sum(({ count }) => count.tooMany),
        turnedAway,
        returned: [...returned.values()],
        calls: { ...counted },
      };
    },
    waitFor: (predicate, timeoutMs) => watch.waitFor(() => predicate(whatsapp), timeoutMs, String(predicate)),
    async stop() {
      closing.abort();
      for (const { hooks } of wabas.values()) hooks.stop();
      await server.stop(true);
    },
    [Symbol.asyncDispose]: () => whatsapp.stop(),
  };

  function open({ waba, numbers = [{ id: `1${waba}`, display: "15550009999" }] }: AccountAbout): AccountState {
    return createAccount({
      waba,
      numbers,
      secretOf,
      statuses: () => settings.statuses,
      rates: () => settings.rates,
      webhookRetryMs: options.webhookRetryMs ?? 50,
      webhookTimeoutMs: options.webhookTimeoutMs ?? 10_000,
      webhookAddress: options.webhookAddress ?? ((url) => url),
      changed: watch.changed,
    });
  }
  return whatsapp;
}

const missing = (id: string) =>
  new GraphRefusal(
    100,
    `Object with ID '${id}' does not exist or cannot be loaded due to missing permissions.`,
    400,
    33,
  );

function accountOf(grant: Grant, waba: string): AccountState {
  const state = grant.accounts.get(waba)?.state;
  if (!state || !grant.scopes.includes("whatsapp_business_management")) throw missing(waba);
  return state;
}

function download(grant: Grant, url: URL): Response {
  const [, id = ""] = /^\/_media\/(\w+)$/.exec(url.pathname) ?? [];
  for (const { state } of grant.accounts.values()) {
    const file = state.media.get(id);
    if (file) return new Response(file.bytes.slice(), { headers: { "content-type": file.mime } });
  }
  return new Response("", { status: 404 });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

if (import.meta.main) {
  const { values } = parseArgs({
    args: Bun.argv.slice(2),
    options: {
      port: { type: "string", default: "0" },
      "latency-ms": { type: "string", default: "0" },
      rates: { type: "boolean", default: false },
      "no-statuses": { type: "boolean", default: false },
      /** Posts go to this origin in place of the callback's own. */
      "webhook-to": { type: "string" },
    },
  });
  const to = values["webhook-to"];
  const moved = (url: string) => `${to}${new URL(url).pathname}${new URL(url).search}`;
  const whatsapp = await startWhatsApp({
    port: Number(values.port),
    latencyMs: Number(values["latency-ms"]),
    rates: values.rates,
    statuses: !values["no-statuses"],
    ...(to === undefined ? {} : { webhookAddress: moved }),
  });
  process.stdout.write(`${JSON.stringify({ url: whatsapp.url })}\n`);
}
