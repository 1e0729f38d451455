// Finds OAuth clients: those that registered themselves (RFC 7591), and those whose id is the address of a document about
// them (OAuth Client ID Metadata Document, draft-ietf-oauth-client-id-metadata-document).
import type { Kernel } from "../../../src/kernel/plugin.ts";
import { oneLine } from "../../../src/kernel/util/text/quoted-text.ts";
import { DAY, SECOND } from "../../../src/kernel/util/time.ts";
import { randomToken } from "../../../src/kernel/util/tokens.ts";
import { OAuthFailure } from "./failure.ts";
import { hostOf, isRedirectUri } from "./redirect-uris.ts";

export interface OAuthClient {
  id: string;
  /** As the program calls itself. */
  name: string;
  redirectUris: readonly string[];
  /** The host that vouches for the name; undefined for a program that registered itself, whose name anyone may use. */
  verifiedHost: string | undefined;
}

export type Clients = ReturnType<typeof createClients>;

const MAX_NAME = 80;
const MAX_REDIRECT_URIS = 20;
const DOCUMENT_BYTES = 16 * 1024;
const DOCUMENT_TIMEOUT_MS = 5 * SECOND;
/** After so long without a use, a registration is forgotten. */
const FORGOTTEN_AFTER_MS = 90 * DAY;
const SELECT = "SELECT name, redirect_uris FROM oauth_clients WHERE id = ?";
const INSERT = "INSERT INTO oauth_clients (id, name, redirect_uris, used_at) VALUES (?, ?, ?, ?)";

/** Asks cell 0, where programs register themselves, because they have no account. */
const QUESTION = "oauth.client";

export function createClients({ database, outbound, cells }: Pick<Kernel, "database" | "outbound" | "cells">) {
  async function findHere(id: string): Promise<OAuthClient | undefined> {
    const [row] = (await database.read(SELECT, [id])).rows;
    if (!row) return undefined;
    const redirectUris = JSON.parse(String(row.redirect_uris)) as string[];
    return { id, name: String(row.name), redirectUris, verifiedHost: undefined };
  }

  async function findRegistered(id: string): Promise<OAuthClient | undefined> {
    if (!cells || cells.here === 0) return findHere(id);
    const text = await cells.ask(0, QUESTION, id);
    return text === "" ? undefined : (JSON.parse(text) as OAuthClient);
  }
  cells?.answer(QUESTION, async (id) => {
    const client = await findHere(id);
    // Somebody decides about it: it is in use.
    if (client) await database.write([usedStatement(client)]);
    return client ? JSON.stringify(client) : "";
  });

  const usedStatement = ({ id }: Pick<OAuthClient, "id">) => ({
    sql: "UPDATE oauth_clients SET used_at = ? WHERE id = ?",
    args: [Date.now(), id],
  });

  /** Reads the document at the address that is the client's id. */
  async function findDocument(url: URL): Promise<OAuthClient> {
    const id = url.href;
    const refuse = (why: string) => new OAuthFailure("invalid_client", `The document about this program ${why}.`);
    const response = await outbound
      .fetch(id, {
        headers: { accept: "application/json" },
        httpsOnly: true,
        maxRedirects: 0,
        maxBytes: DOCUMENT_BYTES,
        timeoutMs: DOCUMENT_TIMEOUT_MS,
      })
      .catch(() => {
        throw refuse("can't be read");
      });
    if (!response.ok) throw refuse(`answers ${response.status}`);
    const metadata = parseObject(response.text());
    if (metadata?.client_id !== id) throw refuse("is about another client");
    return { id, verifiedHost: url.host, ...readMetadata(metadata) };
  }

  return {
    /** Throws OAuthFailure `invalid_client` for a client that is not known. */
    async find(id: string): Promise<OAuthClient> {
      const url = isDocumentAddress(id) ? new URL(id) : undefined;
      const found = url ? await findDocument(url) : await findRegistered(id);
      if (found) return found;
      throw new OAuthFailure("invalid_client", "This program is not known here. Let it register again.");
    },

    /** Registers a client. Throws OAuthFailure `invalid_redirect_uri` and `invalid_client_metadata`. */
    async register(metadata: Readonly<Record<string, unknown>>): Promise<OAuthClient> {
      const client = { id: randomToken(16), verifiedHost: undefined, ...readMetadata(metadata) };
      await database.write([
        { sql: INSERT, args: [client.id, client.name, JSON.stringify(client.redirectUris), Date.now()] },
      ]);
      return client;
    },

    usedStatement,
    sweepStatement: () => ({
      sql: "DELETE FROM oauth_clients WHERE used_at < ?",
      args: [Date.now() - FORGOTTEN_AFTER_MS],
    }),
  };
}

/** Only https, with a path, and written as URLs are: so one document has one id. */
function isDocumentAddress(id: string): boolean {
  const url = /^https?:\/\//.test(id) ? URL.parse(id) : null;
  return url !== null && url.href === id && url.pathname !== "/" && url.hash === "" && url.username === "";
}

function readMetadata(metadata: Readonly<Record<string, unknown>>): Pick<OAuthClient, "name" | "redirectUris"> {
  const { redirect_uris: uris, client_name: given, token_endpoint_auth_method: method, grant_types: grants } = metadata;
  if (!Array.isArray(uris) || uris.length === 0 || uris.length > MAX_REDIRECT_URIS || !uris.every(isRedirectUri)) {
    const text = "redirect_uris are 1 to 20 addresses: https, http on this computer, or a scheme of the program.";
    throw new OAuthFailure("invalid_redirect_uri", text);
  }
  if (typeof method === "string" && method.startsWith("private_key")) {
    throw new OAuthFailure("invalid_client_metadata", "Only clients without a secret are supported: use PKCE.");
  }
  if (Array.isArray(grants) && !grants.includes("authorization_code")) {
    throw new OAuthFailure("invalid_client_metadata", "Only the grant authorization_code is supported.");
  }
  const name = typeof given === "string" ? plainLine(given) : "";
  return { name: name || hostOf(uris[0] ?? "").host, redirectUris: uris };
}

/** One line without characters that turn or hide text, since a person decides by it. */
const plainLine = (text: string) =>
  [...oneLine(text.replace(/\p{Cf}/gu, ""))].slice(0, MAX_NAME).join("").toWellFormed().trim();

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}
