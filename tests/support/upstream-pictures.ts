// The endpoint of the fake provider that makes pictures: it checks requests as OpenAI does, and answers in its form.
// https://platform.openai.com/docs/api-reference/images/create
import { RefusalError } from "./upstream-protocol.ts";

export interface PaintedPicture {
  model: string;
  prompt: string;
  size: string | undefined;
  quality: string | undefined;
}

/** The answer to a request: the picture's bytes, a status with its message, or any other body. */
export type Painting = (
  picture: PaintedPicture,
) => Uint8Array | { status: number; message: string } | Promise<Uint8Array>;

const SIZES = ["1024x1024", "1536x1024", "1024x1536", "auto"];
const QUALITIES = ["low", "medium", "high", "auto"];
export const PAINTED_TOKENS = { input_tokens: 50, output_tokens: 1_056, total_tokens: 1_106 };

/** A picture of one point. */
export const ONE_POINT_PNG = new Uint8Array(
  Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII=", "base64"),
);

export async function paint(body: unknown, paints: Painting, painted: PaintedPicture[]): Promise<Response> {
  const { model, prompt, n = 1, size, quality, output_format: format, response_format: answer, ...rest } = Object(body);
  const [other] = Object.keys(rest);
  if (other !== undefined) throw bad(`Unknown parameter: '${other}'.`, other);
  if (typeof model !== "string" || model === "") throw bad("you must provide a model parameter", "model");
  if (typeof prompt !== "string" || prompt === "" || prompt.length > 32_000) throw bad("Invalid prompt.", "prompt");
  if (n !== 1) throw bad("The fake makes one picture.", "n");
  const isGpt = model.startsWith("gpt-image");
  if (isGpt && answer !== undefined) throw bad("Unknown parameter: 'response_format'.", "response_format");
  if (!isGpt && answer !== "b64_json") throw bad("The fake has no addresses of pictures.", "response_format");
  if (size !== undefined && !SIZES.includes(size)) throw bad(`Invalid size '${size}'.`, "size");
  if (quality !== undefined && !QUALITIES.includes(quality)) throw bad(`Invalid quality '${quality}'.`, "quality");
  if (format !== undefined && !["png", "jpeg", "webp"].includes(format)) throw bad("Invalid format.", "output_format");
  const picture = { model, prompt, size, quality };
  painted.push(picture);
  const made = await paints(picture);
  if (!(made instanceof Uint8Array)) throw new RefusalError(made.status, made.message);
  const data = [{ b64_json: Buffer.from(made).toString("base64") }];
  return Response.json({ created: 1_700_000_000, data, ...(isGpt && { usage: PAINTED_TOKENS }) });
}

const bad = (message: string, param: string) => new RefusalError(400, message, param);
