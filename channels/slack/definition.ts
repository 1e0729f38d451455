// Describes Slack for the registry: id, settings, token shapes, owner ids, documentation, and the adapter's factory.
import { httpUrl } from "../../src/kernel/config/parsers.ts";
import { defineSettings } from "../../src/kernel/config/section.ts";
import { withDefault } from "../../src/kernel/config/variable.ts";
import { SECOND } from "../../src/kernel/util/time.ts";
import type { ChannelDefinition } from "../definition.ts";
import { findCredentialTextProblem } from "../shared/credential-text.ts";
import { CREDENTIAL_FIELDS } from "./credentials.ts";
import { isUser } from "./ids.ts";
import { MANIFEST } from "./manifest.ts";

interface SlackSettings {
  apiRoot: string;
}

const settings = defineSettings({
  name: "channel_d",
  variables: { CHANNEL_D_API_ROOT: withDefault(httpUrl, "https://slack.com/api", "Slack Web API.") },
  build: ({ CHANNEL_D_API_ROOT: apiRoot }): SlackSettings => ({ apiRoot }),
});

/** Opens the direct message with the app, in the workspace that the person is signed in to. */
const chatAddress = ({ id }: { id: string }) =>
  /^A[A-Z0-9]{6,20}$/.test(id) ? `https://slack.com/app_redirect?app=${id}` : undefined;

export const slackDefinition: ChannelDefinition<SlackSettings> = {
  id: "channel_d",
  label: "Slack",
  environmentPrefix: "CHANNEL_D",
  settings,
  tokenShapes: [/(?<![\w-])x(?:oxb|oxp|app)-\d[\w-]{20,}/],
  tokenLogPattern: /(?<![\w-])x(?:oxb|oxp|oxe|app)[.-][\w.-]{16,}/g,
  credentials: CREDENTIAL_FIELDS,
  findTokenProblem: (token) => findCredentialTextProblem(CREDENTIAL_FIELDS, token),
  link: { kind: "chat", of: chatAddress },
  capabilities: {
    hasListener: true,
    hasWebhook: false,
    hasGroups: true,
    hasPreviews: true,
    hasButtons: true,
    isSingleReceiver: false,
    isIdempotent: true,
    // Three of Berth's pings, which come every 30 s.
    silenceTimeout: 100 * SECOND,
  },
  ownerId: {
    parse: (text) => (isUser(text.toUpperCase()) ? text.toUpperCase() : undefined),
    hint: "This is your member ID in Slack, which begins with U or W.",
  },
  documentation: {
    token: "two tokens, as `credentials`: see [Slack](slack.md)",
    ownerId: "your member ID: *Profile → ⋮ → Copy member ID*",
    receiving: "over Socket Mode: no public address is needed",
    manifest: MANIFEST,
  },
  mode: () => "gateway",
  async create({ settings: { apiRoot }, ...options }) {
    const { createSlack } = await import("./index.ts");
    return createSlack({ apiRoot, ...options });
  },
};
