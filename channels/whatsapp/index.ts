// WhatsApp (channel_c): implements the port over the Cloud API, which posts messages to Berth, so an idle bot costs
// nothing.
import { type Binding, type ChannelAdapter, ChannelError, type RecordTraffic, type WebhookReceiver } from "../port.ts";
import { fileGoneError, fileTooLargeError } from "../shared/file-errors.ts";
import { createAccounts } from "./accounts.ts";
import { createDelivery } from "./delivery.ts";
import { createGraphApi } from "./graph-api.ts";
import { createPartOutcomes } from "./part-outcomes.ts";
import { parsePeer } from "./peer.ts";
import { createWhatsAppWebhook, type MetaApp } from "./webhook.ts";

/** WhatsApp's limit for files that people send. */
const MAX_FILE_BYTES = 100_000_000;
/** Milliseconds that the first status of a message may take. */
const STATUS_TIMEOUT_MS = 3_000;
const NEEDS_HTTPS = "WhatsApp posts to https addresses alone: BASE_URL has to be one.";

export interface WhatsAppOptions {
  /** The Graph API with its version, such as `https://graph.facebook.com/v25.0`. */
  apiRoot: string;
  /** The operator's app: posts for tokens that it made must be signed with its secret. */
  app?: MetaApp;
  log: { warn(message: string, fields?: Record<string, unknown>): void };
  traffic?: RecordTraffic;
  /** Milliseconds to wait for the status of a part whose send was cut off. */
  statusTimeout?: number;
}

export type WhatsAppChannel = ChannelAdapter & { webhook: WebhookReceiver };

/**
 * Creates the WhatsApp adapter. A bot is a business account, found by the token alone; it serves all its numbers.
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
    identify: accounts.identify,

    webhook: {
      async register(binding, { url, secret }, signal) {
        try {
          await subscribe(binding, { override_callback_uri: url, verify_token: secret }, signal);
        } catch (error) {
          const needsHttps = error instanceof ChannelError && error.kind === "refused" && !url.startsWith("https:");
          throw needsHttps ? new ChannelError("refused", `${error.message} ${NEEDS_HTTPS}`, "bot") : error;
        }
      },
      // Only the override of the address is removed: the app's own subscription existed before.
      unregister: (binding, signal) => subscribe(binding, {}, signal),
      receive,
    },

    send: delivery.send,

    // No `preview`: a sent message can't be changed, so a reply is shown only when it is complete.

    /**
     * Shows typing at a message, which this also marks as read.
     * https://developers.facebook.com/documentation/business-messaging/whatsapp/typing-indicators
     */
    async typing(binding, address, signal, replyTo) {
      const { number } = parsePeer(address);
      if (!replyTo?.startsWith("wamid.")) return;
      const reading = { messaging_product: "whatsapp", status: "read", message_id: replyTo };
      const body = { ...reading, typing_indicator: { type: "text" } };
      await graph.call(binding, { method: "POST", path: `${number}/messages`, body }, "peer", signal);
    },

    async fetchFile(binding, { ref }, limit, signal) {
      const maxBytes = Math.min(limit, MAX_FILE_BYTES);
      if (!/^\d{1,64}$/.test(ref)) throw fileGoneError("WhatsApp");
      const { url, file_size: size } = await graph.call(binding, { path: ref }, "peer", signal);
      if (typeof size === "number" && size > maxBytes) throw fileTooLargeError(maxBytes);
      return await graph.download(binding, typeof url === "string" ? url : "", maxBytes, signal);
    },

    forget: accounts.forget,
  };
}
