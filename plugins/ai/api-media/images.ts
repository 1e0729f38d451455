// Makes pictures for API clients: OpenAI's /images/generations, passed on to the provider that serves the model.
import { AppError, invalidInput } from "../../../src/kernel/errors.ts";
import { PICTURES } from "../media/media-models.ts";
import { CHARACTERS_PER_TOKEN, readPictures, usageOf } from "../pictures/pictures.ts";
import type { PictureModel } from "../providers/provider.ts";
import { type ApiMedia, type MediaBody, type MediaClient, respond } from "./media-client.ts";
import { checkFields, type FieldChecks, isAmong, isNumber, isText, MODEL, textOf } from "./media-fields.ts";

const PATH = "/images/generations";
/** Pictures of one request. */
const MAX_PICTURES = 10;

const CHECKS: FieldChecks = {
  model: MODEL,
  prompt: [isText(32_000), "Give the prompt: text of 1 to 32000 characters."],
  n: [(value) => Number.isInteger(value) && isNumber(1, MAX_PICTURES)(value), "n is a whole number from 1 to 10."],
  size: [isText(20), "size is text, such as 1024x1024."],
  quality: [isText(20), "quality is text, such as medium."],
  style: [isText(20), "style is text."],
  response_format: [isAmong("b64_json", "url"), "response_format is b64_json or url."],
  output_format: [isAmong("png", "jpeg", "webp"), "output_format is png, jpeg or webp."],
  output_compression: [isNumber(0, 100), "output_compression is a number from 0 to 100."],
  background: [isAmong("transparent", "opaque", "auto"), "background is transparent, opaque or auto."],
  moderation: [isAmong("low", "auto"), "moderation is low or auto."],
  user: [isText(256), "user is text."],
};
/** The price of a picture is that of medium quality; these cost no more. */
const CHEAP_QUALITIES: readonly unknown[] = ["low", "medium", "standard"];

export const createImages =
  ({ call, choose, payerOf, isUnlimited, operator }: ApiMedia) =>
  async (body: unknown, client: MediaClient): Promise<Response> => {
    const { model: reference, ...fields } = checkFields(body, CHECKS, ["prompt"]);
    const payer = payerOf(client);
    // Known to OpenAI's clients as the default; the price is that of medium.
    if (fields.quality === "auto") delete fields.quality;
    const isDear = fields.quality !== undefined && !CHEAP_QUALITIES.includes(fields.quality);
    if (isDear && !(await isUnlimited(client))) {
      throw invalidInput({
        path: "quality",
        message: "A higher quality costs extra. Choose medium or low, or leave it out.",
      });
    }
    const { length } = String(fields.prompt);
    const count = typeof fields.n === "number" ? fields.n : 1;
    const answer = await call<PictureModel, MediaBody>({
      ...choose(PICTURES, textOf(reference) ?? operator.pictures),
      payer,
      path: PATH,
      signal: client.signal,
      bodyFor: ({ model, modelId }) => ({
        // Fields of the model that the client names are the client's.
        body: JSON.stringify({ ...model.fields, ...fields, model: modelId }),
        headers: { "content-type": "application/json" },
      }),
      mostUsd: ({ model }) =>
        count * model.perPicture + ((length / CHARACTERS_PER_TOKEN) * (model.perMillion?.input ?? 0)) / 1e6,
      async read(response, candidate) {
        const answer = await readPictures(response);
        const { data } = Object(answer) as { data?: unknown };
        if (!Array.isArray(data) || data.length === 0) {
          throw new AppError(
            502,
            "PROVIDER_FAILED",
            `${candidate.upstream.label} made no picture. Describe it in other words.`,
          );
        }
        const bytes = new TextEncoder().encode(JSON.stringify(answer));
        return { result: { bytes, type: "application/json" }, usage: usageOf(answer, candidate, data.length) };
      },
    });
    return respond(answer);
  };
