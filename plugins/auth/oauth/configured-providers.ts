// Lists the providers that the operator has set up for sign-in, and finds the one that a linked account is from.
import type { Config, SettingsOf } from "../../../src/kernel/config/config.ts";
import { signInSettings } from "../settings.ts";
import type { LinkedAccount } from "./linked-accounts.ts";
import { OIDC_IDS, type OidcId } from "./openid-settings.ts";

/** The path of a provider: `/api/auth/oauth/:id`. */
export type ProviderId = "google" | "github" | OidcId;

type ConfiguredProvider = SettingsOf<typeof signInSettings>["providers"][number];
/** One that speaks OpenID Connect: Google, or one of the operator's. */
export type OpenidProviderSettings = Exclude<ConfiguredProvider, { kind: "github" }>;

const PROVIDER_IDS: readonly ProviderId[] = ["google", "github", ...OIDC_IDS];

export const isProviderId = (text: string): text is ProviderId => PROVIDER_IDS.some((id) => id === text);

/** The configured providers, in the order in which people see them. */
export const configuredProviders = (config: Pick<Config, "of">): readonly ConfiguredProvider[] =>
  config.of(signInSettings).providers;

export const isOpenid = (provider: ConfiguredProvider): provider is OpenidProviderSettings =>
  provider.kind !== "github";

/**
 * The permanent id of a person at an OpenID provider. A subject is unique within its issuer only (OpenID Connect Core 1.0
 * §2), so the provider stays the same if the operator gives it another number. Google's stays as it always was stored.
 */
export const subjectOf = (kind: OpenidProviderSettings["kind"], issuer: string, sub: string): string =>
  kind === "google" ? sub : `${issuer}#${sub}`;

/** The issuer as providers are compared by it: some write it with a slash at its end, the configuration never. */
const withoutSlash = (issuer: string) => issuer.replace(/\/+$/, "");

/** Whether this configured provider has vouched for the linked account. */
export function isFrom(provider: ConfiguredProvider, { provider: kind, subject }: LinkedAccount): boolean {
  if (provider.kind !== kind) return false;
  return provider.kind !== "oidc" || withoutSlash(subject.slice(0, subject.indexOf("#"))) === provider.issuer;
}

/** What people call the origin of a linked account, and its id if it is configured. Not for wallets. */
export function describeOrigin(config: Pick<Config, "of">, account: LinkedAccount): { id: string; name: string } {
  const configured = configuredProviders(config).find((provider) => isFrom(provider, account));
  if (configured) return configured;
  const { provider, subject } = account;
  if (provider !== "oidc") return { id: provider, name: provider === "google" ? "Google" : "GitHub" };
  return { id: provider, name: URL.parse(subject.slice(0, subject.indexOf("#")))?.host ?? subject };
}
