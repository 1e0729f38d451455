// Fills the credentials of an agent into values of headers that name them: `Bearer ${credential:KEY}`.
import type { Issue } from "../../src/kernel/errors.ts";
import { type CredentialStore, isCustomKind } from "./credential-store.ts";

const CREDENTIAL = /\$\{credential:([\w.-]{1,64})\}/g;

/**
 * The headers with credentials in place of their names, and the credentials. Throws the result of `refuse` for one that is
 * not set, or has no name in capitals: keys of model providers and tokens of bots can't be named.
 */
export async function fillCredentials(
  agentId: string,
  headers: ReadonlyMap<string, string>,
  { open }: Pick<CredentialStore, "open">,
  refuse: (message: string) => Error,
): Promise<{ headers: Map<string, string>; secrets: Set<string> }> {
  const filled = new Map<string, string>();
  const secrets = new Set<string>();
  for (const [name, text] of headers) {
    let value = text;
    for (const [reference, credential = ""] of text.matchAll(CREDENTIAL)) {
      if (!isCustomKind(credential)) {
        throw refuse(
          `A header names the credential ${credential}. Only names in capitals, such as DOCS_TOKEN, can be used there.`,
        );
      }
      const secret = await open(agentId, credential);
      if (secret === undefined) throw refuse(`A header names the credential ${credential}, which is not set.`);
      secrets.add(secret);
      value = value.replace(reference, () => secret);
    }
    filled.set(name, value);
  }
  return { headers: filled, secrets };
}

class UnusableCredential extends Error {}

/** Warns about the headers of servers that name credentials which `fillCredentials` refuses. `key`: of the configuration. */
export async function findMissingCredentials(
  agentId: string,
  key: string,
  servers: ReadonlyMap<string, { headers?: ReadonlyMap<string, string> }>,
  credentials: Pick<CredentialStore, "open">,
): Promise<Issue[]> {
  const warnings = [...servers].map(async ([name, { headers = new Map() }]) => {
    try {
      await fillCredentials(agentId, headers, credentials, (message) => new UnusableCredential(message));
      return [];
    } catch (error) {
      if (!(error instanceof UnusableCredential)) throw error;
      return [{ path: `${key}.${name}.headers`, message: error.message }];
    }
  });
  return (await Promise.all(warnings)).flat();
}
