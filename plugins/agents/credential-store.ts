// Credentials: sealed at rest and in memory, opened only for the moment they are used.
import { and, eq, sql } from "drizzle-orm";
import type { ChannelId } from "../../channels/port.ts";
import { channelIds } from "../../channels/registry.ts";
import { type Statement, statement } from "../../src/kernel/database/database.ts";
import { invalidInput } from "../../src/kernel/errors.ts";
import type { Kernel } from "../../src/kernel/plugin.ts";
import { createCache } from "../../src/kernel/util/cache.ts";
import { estimateMemorySize } from "../../src/kernel/util/memory-size.ts";
import { type ProviderId, providerSettings } from "../ai/settings.ts";
import type { AgentHooks } from "./agent-hooks.ts";
import { type AgentStore, cacheSize } from "./agent-store.ts";
import { credentials } from "./schema.ts";

/** The key for a provider, or the token of a bot on a channel. */
export type CredentialKind = ProviderId | ChannelId;

/** These come first in the summary, whose order of keys is older than the registry of providers. */
const FIRST_IN_SUMMARY: readonly string[] = ["provider_4", "provider_5"];

/** An agent's own, or the defaults of a user for all agents that have none of their own. */
export interface CredentialOwner {
  kind: "agent" | "user";
  id: string;
}

/** Whether there is a credential, by kind. Providers that need none are left out. */
export type CredentialsSummary = Record<string, boolean>;

export interface CredentialStore {
  /** Seals and keeps a value; an empty one clears it. `kind` and the value are checked: 400. Says whether one is set now. */
  set(owner: CredentialOwner, kind: string, value: string): Promise<boolean>;
  /** What keeps one of an agent's own, for a batch that does more; `path` names the field it came in. 400 for what is none. */
  setStatement(agentId: string, kind: CredentialKind, value: string, path: string): Statement;
  /** The agent's own, else its owner's default, in clear: don't keep it. Without a query once the agent was asked for. */
  open(agentId: string, kind: CredentialKind): Promise<string | undefined>;
  /** All keys for AI providers that `open` would give. */
  providerKeys(agentId: string): Promise<Partial<Record<ProviderId, string>>>;
  /** Which kinds `open` would find. */
  summary(agentId: string): Promise<CredentialsSummary>;
  /**
   * Takes a user's defaults, and the provider keys of the user's agents. Their bots' tokens go with their connections, which
   * have to be ended where they are held.
   */
  forgetStatement(userId: string): Statement;
  /** Bytes held in memory of the agent's own ones. */
  memoryBytes(agentId: string): number;
}

const MAX_VALUE = 4_096;

type SealedByKind = ReadonlyMap<string, string>;
type Deps = Pick<Kernel, "database" | "vault" | "keyRotation" | "config" | "log"> & {
  agents: AgentStore;
  hooks: AgentHooks;
};

export function createCredentialStore({
  database,
  vault,
  keyRotation,
  config,
  log,
  agents,
  hooks,
}: Deps): CredentialStore {
  const { registry } = config.of(providerSettings);
  const kinds: readonly CredentialKind[] = [...registry.ids, ...channelIds()];
  const requiredProviders = registry.all.filter(({ credential }) => credential.required).map(({ id }) => id);
  const summaryKinds = [...requiredProviders, ...channelIds()].sort(
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
  const known = createCache<SealedByKind>({ entries: cacheSize({ config, database }) });
  hooks.onChange((agentId) => known.drop(`agent:${agentId}`));

  const selectByOwner = db
    .select({ kind: credentials.kind, sealed: credentials.sealed })
    .from(credentials)
    .where(and(eq(credentials.ownerKind, sql.placeholder("kind")), eq(credentials.ownerId, sql.placeholder("id"))))
    .prepare();
  const loadSealed = async (owner: CredentialOwner): Promise<SealedByKind> =>
    known.get(`${owner.kind}:${owner.id}`, async () => {
      const rows = await selectByOwner.execute({ kind: owner.kind, id: owner.id });
      return new Map(rows.map(({ kind, sealed }) => [kind, sealed]));
    });

  /** In the order in which they are looked at. */
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
    known.drop(`${owner.kind}:${owner.id}`);
    if (owner.kind === "agent") hooks.notifyChanged(owner.id);
    else for (const { id } of await agents.list(owner.id)) hooks.notifyChanged(id);
  }

  type OwnedSealed = readonly [CredentialOwner, SealedByKind];

  /** All that an agent can use, still sealed, in the order in which it is looked at. */
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
      const known = requireKind(kinds, kind);
      const secret = requireValue(value);
      if (secret !== "") log.redactSecret(secret);
      await database.write([secret === "" ? deleteStatement(owner, known) : upsertStatement(owner, known, secret)]);
      await notifyChanged(owner);
      return secret !== "";
    },

    forgetStatement: (userId) => ({
      sql: `DELETE FROM credentials WHERE (owner_kind = 'user' AND owner_id = ?1)
        OR (owner_kind = 'agent' AND kind IN (SELECT value FROM json_each(?2))
          AND owner_id IN (SELECT id FROM agents WHERE user_id = ?1))`,
      args: [userId, JSON.stringify(registry.ids)],
      after: () => known.clear(),
    }),

    setStatement(agentId, kind, value, path) {
      const owner = { kind: "agent", id: agentId } as const;
      const secret = requireValue(value, path);
      log.redactSecret(secret);
      const after = () => {
        known.drop(`agent:${agentId}`);
        hooks.notifyChanged(agentId);
      };
      return { ...upsertStatement(owner, kind, secret), after };
    },

    open,
    memoryBytes: (agentId) => estimateMemorySize(known.peek(`agent:${agentId}`)),

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
      return Object.fromEntries(summaryKinds.map((kind) => [kind, found.has(kind)]));
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

/** What a sealed text is bound to, so that one moved to another row does not open. */
const sealContext = ({ kind: owner, id }: CredentialOwner, kind: CredentialKind) => `${owner}:${id}:credential:${kind}`;

function requireKind(kinds: readonly CredentialKind[], kind: string): CredentialKind {
  const found = kinds.find((known) => known === kind);
  if (!found) throw invalidInput({ path: "key", message: `The kind is one of: ${kinds.join(", ")}.` });
  return found;
}

function requireValue(value: string, path = "value"): string {
  const trimmed = value.trim();
  if (trimmed.length > MAX_VALUE || /[^\x21-\x7e]/.test(trimmed)) {
    const message = `A credential is up to ${MAX_VALUE} printable ASCII characters without spaces.`;
    throw invalidInput({ path, message });
  }
  return trimmed;
}
