// Finds secrets in a configuration, where they don't belong: configurations are stored and shown in clear.

import { channelDefinitions } from "../../../channels/registry.ts";
import { itemPath, memberPath } from "./value-readers.ts";

/** Matches names of secret fields, in lower case without dashes and underscores. Narrower than the log's: `key` alone is allowed. */
const SECRET_NAME =
  /(?:apikey|accesskey|secretkey|privatekey|signingkey|token|password|passwd|passphrase|secret|credential|authorization|cookie|mnemonic|seedphrase)$/;

/** Matches a text that names a credential in place of the secret, as the header of an MCP server does. */
const CREDENTIAL_REFERENCE = /^(?:[A-Za-z]{1,20} )?\$\{credential:[\w.-]{1,64}\}$/;

/** Match secrets by their shape, whatever their field is called. */
const SECRET_SHAPES: readonly RegExp[] = [
  // Berth's own keys, and those of GitHub and Slack; AI providers declare theirs in their definitions.
  /(?<![A-Za-z0-9])(?:bk_|whsec_|ghp_|github_pat_|xox[abp]-)[\w-]{16,}/,
  // JSON web tokens, and passwords in addresses.
  /(?<![\w-])eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}/,
  /\b[a-z][a-z0-9+.-]{0,20}:\/\/[^\s/?#"'@:]{0,200}:[^\s/?#"'@]{1,200}@/i,
];

/** The shapes of all secrets that a configuration must not have. */
export const secretShapes = (keyShapes: readonly RegExp[]): RegExp[] => [
  ...SECRET_SHAPES,
  ...keyShapes,
  ...channelDefinitions().flatMap(({ tokenShapes }) => tokenShapes),
];

const looksLikeSecret = (text: string, keyShapes: readonly RegExp[]) =>
  secretShapes(keyShapes).some((shape) => shape.test(text));

const isSecretName = (name: string) => SECRET_NAME.test(name.replace(/[-_\s]/g, "").toLowerCase());

/**
 * The path of the first secret in a parsed JSON value; undefined if there is none. A text counts if its field's name or
 * its own shape gives it away. The path never contains the secret, even if a member's name is one.
 */
export function findSecret(value: unknown, keyShapes: readonly RegExp[], path = ""): string | undefined {
  if (typeof value === "string") return looksLikeSecret(value, keyShapes) ? path : undefined;
  if (typeof value !== "object" || value === null) return undefined;
  for (const [name, item] of Object.entries(value)) {
    if (looksLikeSecret(name, keyShapes)) return path;
    const inner = Array.isArray(value) ? itemPath(path, Number(name)) : memberPath(path, name);
    if (typeof item === "string" && item !== "" && isSecretName(name) && !CREDENTIAL_REFERENCE.test(item)) return inner;
    const found = findSecret(item, keyShapes, inner);
    if (found !== undefined) return found;
  }
  return undefined;
}
