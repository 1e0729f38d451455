// Runs `berth login` and `berth logout`: a key by a code that is approved in the browser, and its end.
import { hostname } from "node:os";
import { BerthError, createClient, type DeviceKey, type Scope } from "../../../../packages/client/src/index.ts";
import { programName } from "../../../kernel/config/program-name.ts";
import { UsageError } from "../options.ts";
import { cleanLine, defaultUrl, requireUrl, toAppError, warnAboutClearText } from "./connection.ts";
import { loginsPath, readLogins, writeLogins } from "./logins.ts";

const SCOPES: readonly Scope[] = ["read", "write", "chat"];

export async function loginCommand(given: string | undefined, scopeFlag: unknown): Promise<number> {
  const url = given === undefined ? await defaultUrl() : requireUrl(given);
  const scopes = scopesOf(scopeFlag);
  warnAboutClearText(url);
  const client = createClient({ url });
  let key: DeviceKey;
  try {
    key = await client.signInWithDevice({
      name: "berth",
      device: cleanLine(hostname()).slice(0, 64),
      ...(scopes && { scopes }),
      onCode: ({ user_code: code, verification_uri: page, expires_in: seconds }) =>
        void process.stdout.write(
          `Open this page in a browser:\n\n  ${cleanLine(page)}\n\nand enter the code  ${cleanLine(code)}\n\n` +
            `Waiting for your approval, for up to ${Math.round(seconds / 60)} minutes …\n`,
        ),
    });
  } catch (error) {
    throw toAppError(error, url);
  }
  const { current: _, logins } = await readLogins();
  const old = logins[url];
  const expiresAt = new Date(Date.now() + key.expires_in * 1_000).toISOString();
  await writeLogins({
    current: url,
    logins: { ...logins, [url]: { key: key.access_token, account: key.account, expiresAt } },
  });
  // Nobody would find the key that this one replaces.
  if (old) await revoke(url, old.key).catch(() => undefined);
  process.stdout.write(
    `Signed in at ${url} as ${cleanLine(key.account)}, until ${expiresAt.slice(0, 10)}. The key may: ${cleanLine(key.scope)}.\n` +
      `It is kept in ${loginsPath()}. See: ${programName()} agents\n`,
  );
  return 0;
}

/** Forgets the key also if the service can't be reached, and says so. */
export async function logoutCommand(given: string | undefined): Promise<number> {
  const { current, logins } = await readLogins();
  const url = given === undefined ? current : requireUrl(given);
  const login = url === undefined ? undefined : logins[url];
  if (url === undefined || !login) {
    process.stdout.write(
      url === undefined ? "You are not signed in anywhere.\n" : `You are not signed in at ${url}.\n`,
    );
    return 0;
  }
  const { [url]: _, ...others } = logins;
  const next = current === url ? Object.keys(others)[0] : current;
  await writeLogins({ ...(next !== undefined && { current: next }), logins: others });
  try {
    await revoke(url, login.key);
    process.stdout.write(`Signed out at ${url}: the key is revoked.\n`);
    return 0;
  } catch (error) {
    const isGone = error instanceof BerthError && error.status === 401;
    if (isGone) process.stdout.write(`Signed out at ${url}. The key was no longer valid.\n`);
    else
      process.stderr.write(
        `berth: the key is forgotten here, but ${url} could not revoke it. Revoke it there, under Account, API keys.\n`,
      );
    return isGone ? 0 : 1;
  }
}

const revoke = (url: string, key: string) =>
  createClient({ url, key, retries: 1, timeoutMs: 10_000 }).request("DELETE", "/api/keys/current");

function scopesOf(flag: unknown): Scope[] | undefined {
  if (typeof flag !== "string") return undefined;
  const names = flag.split(",").map((name) => name.trim());
  const known = SCOPES.filter((scope) => names.includes(scope));
  if (known.length > 0 && known.length === new Set(names).size) return known;
  throw new UsageError(`--scope is a list of ${SCOPES.join(", ")}, separated by commas, not "${flag}".`);
}
