// WhatsApp (channel_c): the port's verbs over the Cloud API. It posts to us, so an idle number costs nothing here.
import { type Binding, type Channel, ChannelError, type Posts } from "./channel.ts";
import { createAccounts } from "./whatsapp/account.ts";
import { createDelivery } from "./whatsapp/deliver.ts";
import { createFates } from "./whatsapp/fates.ts";
import { createGraph, gone, type Traffic, tooLarge } from "./whatsapp/graph.ts";
import { parsePeer } from "./whatsapp/peer.ts";
import { type App, createReceiving } from "./whatsapp/webhook.ts";

/** WhatsApp's own limit of what people send. */
const LARGEST_FILE = 100_000_000;
/** How long a message's first status may take. */
const PATIENCE = 3_000;
const NEEDS_HTTPS = "WhatsApp posts to https addresses alone: BASE_URL has to be one.";

export interface WhatsAppOptions {
  /** The Graph API with its version: `https://graph.facebook.com/v25.0`. */
  apiRoot: string;
  /** The operator's app: what is posted for tokens that it minted has to be signed with its secret. */
  app?: App;
  log: { warn(message: string, fields?: Record<string, unknown>): void };
  /** Told the bytes of each call in an agent's name. */
  traffic?: Traffic;
  /** Milliseconds that the status of a message whose sending was cut off is waited for. */
  patience?: number;
}

export type WhatsAppChannel = Channel & { posts: Posts };

/**
 * The WhatsApp adapter. A bot is a business account, found by the token alone; all of its numbers are served.
 *
 * @example
 * const whatsapp = createWhatsApp({ apiRoot: "https://graph.facebook.com/v25.0", log });
 * const account = await whatsapp.identify(token, AbortSignal.timeout(10_000));
 */
export function createWhatsApp({ apiRoot, app, log, traffic, patience = PATIENCE }: WhatsAppOptions): WhatsAppChannel {
  const graph = createGraph(apiRoot, traffic);
  const accounts = createAccounts(graph);
  const fates = createFates(patience);
  const delivery = createDelivery({ graph, fates });
  const failed = ({ agentId }: Binding, error: unknown) =>
    log.warn("whatsapp: a post could not be stored", { agentId, error });
  const { receive } = createReceiving({ accounts, fates, app, failed });

  /** https://developers.facebook.com/documentation/business-messaging/whatsapp/webhooks/override */
  const subscribe = async (binding: Binding, body: object, signal: AbortSignal) => {
    const path = `${binding.bot.id}/subscribed_apps`;
    await graph.call(binding, { method: "POST", path, body }, "bot", signal);
  };

  return {
    id: "channel_c",
    identify: accounts.identify,

    posts: {
      losesUnregistered: true,
      provenByAddress: true,
      async register(binding, { url, secret }, signal) {
        try {
          await subscribe(binding, { override_callback_uri: url, verify_token: secret }, signal);
        } catch (error) {
          const isOdd = error instanceof ChannelError && error.kind === "refused" && !url.startsWith("https:");
          throw isOdd ? new ChannelError("refused", `${error.message} ${NEEDS_HTTPS}`, "bot") : error;
        }
      },
      // The address alone is taken back: what else the app hears of the account was not our doing.
      unregister: (binding, signal) => subscribe(binding, {}, signal),
      receive,
    },

    send: delivery.send,

    // No `preview`: what was sent can't be changed, so nothing is shown before it is whole.

    /** Shown on a message, which is marked as read by it. https://developers.facebook.com/documentation/business-messaging/whatsapp/typing-indicators */
    async typing(binding, address, signal, replyTo) {
      const { number } = parsePeer(address);
      if (!replyTo?.startsWith("wamid.")) return;
      const reading = { messaging_product: "whatsapp", status: "read", message_id: replyTo };
      const body = { ...reading, typing_indicator: { type: "text" } };
      await graph.call(binding, { method: "POST", path: `${number}/messages`, body }, "peer", signal);
    },

    async fetchFile(binding, { ref }, limit, signal) {
      const most = Math.min(limit, LARGEST_FILE);
      if (!/^\d{1,64}$/.test(ref)) throw gone();
      const { url, file_size: size } = await graph.call(binding, { path: ref }, "peer", signal);
      if (typeof size === "number" && size > most) throw tooLarge(most);
      return await graph.download(binding, typeof url === "string" ? url : "", most, signal);
    },

    forget: accounts.forget,
  };
}
