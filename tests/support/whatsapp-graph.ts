// The Graph API's errors and its validation of messages: strict, so that a wrong call fails in a test and not at Meta.
// https://developers.facebook.com/documentation/business-messaging/whatsapp/support/error-codes
import { sniffed } from "./sent-file.ts";
import type { Kind } from "./whatsapp-types.ts";

const TITLES: Record<number, [status: number, title: string]> = {
  0: [401, "AuthException"],
  2: [503, "Service temporarily unavailable"],
  4: [429, "Application request limit reached"],
  10: [403, "Application does not have permission for this action"],
  33: [400, "Parameter value is not valid"],
  2200: [400, "Callback verification failed"],
  80007: [400, "Rate limit issues"],
  100: [400, "Invalid parameter"],
  131000: [500, "Something went wrong"],
  131009: [400, "Parameter value is not valid"],
  131026: [400, "Message undeliverable"],
  131030: [400, "Recipient phone number not in allowed list"],
  131047: [400, "Re-engagement message"],
  131056: [400, "(Business Account, Consumer Account) pair rate limit hit"],
  130429: [429, "Rate limit hit"],
  190: [401, "Access token has expired"],
  368: [403, "Temporarily blocked for policies violations"],
};

/** The title of an error code in statuses and error responses. */
export const titleOf = (code: number): string => TITLES[code]?.[1] ?? "Unknown";

/** An error response of the Graph API. */
export class GraphRefusal extends Error {
  override readonly name = "GraphRefusal";
  readonly status: number;

  constructor(
    readonly code: number,
    readonly details?: string,
    status?: number,
    readonly subcode?: number,
  ) {
    super(`(#${code}) ${titleOf(code)}`);
    this.status = status ?? TITLES[code]?.[0] ?? 400;
  }

  response(): Response {
    const error = {
      message: this.message,
      type: "OAuthException",
      code: this.code,
      ...(this.details === undefined ? {} : { error_data: { messaging_product: "whatsapp", details: this.details } }),
      ...(this.subcode === undefined ? {} : { error_subcode: this.subcode }),
      fbtrace_id: "AbCdEfGhIjKlMnOpQr",
    };
    return Response.json({ error }, { status: this.status });
  }
}

export const bad = (details: string) => new GraphRefusal(100, details);

export interface TextMessage {
  /** Digits, or a business-scoped id. */
  to: string;
  text: string;
  previewUrl: boolean;
  buttons?: { id: string; title: string }[];
  /** A file that was uploaded before. */
  media?: { as: "image" | "audio" | "document"; id: string; isVoice: boolean; name?: string; caption?: string };
  replyTo?: string;
  callbackData?: string;
}

export interface Reading {
  messageId: string;
  typing: boolean;
}

type Fields = Record<string, unknown>;
export const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function only(fields: Fields, known: readonly string[], where: string): void {
  for (const key of Object.keys(fields)) if (!known.includes(key)) throw bad(`Unexpected key "${key}" on ${where}.`);
}

function text(fields: Fields, key: string, most: number): string | undefined {
  const value = fields[key];
  if (value === undefined) return undefined;
  if (typeof value !== "string" || value === "") throw bad(`Param ${key} must be a string.`);
  if (value.length > most) throw bad(`Param ${key} must be at most ${most} characters long.`);
  if (!value.isWellFormed()) throw bad(`Param ${key} is not well-formed.`);
  return value;
}

