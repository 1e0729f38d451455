// The bot of an app as Slack reports it, and the checks of its two tokens.
import type { Binding, BotIdentity } from "../port.ts";
import { ChannelError } from "../port.ts";
import { isObject } from "../shared/is-object.ts";
import { appIdOf, readTokens } from "./credentials.ts";
import { TOKEN_REFUSED, toChannelError } from "./errors.ts";
import { isUser } from "./ids.ts";
import { NEEDED_SCOPES } from "./manifest.ts";
import type { Caller, WebApi } from "./web-api.ts";

/** The facts of a bot that are stored with its connection. */
export interface BotDetail {
  /** The bot's own user, which people mention. */
  user: string;
  team: string;
}

const APP = /^A[A-Z0-9]{6,20}$/;

export function detailOf({ detail }: Pick<BotIdentity, "detail">): BotDetail {
  try {
    const { user, team } = JSON.parse(detail ?? "{}") as Partial<Record<keyof BotDetail, unknown>>;
    if (isUser(user) && typeof team === "string") return { user, team };
  } catch {
    // The same as a detail that lacks the fields.
  }
  throw new ChannelError("refused", "Connect the channel again: its stored form is not known any more.", "bot");
}

/** The caller for the Web API as the bot. */
export const asBot = ({ token, bot, agentId }: Pick<Binding, "token" | "bot" | "agentId">): Caller => ({
  token: readTokens(token).botToken,
  bot: bot.id,
  agentId,
});

/** Asks Slack whose tokens these are. Throws `refused` with the field of the token that is wrong. */
export async function identifyBot(api: WebApi, text: string, signal: AbortSignal): Promise<BotIdentity> {
  const { botToken, appToken } = readTokens(text);
  const [bot, app] = await Promise.allSettled([
    api.callWithScopes({ token: botToken }, "auth.test", signal),
    api.call({ token: appToken }, "apps.connections.open", {}, signal),
  ]);
  if (bot.status === "rejected") throw ofField("botToken", bot.reason);
  if (app.status === "rejected") throw ofField("appToken", app.reason);
  const { answer, scopes } = bot.value;
  const missing = NEEDED_SCOPES.filter((scope) => scopes && !scopes.includes(scope));
  if (missing.length > 0) {
    const list = new Intl.ListFormat("en-GB").format(missing);
    throw refused(`This bot token lacks ${list}. Add that to the app, and install it again.`, "botToken");
  }
  const { user_id: user, team_id: team, bot_id: botId, user: username } = answer;
  if (typeof botId !== "string" || !isUser(user)) throw refused("This token is not of a bot.", "botToken");
  const info = await api
    .call({ token: botToken }, "bots.info", { bot: botId }, signal)
    .catch((error: unknown) => Promise.reject(ofField("botToken", error)));
  const { app_id: appId, name } = isObject(info.bot) ? info.bot : {};
  if (typeof appId !== "string" || !APP.test(appId) || typeof team !== "string") {
    throw new ChannelError("unreachable", "Slack's answer could not be understood.", "bot");
  }
  if ((appIdOf(appToken) ?? appId) !== appId) {
    throw refused("The two tokens are of different apps. Copy both from the same app.", "appToken");
  }
  const detail: BotDetail = { user, team };
  return {
    id: appId,
    username: typeof username === "string" ? username : appId,
    ...(typeof name === "string" ? { name } : {}),
    detail: JSON.stringify(detail),
  };
}

const refused = (message: string, field: string) => new ChannelError("refused", message, "bot", undefined, { field });

function ofField(field: string, error: unknown): ChannelError {
  const { kind, message, scope, retryAfter } = toChannelError(error, "bot");
  const words = message === TOKEN_REFUSED ? "Slack does not know this token." : message;
  return new ChannelError(kind, words, scope, retryAfter, { field });
}
