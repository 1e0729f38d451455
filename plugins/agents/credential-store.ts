// Stores the credentials of agents and users: sealed on disk and in memory, unsealed only when they are used.
import { timingSafeEqual } from "node:crypto";
import { and, eq, sql } from "drizzle-orm";
import type { ChannelId } from "../../channels/port.ts";
import { channelIds, provisionedChannels } from "../../channels/registry.ts";
import { preparedQuery, type Statement, statement } from "../../src/kernel/database/database.ts";
import { invalidInput } from "../../src/kernel/errors.ts";
import type { Kernel } from "../../src/kernel/plugin.ts";
import { createCache } from "../../src/kernel/util/cache.ts";
import { estimateMemorySize } from "../../src/kernel/util/memory-size.ts";
import { sha256Hex } from "../../src/kernel/util/tokens.ts";
import { type ProviderId, providerSettings } from "../ai/settings.ts";
import type { AgentHooks } from "./agent-hooks.ts";
import { type AgentStore, cacheSize } from "./agent-store.ts";
import { credentials } from "./schema.ts";

/** A name that an owner gives to a secret, in capitals, so that it can't be the id of a provider or a channel. */
type CustomKind = `${Uppercase<string>}`;

/** A provider's id for its key, a channel's id for its bot's token, or a name of the owner's, such as `DOCS_TOKEN`. */
export type CredentialKind = ProviderId | ChannelId | CustomKind;

const CUSTOM_KIND = /^[A-Z][A-Z0-9_]{0,63}$/;
export const isCustomKind = (kind: string): kind is CustomKind => CUSTOM_KIND.test(kind);
/** The most credentials of an agent or a user under names of the owner's. */
const MAX_CUSTOM = 50;

/** Listed first, because clients know the summary's order of keys from before the provider registry. */
const FIRST_IN_SUMMARY: readonly string[] = ["provider_4", "provider_5"];

/** An agent, or a user whose credentials are the defaults of all of their agents. */
export interface CredentialOwner {
  kind: "agent" | "user";
  id: string;
}

/** Whether a credential is set, by kind. Providers that work without a key are left out. */
export type CredentialsSummary = Record<string, boolean>;

export interface CredentialStore {
  /**
   * Seals and stores a value; an empty one deletes it. Resolves with whether one is set now. Throws 400 for an unknown
   * kind or a value that can't be a credential.
   */
  set(owner: CredentialOwner, kind: string, value: string): Promise<boolean>;
  /** Stores an agent's credential as part of a larger batch. Throws 400 naming the request's field `path` for a wrong value. */
  setStatement(agentId: string, kind: CredentialKind, value: string, path: string): Statement;
  /** The agent's credential, else its owner's default, in clear: don't keep it. Cached (sealed) after the first call. */
  open(agentId: string, kind: CredentialKind): Promise<string | undefined>;
  /** The kinds of the agent's own credentials, without those of its owner. */
  ownKinds(agentId: string): Promise<string[]>;
  /** Whether the agent's own credential of this kind is this value. */
  isStored(agentId: string, kind: string, value: string): Promise<boolean>;
  /** The keys for AI providers that `open` would return. */
  providerKeys(agentId: string): Promise<Partial<Record<ProviderId, string>>>;
  /** The kinds for which `open` would return a credential. */
  summary(agentId: string): Promise<CredentialsSummary>;
  /**
   * Deletes a user's defaults, and all credentials of the user's agents but the tokens of bots: those are deleted with
   * their connections, which their holder must close.
   */
  forgetStatement(userId: string): Statement;
  /** Estimated bytes that the cache holds for the agent. */
  memoryBytes(agentId: string): number;
}

const MAX_VALUE = 4_096;

type SealedByKind = ReadonlyMap<string, string>;
type Deps = Pick<Kernel, "database" | "vault" | "keyRotation" | "config" | "log" | "audit"> & {
  agents: AgentStore;
  hooks: AgentHooks;
};

