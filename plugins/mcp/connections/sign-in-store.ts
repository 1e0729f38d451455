// Stores sign-ins at MCP servers: registrations and tokens, sealed, and bound to the server's address.
import type { OAuthClientProvider, OAuthDiscoveryState } from "@modelcontextprotocol/client";
import type { Statement } from "../../../src/kernel/database/database.ts";
import type { Kernel } from "../../../src/kernel/plugin.ts";
import { sha256Hex } from "../../../src/kernel/util/tokens.ts";

type Awaitable<Method> = Method extends (...args: never[]) => infer Result ? NonNullable<Awaited<Result>> : never;

/** A sign-in at one server, as far as it has come. */
export interface SignIn {
  /** The registration at the authorization server. */
  client?: Awaitable<OAuthClientProvider["clientInformation"]>;
  tokens?: Awaitable<OAuthClientProvider["tokens"]>;
  /** The verifier of PKCE (RFC 7636) of the sign-in under way. */
  verifier?: string;
  discovery?: OAuthDiscoveryState;
  /** Comes back with the code. */
  state?: string;
  /** Where the owner signs in. */
  authorizeUrl?: string;
  /** Epoch ms; when the owner was asked. */
  startedAt?: number;
}

export interface ServerKey {
  agentId: string;
  name: string;
  /** Hash of the server's address. */
  digest: string;
}

export interface SignInStore {
  /** The sign-in at this very address; empty if there is none. */
  load(key: ServerKey): Promise<SignIn>;
  save(key: ServerKey, signIn: SignIn): Promise<void>;
  /** The server at which the sign-in with this state is under way. */
  findByState(state: string): Promise<{ agentId: string; name: string } | undefined>;
  forgetStatement(agentId: string, name: string): Statement;
  /** Deletes the sign-ins of one agent, which another account gets. */
  forgetAgentStatement(agentId: string): Statement;
  /** Deletes the sign-ins of all agents of an account that another person takes over. */
  forgetUserStatement(userId: string): Statement;
}

const SAVE = `INSERT INTO mcp_sign_ins (agent_id, name, digest, sealed, state_hash, updated_at)
  SELECT ?1, ?2, ?3, ?4, ?5, ?6 FROM agents WHERE id = ?1
  ON CONFLICT (agent_id, name) DO UPDATE SET digest = excluded.digest, sealed = excluded.sealed,
    state_hash = excluded.state_hash, updated_at = excluded.updated_at`;
const FORGET = "DELETE FROM mcp_sign_ins WHERE";

const sealContext = (agentId: string, name: string) => `agent:${agentId}:mcp:${name}`;

export function createSignInStore({
  database,
  vault,
  keyRotation,
  log,
}: Pick<Kernel, "database" | "vault" | "keyRotation" | "log">): SignInStore {
  keyRotation.registerColumn({
    label: "sign-ins at MCP servers",
    table: "mcp_sign_ins",
    keyColumns: ["agent_id", "name"],
    sealed: "sealed",
    sealContext: ({ agent_id, name }) => sealContext(String(agent_id), String(name)),
  });
  const redactSecrets = ({ client, tokens, verifier }: SignIn) => {
    const clientSecret = client && "client_secret" in client ? client.client_secret : undefined;
    for (const secret of [tokens?.access_token, tokens?.refresh_token, clientSecret, verifier]) {
      if (typeof secret === "string" && secret.length >= 8) log.redactSecret(secret);
    }
  };

  return {
    async load({ agentId, name, digest }) {
      const sql = "SELECT digest, sealed FROM mcp_sign_ins WHERE agent_id = ? AND name = ?";
      const [row] = (await database.read(sql, [agentId, name])).rows;
      if (row?.digest !== digest) return {};
      const signIn: SignIn = JSON.parse(vault.open(String(row.sealed), sealContext(agentId, name)));
      redactSecrets(signIn);
      return signIn;
    },
    async save({ agentId, name, digest }, signIn) {
      redactSecrets(signIn);
      const sealed = vault.seal(JSON.stringify(signIn), sealContext(agentId, name));
      const stateHash = signIn.state === undefined ? null : sha256Hex(signIn.state);
      await database.write([{ sql: SAVE, args: [agentId, name, digest, sealed, stateHash, Date.now()] }]);
    },
    async findByState(state) {
      const sql = "SELECT agent_id, name FROM mcp_sign_ins WHERE state_hash = ?";
      const [row] = (await database.read(sql, [sha256Hex(state)])).rows;
      return row && { agentId: String(row.agent_id), name: String(row.name) };
    },
    forgetStatement: (agentId, name) => ({ sql: `${FORGET} agent_id = ? AND name = ?`, args: [agentId, name] }),
    forgetAgentStatement: (agentId) => ({ sql: `${FORGET} agent_id = ?`, args: [agentId] }),
    forgetUserStatement: (userId) => ({
      sql: `${FORGET} agent_id IN (SELECT id FROM agents WHERE user_id = ?)`,
      args: [userId],
    }),
  };
}
