// Hashes spend requests by their meaning, so that a repeated request is recognized although it is written differently.
import { parseDecimalUnits } from "../amounts.ts";

/** Slippage of a trade that gives none: half a percent, in hundredths of a percent. */
export const DEFAULT_SLIPPAGE_BPS = 50;
/** Decimals that amounts are compared with: more than any token has. */
const MAX_DECIMALS = 60;

/**
 * SHA-256 (hex) of the kind of a spend and its normalized request. Fields that are left out count as their defaults.
 */
export function hashRequest(kind: "send" | "trade" | "pay", request: object): string {
  const definedFields = omitUndefined(request);
  const method = "body" in definedFields ? "POST" : "GET";
  const fields = { ...(kind === "pay" ? { method } : DEFAULTS[kind]), ...definedFields };
  const normalizedEntries = Object.entries(fields).map(([name, value]) => [name, normalizeValue(name, value)]);
  return new Bun.CryptoHasher("sha256")
    .update(JSON.stringify([kind, sortKeys(Object.fromEntries(normalizedEntries))]))
    .digest("hex");
}

const DEFAULT_NETWORK = { network: "testnet_chain" };
const DEFAULTS = { send: DEFAULT_NETWORK, trade: { ...DEFAULT_NETWORK, slippageBps: DEFAULT_SLIPPAGE_BPS } };

function normalizeValue(name: string, value: unknown): unknown {
  if (name === "body" || typeof value !== "string") return value;
  const text = value.trim();
  if (name === "amount" || name === "maxAmount") return String(parseDecimalUnits(text, MAX_DECIMALS) ?? text);
  if (name === "method") return text.toUpperCase();
  if (name === "url") return URL.parse(text)?.href ?? text;
  // Addresses, and names of tokens and networks.
  return text.toLowerCase().replace(/^stablecoin$/, "usdc");
}

const omitUndefined = (request: object) =>
  Object.fromEntries(Object.entries(request).filter(([, value]) => value !== undefined));

/** Sorts the keys of every object. */
function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, inner]) => [key, sortKeys(inner)] as const);
  return Object.fromEntries(entries.sort(([one], [other]) => (one < other ? -1 : 1)));
}
