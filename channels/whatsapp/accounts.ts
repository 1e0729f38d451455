// Finds the business account of an access token from the token alone, and refuses ambiguous ones. The facts needed
// later
// are stored with the connection.

import { createBoundedMap } from "../../src/kernel/util/bounded-map.ts";
import { MINUTE } from "../../src/kernel/util/time.ts";
import { type Binding, type BotIdentity, ChannelError } from "../port.ts";
import { isObject } from "../shared/is-object.ts";
import type { GraphApi } from "./graph-api.ts";

const MANAGEMENT_SCOPE = "whatsapp_business_management";
const MESSAGING_SCOPE = "whatsapp_business_messaging";
/** Accounts whose numbers are fetched, at most. */
const MAX_ACCOUNTS = 20;
/** Numbers can be added to an account at any time; unknown ones cause a lookup no more often than this. */
const LOOKUP_INTERVAL_MS = MINUTE;

/** The stored facts of a business account. */
export interface Account {
  /** The app that made the token: its secret signs the posts. */
  app: string;
  /** WhatsApp's ids of the account's numbers. */
  numbers: string[];
}

export interface Accounts {
  /** The bot of a token. Throws `refused`, with what the token lacks and what to do. */
  identify(token: string, signal: AbortSignal): Promise<BotIdentity>;
  /** The account as stored when the channel was connected, or as found since. */
  load(binding: Binding): Promise<Account>;
  /** Whether a number belongs to the account, also one that was added since. */
  ownsNumber(binding: Binding, number: string): Promise<boolean>;
  forget(binding: Binding): void;
}

export function createAccounts(graph: GraphApi): Accounts {
  /** By business account, if the connection does not hold the facts or they have changed. */
  const cache = createBoundedMap<{ account: Account; token: string; at: number }>(1024);

  /**
   * The business accounts that the token was granted for.
   * https://developers.facebook.com/docs/graph-api/reference/debug_token
   */
  async function fetchGrantedAccounts(token: string, signal: AbortSignal): Promise<{ app: string; ids: string[] }> {
    const query = { input_token: token };
    const { data } = await graph.call({ token }, { path: "debug_token", query }, "bot", signal);
    if (!isObject(data) || data.is_valid !== true)
      throw refusedError("WhatsApp says that this access token is not valid.");
    const app = data.app_id;
    if (typeof app !== "string" || app === "")
      throw refusedError("WhatsApp does not say which app made this access token.");
    const scopes = Array.isArray(data.granular_scopes) ? data.granular_scopes.filter(isObject) : [];
    const scopeOf = (name: string) => scopes.find(({ scope }) => scope === name);
    const lacking = [MESSAGING_SCOPE, MANAGEMENT_SCOPE].filter((name) => !scopeOf(name));
    if (lacking.length > 0) {
      throw refusedError(
        `This access token lacks ${lacking.join(" and ")}. Make one for a system user with both permissions.`,
      );
    }
    const targets = (name: string) => {
      const ids: unknown = scopeOf(name)?.target_ids;
      return Array.isArray(ids)
        ? ids.filter((id): id is string => typeof id === "string" && /^\d{1,32}$/.test(id))
        : [];
    };
    const messaging = new Set(targets(MESSAGING_SCOPE));
    const ids = targets(MANAGEMENT_SCOPE).filter((id) => messaging.has(id));
    if (ids.length > 0) return { app, ids };
    throw refusedError(
      "This access token names no WhatsApp business account. Give a system user the account as an asset, then make its token.",
    );
  }

  async function numbersOf(token: string, id: string, signal: AbortSignal) {
    const query = { fields: "id,display_phone_number,verified_name", limit: "100" };
    const { data } = await graph.call({ token }, { path: `${id}/phone_numbers`, query }, "bot", signal);
    return (Array.isArray(data) ? data.filter(isObject) : [])
      .flatMap(({ id, display_phone_number: shown, verified_name: name }) =>
        typeof id === "string" && /^\d{1,32}$/.test(id)
          ? [{ id, shown: typeof shown === "string" ? shown : "", ...(typeof name === "string" ? { name } : {}) }]
          : [],
      )
      .sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  async function identify(token: string, signal: AbortSignal): Promise<BotIdentity & { detail: string }> {
    const { app, ids } = await fetchGrantedAccounts(token, signal);
    const advice = "Make a token whose system user has only the one the agent is to answer for.";
    if (ids.length > MAX_ACCOUNTS)
      throw refusedError(`This access token is for ${ids.length} business accounts. ${advice}`);
    const all = await Promise.all(ids.map(async (id) => ({ id, numbers: await numbersOf(token, id, signal) })));
    const withNumbers = all.filter(({ numbers }) => numbers.length > 0);
    const [first, second] = withNumbers;
    const number = first?.numbers[0];
    if (!first || !number)
      throw refusedError("The WhatsApp business account of this access token has no phone number yet.");
    if (second)
      throw refusedError(`This access token is for several business accounts (${first.id}, ${second.id}). ${advice}`);
    const digits = number.shown.replace(/\D/g, "");
    const account: Account = { app, numbers: first.numbers.map(({ id }) => id) };
    const { name } = number;
    const username = digits === "" ? number.id : `+${digits}`;
    return { id: first.id, username, ...(name === undefined ? {} : { name }), detail: JSON.stringify(account) };
  }

  async function refresh({ token, bot }: Binding): Promise<Account> {
    const { id, detail } = await identify(token, AbortSignal.timeout(10_000));
    const account = parseDetail(detail);
    if (!account || id !== bot.id) throw refusedError("This access token is for another business account by now.");
    cache.set(bot.id, { account, token, at: Date.now() });
    return account;
  }

  async function load(binding: Binding): Promise<Account> {
    const known = cache.get(binding.bot.id);
    if (known?.token === binding.token) return known.account;
    return parseDetail(binding.bot.detail) ?? (await refresh(binding));
  }

  return {
    identify,
    load,
    async ownsNumber(binding, number) {
      if ((await load(binding)).numbers.includes(number)) return true;
      const { bot, token } = binding;
      const known = cache.get(bot.id);
      if (known?.token === token && Date.now() - known.at < LOOKUP_INTERVAL_MS) return false;
      return (await refresh(binding)).numbers.includes(number);
    },
    forget: ({ bot }) => cache.delete(bot.id),
  };
}

function parseDetail(detail: string | undefined): Account | undefined {
  if (detail === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(detail);
    if (!isObject(value) || typeof value.app !== "string" || !Array.isArray(value.numbers)) return undefined;
    return { app: value.app, numbers: value.numbers.filter((id) => typeof id === "string") };
  } catch {
    return undefined;
  }
}

const refusedError = (text: string) => new ChannelError("refused", text, "bot");
