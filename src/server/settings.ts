// Lists every setting of Berth, in the order of docs/configuration.md and `berth doctor`.

import { auditSettings } from "../../plugins/admin/settings.ts";
import {
  audioSettings,
  budgetSettings,
  embeddingSettings,
  pictureSettings,
  providerSettings,
} from "../../plugins/ai/settings.ts";
import {
  adminSettings,
  newAccountSettings,
  planSettings,
  signInSettings,
  signUpSettings,
} from "../../plugins/auth/settings.ts";
import { billingSettings } from "../../plugins/billing/settings.ts";
import { stablecoinSettings } from "../../plugins/billing/stablecoin/settings.ts";
import { chainSettings } from "../../plugins/chains/settings.ts";
import { channelSettings } from "../../plugins/channels/settings.ts";
import { documentationSettings } from "../../plugins/documentation/settings.ts";
import { backupSettings } from "../../plugins/fleet/settings.ts";
import { gatingSettings } from "../../plugins/gating/settings.ts";
import { mcpSettings } from "../../plugins/mcp/settings.ts";
import { openaiApiSettings } from "../../plugins/openai-api/settings.ts";
import { provisioningSettings } from "../../plugins/provisioning/settings.ts";
import { skillFolderSettings } from "../../plugins/skill-folders/settings.ts";
import { socialSettings } from "../../plugins/social/settings.ts";
import { streamSettings } from "../../plugins/streams/settings.ts";
import { verificationSettings } from "../../plugins/verification/settings.ts";
import { walletSettings } from "../../plugins/wallet/settings.ts";
import { webSearchSettings } from "../../plugins/web-search/settings.ts";
import { webhookSettings } from "../../plugins/webhooks/settings.ts";
import { clusterSettings } from "../cluster/settings.ts";
import { type Config, ConfigError, type Environment, type Finding, loadConfig } from "../kernel/config/config.ts";
import { kernelGroups } from "../kernel/config/kernel-settings.ts";
import { error, type SettingsSection } from "../kernel/config/section.ts";
import type { VariableGroup } from "../kernel/config/variable.ts";
import { retentionSettings } from "../kernel/retention/settings.ts";

const { place, output, requests, extensions, operation } = kernelGroups;

export const allSettings: readonly (VariableGroup | SettingsSection)[] = [
  place,
  backupSettings,
  retentionSettings,
  clusterSettings,
  adminSettings,
  output,
  signInSettings,
  signUpSettings,
  newAccountSettings,
  provisioningSettings,
  requests,
  planSettings,
  billingSettings,
  stablecoinSettings,
  providerSettings,
  embeddingSettings,
  audioSettings,
  pictureSettings,
  channelSettings,
  chainSettings,
  gatingSettings,
  socialSettings,
  walletSettings,
  verificationSettings,
  streamSettings,
  skillFolderSettings,
  webSearchSettings,
  webhookSettings,
  auditSettings,
  mcpSettings,
  documentationSettings,
  extensions,
  budgetSettings,
  openaiApiSettings,
  operation,
];

/** The list with sections replaced by name; tests use it to add rows to a registry. */
export const settingsWith = (...replacements: readonly SettingsSection[]): typeof allSettings =>
  allSettings.map((group) => replacements.find(({ name }) => "name" in group && name === group.name) ?? group);

/** The whole configuration of this process; every command starts with it. `more` are those of third-party plugins. Throws ConfigError, as `loadConfig` does. */
export function loadAllSettings(env: Environment, more: readonly SettingsSection[] = []): Config {
  const config = loadConfig(env, { settings: [...allSettings, ...more] });
  const findings = findConflicts(config);
  if (findings.length > 0) throw new ConfigError(findings.map(({ message }) => message).join("\n"));
  return config;
}

/** Settings of different sections with which no start is possible. */
export function findConflicts(config: Config): Finding[] {
  if (config.of(clusterSettings).cells === 1) return [];
  return [
    ...(config.of(billingSettings).stripe
      ? [error("CELLS", "payments through Stripe need CELLS=1. Leave STRIPE_SECRET_KEY or CELLS out.")]
      : []),
    ...(config.of(stablecoinSettings).pay
      ? [error("CELLS", "payments in stablecoin need CELLS=1. Leave STABLECOIN_PAY_TO or CELLS out.")]
      : []),
  ];
}
