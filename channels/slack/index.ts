// Slack (channel_d): implements the port over the Web API and Socket Mode. An idle bot keeps only its connection.
import type { ChannelLog } from "../definition.ts";
import { type ChannelAdapter, ChannelError, type ConnectionListener, type RecordTraffic } from "../port.ts";
import { identifyBot } from "./bot.ts";
import { createButtonRemoval } from "./delivery/blocks.ts";
import { createDelivery } from "./delivery/delivery.ts";
import { fetchFile } from "./delivery/files.ts";
import { createShownCommands } from "./delivery/shown-commands.ts";
import { withChannelErrors } from "./errors.ts";
import { SLACK_RATE_RULES, type SlackRateRules } from "./rate-rules.ts";
import { createListener } from "./receiving/listener.ts";
import { createPeople } from "./receiving/people.ts";
import { createWebApi } from "./web-api.ts";

export interface SlackOptions {
  /** The Web API, such as `https://slack.com/api`. */
  apiRoot: string;
  /** The commands people can give: name to description. */
  commands: Readonly<Record<string, string>>;
  log: ChannelLog;
  traffic?: RecordTraffic;
  /** Rate limits. Default: those that fit Slack's own. */
  rules?: SlackRateRules;
}

/** Slack has connections to listen to, and shows previews. */
export type SlackChannel = ChannelAdapter &
  Required<Pick<ChannelAdapter, "preview">> & { listener: ConnectionListener };

/**
 * Creates the Slack adapter: one Socket Mode connection for each app, replies in threads, previews by edits.
 *
 * @example
 * const slack = createSlack({ apiRoot: "https://slack.com/api", commands: { help: "what I understand" }, log });
 * const bot = await slack.identify('{"botToken":"xoxb-…","appToken":"xapp-…"}', AbortSignal.timeout(10_000));
 */
export function createSlack({ apiRoot, commands, log, traffic, rules = SLACK_RATE_RULES }: SlackOptions): SlackChannel {
  const api = createWebApi(apiRoot, traffic);
  const delivery = createDelivery({
    api,
    showCommands: createShownCommands(commands),
    rules,
    onFailure: ({ agentId }, reason) => log.debug("slack: a status was not shown", { agentId, reason }),
  });
  const listen = createListener({
    api,
    people: createPeople(api),
    allowsPlainSockets: new URL(apiRoot).protocol === "http:",
    removeButtons: createButtonRemoval(api, ({ agentId }, reason) =>
      log.debug("slack: buttons were not removed", { agentId, reason }),
    ),
    onUnreadableEvent: ({ agentId }, event) => log.warn("slack: an event could not be read", { agentId, event }),
    traffic,
  });

  return {
    identify: (token, signal) => withChannelErrors("bot", () => identifyBot(api, token, signal)),

    listener: {
      async listen(binding, sink, signal) {
        await listen(binding, sink, signal);
        if (!signal.aborted) throw new ChannelError("unreachable", "The connection to Slack ended.", "bot");
      },
    },

    send: delivery.send,
    preview: delivery.preview,
    typing: delivery.typing,

    fetchFile: (binding, attachment, limit, signal) =>
      withChannelErrors("peer", () => fetchFile(api, binding, attachment, limit, signal)),

    forget: delivery.forget,
  };
}