export function createCredentialStore({
  database,
  vault,
  keyRotation,
  config,
  log,
  audit,
  agents,
  hooks,
}: Deps): CredentialStore {
  const { registry } = config.of(providerSettings);
  const kinds: readonly CredentialKind[] = [...registry.ids, ...channelIds()];
  const requiredProviders = registry.all.filter(({ credential }) => credential.required).map(({ id }) => id);
  // Clients know these keys; a channel that provisioning does not know is named once it is connected.
  const summaryKinds = [...requiredProviders, ...provisionedChannels().map(({ id }) => id)].sort(
    (a, b) => Number(FIRST_IN_SUMMARY.includes(b)) - Number(FIRST_IN_SUMMARY.includes(a)),
  );

  keyRotation.registerColumn({
    label: "credentials",
    table: "credentials",
    keyColumns: ["owner_kind", "owner_id", "kind"],
    sealed: "sealed",
    sealContext: ({ owner_kind, owner_id, kind }) => `${owner_kind}:${owner_id}:credential:${kind}`,
  });
  const db = database.drizzle;
  const cache = createCache<SealedByKind>({ entries: cacheSize({ config, database }) });
  hooks.onChange((agentId) => cache.drop(`agent:${agentId}`));

  const selectByOwner = preparedQuery(() =>
    db
      .select({ kind: credentials.kind, sealed: credentials.sealed })
      .from(credentials)
      .where(and(eq(credentials.ownerKind, sql.placeholder("kind")), eq(credentials.ownerId, sql.placeholder("id")))),
  );
  const loadSealed = async (owner: CredentialOwner): Promise<SealedByKind> =>
    cache.get(`${owner.kind}:${owner.id}`, async () => {
      const rows = await selectByOwner.execute({ kind: owner.kind, id: owner.id });
      return new Map(rows.map(({ kind, sealed }) => [kind, sealed]));
    });

  /** In the order of precedence. */
  async function ownersOf(agentId: string): Promise<CredentialOwner[]> {
    const agent = await agents.find(agentId);
    return agent
      ? [
          { kind: "agent", id: agent.id },
          { kind: "user", id: agent.userId },
        ]
      : [];
  }

  async function notifyChanged(owner: CredentialOwner): Promise<void> {
    cache.drop(`${owner.kind}:${owner.id}`);
    if (owner.kind === "agent") hooks.notifyChanged(owner.id);
    else for (const { id } of await agents.list(owner.id)) hooks.notifyChanged(id);
  }

  async function requireRoom(owner: CredentialOwner, kind: CredentialKind): Promise<void> {
    const stored = await loadSealed(owner);
    if (!isCustomKind(kind) || stored.has(kind)) return;
    if ([...stored.keys()].filter(isCustomKind).length < MAX_CUSTOM) return;
    throw invalidInput({ path: "key", message: `At most ${MAX_CUSTOM} credentials have names of your own.` });
  }

  /** Never the secret. A bot's token is a part of its channel's connection, which is recorded. */
  async function auditStatements(owner: CredentialOwner, kind: CredentialKind, done: "set" | "delete") {
    if (channelIds().some((id) => id === kind)) return [];
    const name = owner.kind === "agent" ? ((await agents.find(owner.id))?.name ?? "") : "";
    return [audit.record({ action: `secret.${done}`, target: { ...owner, name }, details: { key: kind } })];
  }

  type OwnedSealed = readonly [CredentialOwner, SealedByKind];

  /** All credentials that an agent can use, still sealed, in the order of precedence. */
  const loadCandidates = async (agentId: string): Promise<OwnedSealed[]> =>
    Promise.all((await ownersOf(agentId)).map(async (owner) => [owner, await loadSealed(owner)] as const));

  function openFirst(candidates: readonly OwnedSealed[], kind: CredentialKind): string | undefined {
    for (const [owner, all] of candidates) {
      const sealed = all.get(kind);
      if (sealed !== undefined) return vault.open(sealed, sealContext(owner, kind));
    }
    return undefined;
  }

  const open = async (agentId: string, kind: CredentialKind) => openFirst(await loadCandidates(agentId), kind);

  return {
    async set(owner, kind, value) {
      const validKind = requireKind(kinds, kind);
      const secret = requireValue(value);
      if (secret !== "") {
        log.redactSecret(secret);
        await requireRoom(owner, validKind);
      }
      await database.write([
        secret === "" ? deleteStatement(owner, validKind) : upsertStatement(owner, validKind, secret),
        ...(await auditStatements(owner, validKind, secret === "" ? "delete" : "set")),
      ]);
      await notifyChanged(owner);
      return secret !== "";
    },

    forgetStatement: (userId) => ({
      sql: `DELETE FROM credentials WHERE (owner_kind = 'user' AND owner_id = ?1)
        OR (owner_kind = 'agent' AND kind NOT IN (SELECT value FROM json_each(?2))
          AND owner_id IN (SELECT id FROM agents WHERE user_id = ?1))`,
      args: [userId, JSON.stringify(channelIds())],
      after: () => cache.clear(),
    }),

    setStatement(agentId, kind, value, path) {
      const owner = { kind: "agent", id: agentId } as const;
      const secret = requireValue(value, path);
      log.redactSecret(secret);
      const after = () => {
        cache.drop(`agent:${agentId}`);
        hooks.notifyChanged(agentId);
      };
      return { ...upsertStatement(owner, kind, secret), after };
    },

    open,
    ownKinds: async (agentId) => [...(await loadSealed({ kind: "agent", id: agentId })).keys()].sort(),
    async isStored(agentId, kind, value) {
      const owner = { kind: "agent", id: agentId } as const;
      const sealed = (await loadSealed(owner)).get(kind);
      if (sealed === undefined) return false;
      const stored = vault.open(sealed, sealContext(owner, requireKind(kinds, kind)));
      // Equal lengths, and the same time for every pair.
      return timingSafeEqual(Buffer.from(sha256Hex(stored)), Buffer.from(sha256Hex(value.trim())));
    },
    memoryBytes: (agentId) => estimateMemorySize(cache.peek(`agent:${agentId}`)),

    async providerKeys(agentId) {
      const keys: Partial<Record<ProviderId, string>> = {};
      const candidates = await loadCandidates(agentId);
      for (const provider of registry.ids) {
        const key = openFirst(candidates, provider);
        if (key !== undefined) keys[provider] = key;
      }
      return keys;
    },

    async summary(agentId) {
      const found = new Set<string>();
      for (const owner of await ownersOf(agentId)) for (const kind of (await loadSealed(owner)).keys()) found.add(kind);
      const connectedLater = channelIds().filter((kind) => found.has(kind));
      return Object.fromEntries([...summaryKinds, ...connectedLater].map((kind) => [kind, found.has(kind)]));
    },
  };

  function upsertStatement(owner: CredentialOwner, kind: CredentialKind, secret: string): Statement {
    const row = { sealed: vault.seal(secret, sealContext(owner, kind)), updatedAt: Date.now() };
    return statement(
      db
        .insert(credentials)
        .values({ ownerKind: owner.kind, ownerId: owner.id, kind, ...row })
        .onConflictDoUpdate({ target: [credentials.ownerKind, credentials.ownerId, credentials.kind], set: row }),
    );
  }

  function deleteStatement(owner: CredentialOwner, kind: CredentialKind): Statement {
    const { ownerKind, ownerId } = credentials;
    return statement(
      db.delete(credentials).where(and(eq(ownerKind, owner.kind), eq(ownerId, owner.id), eq(credentials.kind, kind))),
    );
  }
}

/** Binds a sealed text to its row: moved to another row, it can't be unsealed. */
const sealContext = ({ kind: owner, id }: CredentialOwner, kind: CredentialKind) => `${owner}:${id}:credential:${kind}`;

function requireKind(kinds: readonly CredentialKind[], kind: string): CredentialKind {
  const found = isCustomKind(kind) ? kind : kinds.find((known) => known === kind);
  if (found) return found;
  const message = `The kind is one of: ${kinds.join(", ")}; or a name of your own in capitals, such as DOCS_TOKEN.`;
  throw invalidInput({ path: "key", message });
}

function requireValue(value: string, path = "value"): string {
  const trimmed = value.trim();
  if (trimmed.length > MAX_VALUE || /[^\x21-\x7e]/.test(trimmed)) {
    const message = `A credential is up to ${MAX_VALUE} printable ASCII characters without spaces.`;
    throw invalidInput({ path, message });
  }
  return trimmed;
}