/** Validates the body of `POST /{phone number}/messages`. Only the kinds that Berth sends are known here. */
export function readMessage(body: unknown): TextMessage | Reading {
  if (!isFields(body)) throw bad("The body must be an object.");
  if (body.messaging_product !== "whatsapp") throw bad("Param messaging_product must be whatsapp.");
  if (body.status !== undefined) return readReading(body);
  const known = ["messaging_product", "recipient_type", "to", "recipient", "type", "context"];
  const mediaType = MEDIA_TYPES.find((type) => type === body.type);
  known.push(mediaType ?? (body.type === "interactive" ? "interactive" : "text"));
  only(body, [...known, "biz_opaque_callback_data"], "the message");
  if (body.recipient_type !== undefined && body.recipient_type !== "individual") throw bad("Param recipient_type.");
  const to = text(body, "to", 32);
  const recipient = text(body, "recipient", 140);
  if (to !== undefined && !/^\+?\d{5,20}$/.test(to)) throw new GraphRefusal(131009, "Param to is no phone number.");
  if (recipient !== undefined && !/^[A-Z]{2}\.(?:ENT\.)?[A-Za-z0-9]{1,128}$/.test(recipient)) {
    throw new GraphRefusal(131009, "Param recipient is no user id.");
  }
  const who = to?.replace("+", "") ?? recipient;
  if (who === undefined) throw bad("The parameter to is required.");
  const content = mediaType
    ? readMedia(mediaType, body[mediaType])
    : body.type === "interactive"
      ? readButtons(body.interactive)
      : readText(body);
  const callbackData = text(body, "biz_opaque_callback_data", 512);
  let replyTo: string | undefined;
  if (body.context !== undefined) {
    if (!isFields(body.context)) throw bad("Param context must be an object.");
    only(body.context, ["message_id"], "context");
    replyTo = text(body.context, "message_id", 512);
    if (!replyTo?.startsWith("wamid.")) throw bad("Param context['message_id'] is no message id.");
  }
  return {
    to: who,
    ...content,
    ...(replyTo === undefined ? {} : { replyTo }),
    ...(callbackData === undefined ? {} : { callbackData }),
  };
}

function readText(body: Fields): Pick<TextMessage, "text" | "previewUrl"> {
  if (body.type !== "text") throw bad("Param type must be one of {TEXT, INTERACTIVE}.");
  if (!isFields(body.text)) throw bad("The parameter text is required.");
  only(body.text, ["body", "preview_url"], "text");
  const content = text(body.text, "body", 4096);
  if (content === undefined || content.trim() === "") throw bad("The parameter text['body'] is required.");
  const { preview_url: previewUrl = false } = body.text;
  if (typeof previewUrl !== "boolean") throw bad("Param preview_url must be a boolean.");
  return { text: content, previewUrl };
}

const MEDIA_TYPES = ["image", "audio", "document"] as const;

function readMedia(
  as: (typeof MEDIA_TYPES)[number],
  given: unknown,
): Pick<TextMessage, "text" | "previewUrl" | "media"> {
  if (!isFields(given)) throw bad(`The parameter ${as} is required.`);
  only(given, ["id", ...(as === "audio" ? ["voice"] : ["caption"]), ...(as === "document" ? ["filename"] : [])], as);
  const id = text(given, "id", 64);
  if (id === undefined) throw bad(`The parameter ${as}['id'] is required.`);
  const [caption, name] = [text(given, "caption", 1024), text(given, "filename", 240)];
  if (given.voice !== undefined && typeof given.voice !== "boolean")
    throw bad("Param audio['voice'] must be a boolean.");
  const media = {
    as,
    id,
    isVoice: given.voice === true,
    ...(caption === undefined ? {} : { caption }),
    ...(name === undefined ? {} : { name }),
  };
  return { text: "", previewUrl: false, media };
}

/** The types that WhatsApp takes, each with the most bytes of a message of that type. */
const UPLOADS: readonly [RegExp, as: "image" | "audio" | "document", bytes: number][] = [
  [/^image\/(?:jpeg|png)$/, "image", 5_000_000],
  [/^audio\/(?:aac|amr|mpeg|mp4|ogg)$/, "audio", 16_000_000],
  [
    /^(?:text\/plain|application\/(?:pdf|msword|vnd\.ms-excel|vnd\.ms-powerpoint|vnd\.openxmlformats-officedocument\.\S+))$/,
    "document",
    100_000_000,
  ],
];

