// Whose a token is: found out from the token alone, and never by a guess. What is needed later is kept with the connection.
import { type Binding, type BotIdentity, ChannelError } from "../channel.ts";
import { createRecent } from "../shared/recent.ts";
import { type Graph, isObject } from "./graph.ts";

const MANAGE = "whatsapp_business_management";
const MESSAGE = "whatsapp_business_messaging";
/** Accounts that are looked into for numbers. */
const MOST_ACCOUNTS = 20;
/** A number may be added to an account at any time; how often strange ones make us look again. */
const LOOK_EVERY = 60_000;

/** What the adapter keeps of a business account. */
export interface Account {
  /** The app that minted the token: its secret signs what is posted. */
  app: string;
  /** WhatsApp's ids of the account's numbers. */
  numbers: string[];
}

export interface Accounts {
  /** `refused` says what the token lacks, and what to do. */
  identify(token: string, signal: AbortSignal): Promise<BotIdentity>;
  /** As it was when the channel was connected, or as it was found since. */
  of(binding: Binding): Promise<Account>;
  /** Whether a number is the account's own, one that was added since too. */
  has(binding: Binding, number: string): Promise<boolean>;
  forget(binding: Binding): void;
}

export function createAccounts(graph: Graph): Accounts {
  /** By business account, where the connection does not say it or it has changed. */
  const found = createRecent<{ account: Account; token: string; at: number }>(1024);

  /** Business accounts that the token was granted for. https://developers.facebook.com/docs/graph-api/reference/debug_token */
  async function granted(token: string, signal: AbortSignal): Promise<{ app: string; ids: string[] }> {
    const query = { input_token: token };
    const { data } = await graph.call({ token }, { path: "debug_token", query }, "bot", signal);
    if (!isObject(data) || data.is_valid !== true) throw refuse("WhatsApp says that this access token is not valid.");
    const app = data.app_id;
    if (typeof app !== "string" || app === "") throw refuse("WhatsApp does not say which app made this access token.");
    const scopes = Array.isArray(data.granular_scopes) ? data.granular_scopes.filter(isObject) : [];
    const of = (name: string) => scopes.find(({ scope }) => scope === name);
    const lacking = [MESSAGE, MANAGE].filter((name) => !of(name));
    if (lacking.length > 0) {
      throw refuse(
        `This access token lacks ${lacking.join(" and ")}. Make one for a system user with both permissions.`,
      );
    }
    const targets = (name: string) => {
      const ids: unknown = of(name)?.target_ids;
      return Array.isArray(ids)
        ? ids.filter((id): id is string => typeof id === "string" && /^\d{1,32}$/.test(id))
        : [];
    };
    const messaging = new Set(targets(MESSAGE));
    const ids = targets(MANAGE).filter((id) => messaging.has(id));
    if (ids.length > 0) return { app, ids };
    throw refuse(
      "This access token names no WhatsApp business account. Give a system user the account as an asset, then make its token.",
    );
  }

  async function numbersOf(token: string, id: string, signal: AbortSignal) {
    const query = { fields: "id,display_phone_number", limit: "100" };
    const { data } = await graph.call({ token }, { path: `${id}/phone_numbers`, query }, "bot", signal);
    return (Array.isArray(data) ? data.filter(isObject) : [])
      .flatMap(({ id, display_phone_number: shown }) =>
        typeof id === "string" && /^\d{1,32}$/.test(id) ? [{ id, shown: typeof shown === "string" ? shown : "" }] : [],
      )
      .sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  async function identify(token: string, signal: AbortSignal): Promise<BotIdentity & { detail: string }> {
    const { app, ids } = await granted(token, signal);
    const several = "Make a token whose system user has only the one the agent is to answer for.";
    if (ids.length > MOST_ACCOUNTS)
      throw refuse(`This access token is for ${ids.length} business accounts. ${several}`);
    const all = await Promise.all(ids.map(async (id) => ({ id, numbers: await numbersOf(token, id, signal) })));
    const served = all.filter(({ numbers }) => numbers.length > 0);
    const [first, second] = served;
    const number = first?.numbers[0];
    if (!first || !number) throw refuse("The WhatsApp business account of this access token has no phone number yet.");
    if (second)
      throw refuse(`This access token is for several business accounts (${first.id}, ${second.id}). ${several}`);
    const digits = number.shown.replace(/\D/g, "");
    const account: Account = { app, numbers: first.numbers.map(({ id }) => id) };
    return { id: first.id, username: digits === "" ? number.id : `+${digits}`, detail: JSON.stringify(account) };
  }

  async function lookUp({ token, bot }: Binding): Promise<Account> {
    const { id, detail } = await identify(token, AbortSignal.timeout(10_000));
    const account = readDetail(detail);
    if (!account || id !== bot.id) throw refuse("This access token is for another business account by now.");
    found.set(bot.id, { account, token, at: Date.now() });
    return account;
  }

  async function of(binding: Binding): Promise<Account> {
    const known = found.get(binding.bot.id);
    if (known?.token === binding.token) return known.account;
    return readDetail(binding.bot.detail) ?? (await lookUp(binding));
  }

  return {
    identify,
    of,
    async has(binding, number) {
      if ((await of(binding)).numbers.includes(number)) return true;
      const { bot, token } = binding;
      const known = found.get(bot.id);
      if (known?.token === token && Date.now() - known.at < LOOK_EVERY) return false;
      return (await lookUp(binding)).numbers.includes(number);
    },
    forget: ({ bot }) => found.delete(bot.id),
  };
}

function readDetail(detail: string | undefined): Account | undefined {
  if (detail === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(detail);
    if (!isObject(value) || typeof value.app !== "string" || !Array.isArray(value.numbers)) return undefined;
    return { app: value.app, numbers: value.numbers.filter((id) => typeof id === "string") };
  } catch {
    return undefined;
  }
}

const refuse = (text: string) => new ChannelError("refused", text, "bot");
