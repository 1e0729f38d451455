// WhatsApp (channel_c): the port's verbs over the Cloud API. It posts to us, so an idle number costs nothing here.
import { type Binding, type ChannelAdapter, ChannelError, type WebhookReceiver } from "../port.ts";
import { createAccounts } from "./accounts.ts";
import { createDelivery } from "./delivery.ts";
import { createGraphApi, fileGone, fileTooLarge, type RecordTraffic } from "./graph-api.ts";
import { createPartOutcomes } from "./part-outcomes.ts";
import { parsePeer } from "./peer.ts";
import { createWhatsAppWebhook, type MetaApp } from "./webhook.ts";

/** WhatsApp's own limit of what people send. */
const MAX_FILE_BYTES = 100_000_000;
/** How long a message's first status may take. */
const STATUS_TIMEOUT_MS = 3_000;
const NEEDS_HTTPS = "WhatsApp posts to https addresses alone: BASE_URL has to be one.";

export interface WhatsAppOptions {
  /** The Graph API with its version: `https://graph.facebook.com/v25.0`. */
  apiRoot: string;
  /** The operator's app: what is posted for tokens that it minted has to be signed with its secret. */
  app?: MetaApp;
  log: { warn(message: string, fields?: Record<string, unknown>): void };
  /** Told the bytes of each call in an agent's name. */
  traffic?: RecordTraffic;
  /** Milliseconds that the status of a message whose sending was cut off is waited for. */
  statusTimeout?: number;
}

export type WhatsAppChannel = ChannelAdapter & { webhook: WebhookReceiver };

/**
 * The WhatsApp adapter. A bot is a business account, found by the token alone; all of its numbers are served.
 *
 * @example
 * const whatsapp = createWhatsApp({ apiRoot: "https://graph.facebook.com/v25.0", log });
 * const account = await whatsapp.identify(token, AbortSignal.timeout(10_000));
 */
export function createWhatsApp({
  apiRoot,
  app,
  log,
  traffic,
  statusTimeout = STATUS_TIMEOUT_MS,
}: WhatsAppOptions): WhatsAppChannel {
  const graph = createGraphApi(apiRoot, traffic);
  const accounts = createAccounts(graph);
  const outcomes = createPartOutcomes(statusTimeout);
  const delivery = createDelivery({ graph, outcomes });
  const onFailure = ({ agentId }: Binding, error: unknown) =>
    log.warn("whatsapp: a post could not be stored", { agentId, error });
  const { receive } = createWhatsAppWebhook({ accounts, outcomes, app, onFailure });

  /** https://developers.facebook.com/documentation/business-messaging/whatsapp/webhooks/override */
  const subscribe = async (binding: Binding, body: object, signal: AbortSignal) => {
    const path = `${binding.bot.id}/subscribed_apps`;
    await graph.call(binding, { method: "POST", path, body }, "bot", signal);
  };

  return {
    id: "channel_c",
    identify: accounts.identify,

    webhook: {
      staysRegisteredWhileStopped: true,
      isAuthenticatedByUrl: true,
      async register(binding, { url, secret }, signal) {
        try {
          await subscribe(binding, { override_callback_uri: url, verify_token: secret }, signal);
        } catch (error) {
          const needsHttps = error instanceof ChannelError && error.kind === "refused" && !url.startsWith("https:");
          throw needsHttps ? new ChannelError("refused", `${error.message} ${NEEDS_HTTPS}`, "bot") : error;
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
      const maxBytes = Math.min(limit, MAX_FILE_BYTES);
      if (!/^\d{1,64}$/.test(ref)) throw fileGone();
      const { url, file_size: size } = await graph.call(binding, { path: ref }, "peer", signal);
      if (typeof size === "number" && size > maxBytes) throw fileTooLarge(maxBytes);
      return await graph.download(binding, typeof url === "string" ? url : "", maxBytes, signal);
    },

    forget: accounts.forget,
  };
}
