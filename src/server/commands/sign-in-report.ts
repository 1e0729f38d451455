// Says whether the providers of sign-in answer and where they have to send people back to, for `berth doctor`.
import { configuredProviders, isOpenid } from "../../../plugins/auth/oauth/configured-providers.ts";
import { OAuthFailure } from "../../../plugins/auth/oauth/oauth-failure.ts";
import { createOpenid } from "../../../plugins/auth/oauth/openid.ts";
import type { Config } from "../../kernel/config/config.ts";

/** One line for each provider that speaks OpenID Connect; waits three seconds at most. Empty if there is none. */
export async function signInReport(config: Pick<Config, "of" | "baseUrl">): Promise<string> {
  const lines = configuredProviders(config)
    .filter(isOpenid)
    .map(async (settings) => {
      const redirectUri = `${config.baseUrl}/api/auth/callback/${settings.id}`;
      const about = `Sign-in with ${settings.name} (${settings.env}_ISSUER)`;
      try {
        await createOpenid({ ...settings, redirectUri }).check?.();
        return `${about}: the provider answers. Register ${redirectUri} there.\n`;
      } catch (error) {
        if (!(error instanceof OAuthFailure)) throw error;
        return `! ${about}: the provider can't be used now: ${error.reason}.\n`;
      }
    });
  return (await Promise.all(lines)).join("");
}
