// What is wrong between variables: errors stop the start, warnings are for `berth doctor`.

import type { ResolvedVariables } from "./variable-reader.ts";
import type { VariableName } from "./variables.ts";

export interface Finding {
  name: string;
  severity: "error" | "warning";
  /** One line; starts with the variable's name. */
  message: string;
}

/** `127.0.0.0/8`, `::1` and `localhost`: addresses that only this machine reaches. */
export const isLoopbackHost = (host: string): boolean =>
  /^(localhost|.+\.localhost|127\.\d+\.\d+\.\d+|\[?::1\]?)$/i.test(host);

/** Whether an address's host is this machine alone. */
export const isLoopbackUrl = (url: string): boolean => isLoopbackHost(URL.parse(url)?.hostname ?? "");

/** How the addresses end that Berth makes for accounts of wallets. Contract §3. */
export const WALLET_EMAIL_DOMAIN = "@wallet.invalid";

/** Everything wrong with what was read: first the bad values, then what does not fit together. */
export function validateVariables({ list, values, unknown }: ResolvedVariables): Finding[] {
  const findings: Finding[] = [];
  const error = (name: VariableName, text: string) =>
    findings.push({ name, severity: "error", message: `${name}: ${text}` });
  const warn = (name: VariableName, text: string) =>
    findings.push({ name, severity: "warning", message: `${name}: ${text}` });
  const invalidVariables = list.filter(({ problem }) => problem);
  // A default that can't be read mostly follows from a bad variable it is made of, which says so itself.
  const explicitlySet = invalidVariables.filter((variable) => variable.source !== "default");
  for (const { name, problem = "" } of explicitlySet.length > 0 ? explicitlySet : invalidVariables)
    findings.push({ name, severity: "error", message: problem });
  if (findings.length > 0) return findings;

  const v = values;
  const sourceOf = (name: VariableName) => list.find((variable) => variable.name === name)?.source;
  if (v.ROLE !== "all" && !(v.DATABASE_URL.remote && v.SECRET_KEY)) {
    const needs = "needs a remote DATABASE_URL and an explicit SECRET_KEY";
    error("ROLE", `found "${v.ROLE}"; a split deployment (ROLE other than all) ${needs}.`);
  }
  if (v.ROLE === "all" && v.PORT !== 0 && v.PORT === v.BACKEND_PORT && addressesOverlap(v.HOST, v.BACKEND_HOST)) {
    error("BACKEND_PORT", `found ${v.PORT}, which is PORT too; allowed is a port of its own for each listener.`);
  }

  if (v.SECRET_KEY && v.SECRET_KEY.length < 32)
    warn("SECRET_KEY", "is short; 32 random characters or more are better.");
  for (const [id, secret] of [
    ["GOOGLE_CLIENT_ID", "GOOGLE_CLIENT_SECRET"],
    ["GITHUB_CLIENT_ID", "GITHUB_CLIENT_SECRET"],
    ["CHANNEL_C_APP_ID", "CHANNEL_C_APP_SECRET"],
    ["WEBHOOK_URL", "WEBHOOK_SECRET"],
  ] as const) {
    if (v[id] && !v[secret]) warn(id, `is set without ${secret}, so it has no effect.`);
    if (v[secret] && !v[id]) warn(secret, `is set without ${id}, so it has no effect.`);
  }
  if (v.WALLET_PLATFORM === "cdp" && !(v.CDP_API_KEY_ID && v.CDP_API_KEY_SECRET && v.CDP_WALLET_SECRET)) {
    warn("WALLET_PLATFORM", "cdp needs CDP_API_KEY_ID, CDP_API_KEY_SECRET and CDP_WALLET_SECRET.");
  }
  if (v.ADMIN_EMAILS.some((email) => email.endsWith(WALLET_EMAIL_DOMAIN))) {
    warn(
      "ADMIN_EMAILS",
      `names a wallet's address, which has no effect here; make its account an admin with berth user admin.`,
    );
  }
  const loopback = isLoopbackUrl(v.BASE_URL);
  if (!loopback && v.BASE_URL.startsWith("http:")) {
    warn("BASE_URL", "is public but not https: sessions and passwords travel in clear.");
  }
  if (!loopback && !v.RATE_LIMITS.enabled) warn("RATE_LIMITS", "are off on a public address.");
  if (loopback && !isLoopbackHost(v.HOST)) {
    warn("BASE_URL", `is this machine alone, but HOST (${v.HOST}) is not: set it to the address people use.`);
  }
  if (
    v.CHANNEL_A_MODE === "webhook" &&
    v.BASE_URL.startsWith("http:") &&
    sourceOf("CHANNEL_A_API_ROOT") === "default"
  ) {
    warn("CHANNEL_A_MODE", "webhook needs an https BASE_URL: Telegram calls no other.");
  }
  for (const name of unknown) {
    findings.push({ name, severity: "warning", message: `${name}: in the .env file, but Berth has no such variable.` });
  }
  return findings;
}

/** Whether two listeners on one port would meet. */
const addressesOverlap = (a: string, b: string) =>
  a === b || [a, b].some((host) => host === "0.0.0.0" || host === "::");
