// Lists the providers that the operator has set up for sign-in.
import type { Config, SettingsOf } from "../../../src/kernel/config/config.ts";
import { signInSettings } from "../settings.ts";
import type { ProviderName } from "./provider.ts";

type OAuthSettings = SettingsOf<typeof signInSettings>["oauth"];

/** In the order in which people see them. */
export const PROVIDER_NAMES = ["google", "github", "oidc"] as const satisfies readonly ProviderName[];

export const isProviderName = (text: string): text is ProviderName => PROVIDER_NAMES.some((name) => name === text);

/** Whether everything is set that a sign-in with this provider needs. */
export function isConfigured(oauth: OAuthSettings, name: ProviderName): boolean {
  const { clientId, clientSecret } = oauth[name];
  return Boolean(clientId && clientSecret && (name !== "oidc" || oauth.oidc.issuer));
}

/** The configured providers with what people call them. */
export function configuredProviders(config: Pick<Config, "of">): { id: ProviderName; name: string }[] {
  const { oauth } = config.of(signInSettings);
  return PROVIDER_NAMES.filter((name) => isConfigured(oauth, name)).map((id) => ({ id, name: oauth[id].name }));
}
