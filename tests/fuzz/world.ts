// The service under test with its accounts and agents. Requests refer to them; what a request destroys is made again.

import { type Berth, startBerth } from "../support/berth.ts";
import { type Client, createClient } from "../support/client.ts";
import { startTelegram, type Telegram } from "../support/telegram.ts";
import { startUpstream, type Upstream } from "../support/upstream.ts";
import type { Actor } from "./requests.ts";
import { BOT_TOKEN, type Reference } from "./values.ts";

/** Values that no answer and no line of the log may contain. */
export const CANARIES = {
  secretKey: "fuzz-canary-root-key-5b1f0c77d2a94e",
  providerKey: "sk-fuzz-canary-provider-9c1d22e8",
  password: "fuzz canary battery staple",
} as const;

/** Where nothing listens. Everything that the service could call leads here, so that no request leaves this machine. */
const NOWHERE = "http://127.0.0.1:9";

const LIVE_AGENTS = 4;
/** Things of one kind that requests may refer to. */
const MAX_KNOWN = 20;

export interface World extends AsyncDisposable {
  readonly berth: Berth;
  /** Headers that prove who asks. An actor whose account or session a request has ended is made again. */
  headersOf(actor: Actor): Promise<Record<string, string>>;
  /** Marks an actor whose credential was refused. */
  suspect(actor: Actor): void;
  /** Replaces references in a value by present ids, addresses and passwords. */
  resolve(value: unknown): unknown;
  /** Takes note of what the answer of an operation with this path shows: ids of sessions, webhooks and others. */
  learn(path: string, text: string): void;
  /** An agent that races may delete. */
  anyAgent(at: number): string;
  /** Makes agents again until there are a few. */
  replenish(): Promise<void>;
}

