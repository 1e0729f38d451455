// The two tokens of a Slack app: one to call the Web API as the bot, one to open connections for the whole app.
import type { CredentialField, TokenProblem } from "../definition.ts";
import { ChannelError } from "../port.ts";
import { readCredentials } from "../shared/credential-text.ts";

export interface SlackTokens {
  botToken: string;
  appToken: string;
}

/** Texts of Slack's pages that people take for one of the tokens. */
const CONFUSED_TEXTS: readonly [RegExp, TokenProblem["code"], string][] = [
  [/^[0-9a-f]{32}$/, "client_secret", "This is the client secret or the signing secret, not a token."],
  [/^[A-Z][A-Z0-9]{8,12}$/, "id", "This is an id. The token is much longer."],
  [/^xoxp-/, "invalid", "This is a user token. Copy the Bot User OAuth Token, which begins with xoxb-."],
  [/^xoxe/, "invalid", "This token expires. Turn token rotation off for the app, and install it again."],
];

const PARTS = { botToken: 3, appToken: 4 } as const;

/** Slack's tokens: a prefix, numbers or ids, and a secret, with hyphens between them. */
function findProblem(name: keyof SlackTokens, prefix: string, other: string, hint: string) {
  return (value: string): TokenProblem | undefined => {
    if (/\s/.test(value)) return { code: "spaces", message: "A token has no spaces. Copy only the token." };
    const confused = CONFUSED_TEXTS.find(([pattern]) => pattern.test(value));
    if (confused) return { code: confused[1], message: confused[2] };
    if (value.startsWith(other)) {
      return { code: "other_field", message: `This is the other token of the app. ${hint}` };
    }
    if (!value.startsWith(prefix.slice(0, value.length))) return { code: "start", message: hint };
    if (!/^[\w-]*$/.test(value)) {
      return { code: "characters", message: "A Slack token has only letters, digits and hyphens." };
    }
    return value.split("-").length > PARTS[name] - 1 && value.length >= 24
      ? undefined
      : { code: "incomplete", message: `This token is cut off. ${hint}` };
  };
}

export const CREDENTIAL_FIELDS: readonly CredentialField[] = [
  {
    name: "botToken",
    label: "Bot User OAuth Token",
    isSecret: true,
    example: "xoxb-…",
    findProblem: findProblem(
      "botToken",
      "xoxb-",
      "xapp-",
      "The Bot User OAuth Token begins with xoxb-; it is on the page OAuth & Permissions.",
    ),
  },
  {
    name: "appToken",
    label: "App-Level Token",
    isSecret: true,
    example: "xapp-…",
    findProblem: findProblem(
      "appToken",
      "xapp-",
      "xoxb-",
      "The App-Level Token begins with xapp-; it is on the page Basic Information.",
    ),
  },
];

const TOKEN = /^x(?:oxb|app)-[\w-]{8,1000}$/;

/** The tokens of a binding. Throws `refused` for a text that holds none. */
export function readTokens(text: string): SlackTokens {
  const { botToken = "", appToken = "" } = readCredentials(CREDENTIAL_FIELDS, text) ?? {};
  if (TOKEN.test(botToken) && TOKEN.test(appToken)) return { botToken, appToken };
  throw new ChannelError("refused", "These are not the two tokens of a Slack app.", "bot");
}

/** The id of the app, which is a part of its app-level token; undefined if Slack changes that form. */
export const appIdOf = (appToken: string) => /^xapp-\d+-(A[A-Z0-9]{6,20})-/.exec(appToken)?.[1];