/** Validates the form of `POST /{phone number}/media`; returns the file. */
export async function readUpload(request: Request): Promise<{ name: string; mime: string; bytes: Uint8Array }> {
  const type = request.headers.get("content-type") ?? "";
  if (!type.startsWith("multipart/form-data")) throw bad("Send a form.");
  const raw = Buffer.from(await request.arrayBuffer());
  const form = await new Response(raw, { headers: { "content-type": type } }).formData();
  if (form.get("messaging_product") !== "whatsapp") throw bad("Param messaging_product must be whatsapp.");
  const file = form.get("file");
  if (!(file instanceof File) || file.size === 0) throw bad("(#100) Param file is required.");
  const mime = String(form.get("type"));
  // Read from the form itself, since the parser above takes the type from the name.
  const claimed = /name="file"; filename="[^"]*"\r\nContent-Type: ([^\r;]+)/.exec(raw.toString("latin1"))?.[1];
  if (claimed !== mime) throw bad("The file's type is not the one that the form names.");
  const known = UPLOADS.find(([types]) => types.test(mime));
  if (!known || file.size > known[2])
    throw bad(`Param file must be a file with one of the following types: … not ${mime}`);
  const bytes = new Uint8Array(await file.arrayBuffer());
  if (!mime.startsWith("text/") && known[1] !== "document" && sniffed(bytes) !== mime)
    throw bad("The file is not what it claims.");
  return { name: file.name, mime, bytes };
}

/** Whether an uploaded file of this type can be sent as such a message. */
export const isSendable = (as: string, mime: string): boolean =>
  as === "document" || UPLOADS.some(([types, of]) => of === as && types.test(mime));

/** One to three reply buttons, with different ids and titles. */
function readButtons(interactive: unknown): Pick<TextMessage, "text" | "previewUrl" | "buttons"> {
  if (!isFields(interactive) || interactive.type !== "button") throw bad("Param interactive['type'] must be button.");
  only(interactive, ["type", "body", "action"], "interactive");
  const content = isFields(interactive.body) ? text(interactive.body, "text", 1024) : undefined;
  if (content === undefined) throw bad("The parameter interactive['body']['text'] is required.");
  const list: unknown = isFields(interactive.action) ? interactive.action.buttons : undefined;
  if (!Array.isArray(list) || list.length < 1 || list.length > 3) throw bad("There must be 1 to 3 buttons.");
  const buttons = list.map((button: unknown) => {
    const reply = isFields(button) && button.type === "reply" ? button.reply : undefined;
    const id = isFields(reply) ? text(reply, "id", 256) : undefined;
    const title = isFields(reply) ? text(reply, "title", 20) : undefined;
    if (id === undefined || title === undefined) throw bad("A button needs an id and a title.");
    return { id, title };
  });
  if (new Set(buttons.map(({ title }) => title)).size < buttons.length) throw bad("Titles of buttons must differ.");
  return { text: content, previewUrl: false, buttons };
}

function readReading(body: Fields): Reading {
  only(body, ["messaging_product", "status", "message_id", "typing_indicator"], "the status");
  if (body.status !== "read") throw bad("Param status must be read.");
  const messageId = text(body, "message_id", 512);
  if (messageId === undefined) throw bad("The parameter message_id is required.");
  const indicator = body.typing_indicator;
  if (indicator !== undefined && !(isFields(indicator) && indicator.type === "text"))
    throw bad("Param typing_indicator.");
  return { messageId, typing: indicator !== undefined };
}

/** The kind of a call, by its path and body. */
export function kindOf(path: string, body: unknown): Kind | undefined {
  if (path.startsWith("/_media/")) return "download";
  const [, , name] = /^\/v\d+\.\d+\/([^/]+)(?:\/([^/]+))?$/.exec(path) ?? [];
  if (/^\/v\d+\.\d+\/debug_token$/.test(path)) return "debug_token";
  if (name === "messages") return isFields(body) && body.status !== undefined ? "read" : "messages";
  if (name === "phone_numbers" || name === "subscribed_apps") return name;
  if (name === "media") return "upload";
  return /^\/v\d+\.\d+\/\d+$/.test(path) ? "media" : undefined;
}
