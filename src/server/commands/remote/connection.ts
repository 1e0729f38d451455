// Connects a command to a service: whose address and key it uses, and how errors of the service are told.
import { BerthError, type Client, ConnectionError, createClient } from "../../../../packages/client/src/index.ts";
import { environment } from "../../../kernel/config/config.ts";
import { programName } from "../../../kernel/config/program-name.ts";
import { AppError } from "../../../kernel/errors.ts";
import { type Flags, UsageError } from "../options.ts";
import { readLogins } from "./logins.ts";

/** Of a service on this machine with its own defaults. */
const LOCAL = "http://localhost:3000";

/** The origin of an address. Throws UsageError if it is none. */
export function requireUrl(text: string): string {
  const url = URL.parse(/^[a-z][a-z+.-]*:\/\//i.test(text) ? text : `https://${text}`);
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password) {
    throw new UsageError("The address of the service is an http or https URL, such as https://berth.example.com.");
  }
  return url.origin + url.pathname.replace(/\/+$/, "");
}

/** The service that is meant if no address is given. */
export async function defaultUrl(): Promise<string> {
  const { BERTH_URL: url } = environment();
  return requireUrl(url || (await readLogins()).current || LOCAL);
}

/** A key is sent in clear over http, which is harmless on this machine alone. */
export function warnAboutClearText(url: string): void {
  const { protocol, hostname } = new URL(url);
  if (protocol === "https:" || /^(localhost|127\.|\[::1\])/.test(hostname)) return;
  process.stderr.write(`berth: ${url} is not encrypted, so others on the way can read the key. Use https.\n`);
}

/** The client of the service and key that the flags, the environment or the last sign-in name, in this order. */
export async function connect({ url: urlFlag, key: keyFlag }: Flags): Promise<Client> {
  const { BERTH_URL: urlVariable, BERTH_KEY: keyVariable } = environment();
  const given = (typeof keyFlag === "string" && keyFlag) || keyVariable;
  const named = (typeof urlFlag === "string" && urlFlag) || urlVariable;
  const { current, logins } = await readLogins();
  // A key without an address must not go to the service of some earlier sign-in.
  if (given && !named) throw new UsageError("A key was given, but not its service. Give --url, or set BERTH_URL.");
  const url = requireUrl(named || current || LOCAL);
  const key = given || logins[url]?.key;
  if (!key) {
    const program = programName();
    const text = `You are not signed in at ${url}. Run: ${program} login ${url}. In CI, set BERTH_URL and BERTH_KEY.`;
    throw new AppError(401, "UNAUTHORIZED", text);
  }
  warnAboutClearText(url);
  return createClient({ url, key });
}

/** Runs the work of a command. Errors of the service become one line, with what to do next. */
export async function withService<T>(flags: Flags, work: (client: Client) => Promise<T>): Promise<T> {
  const client = await connect(flags);
  return work(client).catch((error: unknown) => {
    throw toAppError(error, client.url);
  });
}

/** An error of the client as an error of a command, which is told in one line. */
export function toAppError(error: unknown, url: string): unknown {
  if (error instanceof ConnectionError)
    return new AppError(502, "UNREACHABLE", `${clean(error.message)}.`.replace(/\.+$/, "."));
  if (!(error instanceof BerthError)) return error;
  const { status, code, message, issues } = error;
  if (status === 401) {
    const text = `${url} does not accept this key: it was revoked, or has expired. Run: ${programName()} login ${url}`;
    return new AppError(status, code, text);
  }
  const all = issues.map((issue) => `${issue.path}: ${issue.message}`).join(" ");
  return new AppError(status, code, clean(issues.length > 1 ? all : message));
}

/** The agent with this id, or the only one with this name. */
export async function findAgent(client: Client, wanted: string): Promise<{ id: string; name: string; status: string }> {
  const named = [];
  for await (const agent of client.agents.list()) {
    if (agent.id === wanted) return agent;
    if (agent.name === wanted) named.push(agent);
  }
  const [found, another] = named;
  if (another) {
    const ids = named.map(({ id }) => id).join(", ");
    throw new AppError(409, "AMBIGUOUS", `${named.length} agents are called ${clean(wanted)}. Give an id: ${ids}`);
  }
  if (found) return found;
  throw new AppError(404, "AGENT_NOT_FOUND", `You have no agent called ${clean(wanted)}. See: ${programName()} agents`);
}

/** Without characters that a terminal would interpret; line breaks and tabs stay. */
export const clean = (text: string) => text.replace(/[^\P{C}\n\t]|[\p{Zl}\p{Zp}]/gu, "");

/** The same in one line. */
export const cleanLine = (text: string) => clean(text).replace(/\s+/g, " ");