export async function openWorld(): Promise<World> {
  const upstream: Upstream = await startUpstream();
  const telegram = await startTelegram();
  telegram.addBot(BOT_TOKEN);
  const berth = await startBerth({ env: environmentOf(upstream, telegram) });
  /** By kind. */
  const found = new Map<string, string[]>([
    ["skills", ["clock", "files", "memory", "reminder", "schedule", "wallet", "web-fetch"]],
  ]);
  const listOf = (kind: string) => found.get(kind) ?? [];
  const clients = new Map<Actor, Client>();
  const doubted = new Set<Actor>();
  let key = "";

  async function makeAdmin(): Promise<Client> {
    const client = createClient(berth);
    await client.signUp({ password: CANARIES.password });
    const { exitCode, stderr } = await berth.command("user", "admin", client.account.email);
    if (exitCode !== 0) throw new Error(`berth user admin: ${stderr}`);
    await client.signIn();
    return client;
  }

  async function makeMember(plan: string): Promise<Client> {
    const client = createClient(berth);
    await client.signUp({ password: CANARIES.password });
    await client.grant(plan);
    await client.signIn();
    return client;
  }

  const makers: Record<Exclude<Actor, "nobody" | "key">, () => Promise<Client>> = {
    admin: makeAdmin,
    owner: () => makeMember("enterprise"),
    stranger: () => makeMember("pro"),
  };

  async function clientOf(actor: Exclude<Actor, "nobody" | "key">): Promise<Client> {
    let client = clients.get(actor);
    const isSignedIn = async () => (await client?.get("/api/settings"))?.status === 200;
    if (client && doubted.delete(actor) && !(await isSignedIn())) {
      // Signed out, or the account is gone, disabled, or protected by a second factor.
      const again = await client.signIn().then(
        () => true,
        () => false,
      );
      if (!again) client = undefined;
    }
    client ??= await makers[actor]();
    clients.set(actor, client);
    return client;
  }

  async function makeKey(): Promise<string> {
    const owner = await clientOf("owner");
    const { body } = await owner.post<{ key: string }>("/api/keys", { name: "fuzz" });
    return body.key ?? "";
  }

  async function headersOf(actor: Actor): Promise<Record<string, string>> {
    if (actor === "nobody") return {};
    if (actor !== "key") return { cookie: (await clientOf(actor)).cookie };
    if (key === "" || doubted.delete("key")) key = await makeKey();
    return { authorization: `Bearer ${key}` };
  }

  async function replenish(): Promise<void> {
    const owner = await clientOf("owner");
    const { body } = await owner.get<{ agents: { id: string }[] }>("/api/agents");
    const live = body.agents?.map(({ id }) => id) ?? [];
    found.set("agents", live);
    while (live.length < LIVE_AGENTS) {
      const config = { instructions: "Answer.", skills: ["clock", "memory"] };
      const made = await owner.post<{ agent?: { id: string } }>("/api/agents/provision", { name: "Fuzz", config });
      if (!made.body.agent) {
        doubted.add("owner");
        return;
      }
      const { id } = made.body.agent;
      live.push(id);
      await owner.post("/api/agent", {
        agentId: id,
        action: "set-credential",
        key: "provider_4",
        value: CANARIES.providerKey,
      });
    }
  }

  const pick = (list: readonly string[], at: number) => list[at % Math.max(1, list.length)] ?? Bun.randomUUIDv7();
  function lookUp({ $berth, at }: Reference): string {
    if ($berth === "email")
      return pick(
        [...clients.values()].map(({ account }) => account.email),
        at,
      );
    if ($berth === "password") return CANARIES.password;
    if ($berth === "agent") return pick(listOf("agents"), at);
    return pick(listOf($berth), at);
  }

  function resolve(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(resolve);
    if (typeof value !== "object" || value === null) return value;
    if (Object.hasOwn(value, "$berth")) return lookUp(value as Reference);
    // Defined, not assigned: `__proto__` is a field like any other.
    const copy = {};
    for (const [name, field] of Object.entries(value)) {
      Object.defineProperty(copy, name, {
        value: resolve(field),
        enumerable: true,
        configurable: true,
        writable: true,
      });
    }
    return copy;
  }

  function learn(path: string, text: string): void {
    const remember = (kind: string, one: string) => {
      const list = listOf(kind);
      if (!list.includes(one)) found.set(kind, [...list, one].slice(-MAX_KNOWN));
    };
    const kind = /([\w-]+)(?:\/\{\w+\})?$/.exec(path)?.[1] ?? "";
    // Agents are known from their list, since many of them are gone.
    if (kind !== "agents") for (const [, id = ""] of text.matchAll(/"id":"([^"]{8,64})"/g)) remember(kind, id);
    for (const [, id = ""] of text.matchAll(/"senderId":"([^"]+)"/g)) remember("pairings", id);
    for (const [id] of text.matchAll(/sess_[0-9a-f]{16}/g)) remember("session", id);
    for (const [, name = ""] of text.matchAll(/"subdomain":"([^"]+)"/g)) remember("subdomain", name);
    for (const [, id = ""] of text.matchAll(/"liveStreamId":"([^"]+)"/g)) remember("live", id);
  }

  await clientOf("admin");
  await clientOf("stranger");
  await replenish();
  for (const client of clients.values()) {
    const { id } = (await client.get<{ id: string }>("/api/settings")).body;
    found.set("user", [...listOf("user"), id]);
  }
  return {
    berth,
    headersOf,
    suspect: (actor) => void doubted.add(actor),
    resolve,
    learn,
    anyAgent: (at) => pick(listOf("agents"), at),
    replenish,
    async [Symbol.asyncDispose]() {
      await berth[Symbol.asyncDispose]();
      await telegram.stop();
      await upstream[Symbol.asyncDispose]();
    },
  };
}

/** Every address that Berth may call is one of this machine. */
function environmentOf(upstream: Upstream, telegram: Telegram): Record<string, string> {
  const providers = [1, 2, 4, 5].map((n) => [`PROVIDER_${n}_BASE_URL`, `${NOWHERE}/v1`]);
  const channels = ["B", "C"].map((letter) => [`CHANNEL_${letter}_API_ROOT`, NOWHERE]);
  return {
    ...Object.fromEntries([...providers, ...channels]),
    CHANNEL_A_API_ROOT: telegram.url,
    OUTBOUND_ALLOW: "127.0.0.1/32",
    SECRET_KEY: CANARIES.secretKey,
    PROVIDER_3_BASE_URL: upstream.url,
    MODEL_A: "provider_3:fake-small",
    MODEL_B: "provider_3:fake-large",
    MAINNET_RPC_URL: NOWHERE,
    TESTNET_RPC_URL: NOWHERE,
    SOCIAL_ISSUER: NOWHERE,
    WALLET_PLATFORM: "local",
    // The work of passwords would be most of the time, and limits would answer most requests.
    RATE_LIMITS: "off",
    BOT_DETECTION: "off",
    LOG_LEVEL: "info",
  };
}
