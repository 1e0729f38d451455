// The settings of the messaging platforms: their addresses, and how their messages come in.

import { anyText, httpUrl, oneOf } from "../../src/kernel/config/parsers.ts";
import { defineSettings, requireBoth, warning } from "../../src/kernel/config/section.ts";
import { optional, withDefault } from "../../src/kernel/config/variable.ts";

export const channelSettings = defineSettings({
  name: "channels",
  variables: {
    CHANNEL_A_API_ROOT: withDefault(httpUrl, "https://api.telegram.org", "Telegram Bot API."),
    CHANNEL_A_MODE: withDefault(
      oneOf("auto", "polling", "webhook"),
      "auto",
      "How Telegram's updates come; `auto` is `webhook` when `BASE_URL` is https, else `polling`.",
    ),
    CHANNEL_B_API_ROOT: withDefault(httpUrl, "https://discord.com/api", "Discord REST API."),
    CHANNEL_C_API_ROOT: withDefault(httpUrl, "https://graph.facebook.com/v25.0", "Graph API, with its version."),
    CHANNEL_C_APP_ID: optional(anyText, "Your Meta app: what WhatsApp posts for tokens it made has to be signed."),
    CHANNEL_C_APP_SECRET: optional(anyText, "Secret of that app.", "secret"),
  },
  build: (v, { kernel }) => ({
    /** `mode` is resolved: `auto` has become one of the two. */
    channel_a: { apiRoot: v.CHANNEL_A_API_ROOT, mode: resolveMode(v.CHANNEL_A_MODE, kernel.baseUrl) },
    channel_b: { apiRoot: v.CHANNEL_B_API_ROOT },
    channel_c: { apiRoot: v.CHANNEL_C_API_ROOT, appId: v.CHANNEL_C_APP_ID, appSecret: v.CHANNEL_C_APP_SECRET },
  }),
  validate: (v, { kernel, sources }) => [
    ...requireBoth(v, "CHANNEL_C_APP_ID", "CHANNEL_C_APP_SECRET"),
    ...(v.CHANNEL_A_MODE === "webhook" && kernel.baseUrl.startsWith("http:") && sources.CHANNEL_A_API_ROOT === "default"
      ? [warning("CHANNEL_A_MODE", "webhook needs an https BASE_URL: Telegram calls no other.")]
      : []),
  ],
});

const resolveMode = (mode: "auto" | "polling" | "webhook", baseUrl: string) =>
  mode === "auto" ? (baseUrl.startsWith("https:") ? "webhook" : "polling") : mode;
