// Selects the driver of the managed wallet platform by the configuration.

import type { SettingsOf } from "../../../src/kernel/config/config.ts";
import type { walletSettings } from "../settings.ts";
import { createCdpPlatform } from "./cdp-platform.ts";
import type { Keyring } from "./keyring.ts";
import { createLocalPlatform } from "./local-platform.ts";
import type { WalletPlatform } from "./wallet-platform.ts";

/** The platform, or instructions for the operator to configure one. */
export type PlatformSelection =
  | { platform: WalletPlatform; kind: "local" | "cdp" }
  | { platform: undefined; setup: string };

export function selectPlatform(
  { platform: { kind, cdp } }: SettingsOf<typeof walletSettings>,
  keys: Keyring,
): PlatformSelection {
  if (kind === "none") {
    const setup =
      "Set WALLET_PLATFORM=local to keep keys on this server, or WALLET_PLATFORM=cdp with CDP_API_KEY_ID, CDP_API_KEY_SECRET and CDP_WALLET_SECRET, and restart.";
    return { platform: undefined, setup };
  }
  if (kind === "local") return { platform: createLocalPlatform(keys), kind };
  const { apiKeyId, apiKeySecret, walletSecret, basePath } = cdp;
  if (apiKeyId === undefined || apiKeySecret === undefined || walletSecret === undefined) {
    const setup =
      "WALLET_PLATFORM=cdp also needs CDP_API_KEY_ID, CDP_API_KEY_SECRET and CDP_WALLET_SECRET. Set them and restart.";
    return { platform: undefined, setup };
  }
  return { platform: createCdpPlatform({ apiKeyId, apiKeySecret, walletSecret, basePath }), kind };
}
