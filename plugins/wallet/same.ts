// When two requests are the same: by what they mean, however they are written.
import { unitsOf } from "./amounts.ts";

/** Of a trade that names none: half a percent, in hundredths of a percent. */
export const SLIPPAGE = 50;
/** Finer than any token. */
const FINEST = 60;

/** The kind of a spend and its request as one hash. Fields that are left out count as what they are then. */
export function sameness(kind: "send" | "trade" | "pay", request: object): string {
  const given = defined(request);
  const method = "body" in given ? "POST" : "GET";
  const fields = { ...(kind === "pay" ? { method } : DEFAULTS[kind]), ...given };
  const normal = Object.entries(fields).map(([name, value]) => [name, normalOf(name, value)]);
  return new Bun.CryptoHasher("sha256")
    .update(JSON.stringify([kind, sorted(Object.fromEntries(normal))]))
    .digest("hex");
}

const CHAIN = { network: "testnet_chain" };
const DEFAULTS = { send: CHAIN, trade: { ...CHAIN, slippageBps: SLIPPAGE } };

function normalOf(name: string, value: unknown): unknown {
  if (name === "body" || typeof value !== "string") return value;
  const text = value.trim();
  if (name === "amount" || name === "maxAmount") return String(unitsOf(text, FINEST) ?? text);
  if (name === "method") return text.toUpperCase();
  if (name === "url") return URL.parse(text)?.href ?? text;
  // Addresses, and names of tokens and networks.
  return text.toLowerCase().replace(/^stablecoin$/, "usdc");
}

const defined = (request: object) =>
  Object.fromEntries(Object.entries(request).filter(([, value]) => value !== undefined));

/** With the keys of every object in one order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, inner]) => [key, sorted(inner)] as const);
  return Object.fromEntries(entries.sort(([one], [other]) => (one < other ? -1 : 1)));
}
