// Sends the frames of an answer as server-sent events, and reads those of a provider.
import { EVENT_STREAM_HEADERS } from "../../../src/kernel/http/sse-streams.ts";
import { SECOND } from "../../../src/kernel/util/time.ts";

/** Without a frame for this long a comment is sent, which clients skip, so that no proxy takes the stream for dead. */
const HEARTBEAT_MS = 15 * SECOND;
const HEARTBEAT = ": still here\n\n";

const encoder = new TextEncoder();

/**
 * The response that sends these frames as they come. Reading begins at once. When the client goes, the iteration is ended by
 * `return()`. The frames must not throw: they say themselves that something failed.
 */
export function eventStream(
  frames: AsyncGenerator<string>,
  headers: Readonly<Record<string, string>> = {},
  heartbeatMs = HEARTBEAT_MS,
): Response {
  let pending: Promise<IteratorResult<string>> | undefined;
  let isCancelled = false;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      pending ??= frames.next();
      const result = await withTimeout(pending, heartbeatMs);
      if (isCancelled) return;
      if (result === undefined) return controller.enqueue(encoder.encode(HEARTBEAT));
      pending = undefined;
      if (result.done) controller.close();
      else controller.enqueue(encoder.encode(result.value));
    },
    async cancel() {
      isCancelled = true;
      await frames.return(undefined);
    },
  });
  return new Response(body, { headers: { ...EVENT_STREAM_HEADERS, ...headers } });
}

/** Undefined when the time is over. */
async function withTimeout<Result>(work: Promise<Result>, ms: number): Promise<Result | undefined> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(resolve, ms);
  return Promise.race([work, promise]).finally(() => clearTimeout(timer));
}

/** The data of each event, as it arrives; line ends may be LF or CRLF (WHATWG HTML §9.2.6). Leaving the loop cancels the body. */
export async function* readData(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  let data: string[] = [];
  for await (const chunk of body) {
    rest += decoder.decode(chunk, { stream: true });
    let from = 0;
    for (let end = rest.indexOf("\n", from); end >= 0; end = rest.indexOf("\n", from)) {
      const line = rest.slice(from, rest[end - 1] === "\r" ? end - 1 : end);
      from = end + 1;
      if (line.startsWith("data:")) data.push(line.slice(line[5] === " " ? 6 : 5));
      else if (line === "" && data.length > 0) {
        yield data.join("\n");
        data = [];
      }
    }
    rest = rest.slice(from);
  }
  if (data.length > 0) yield data.join("\n");
}

/** A frame without a name. */
export const dataFrame = (data: unknown) => `data: ${JSON.stringify(data)}\n\n`;

/** A frame whose name is the type in its data, as OpenAI's responses and Anthropic's messages have it. */
export const typedFrame = <Data extends { type: string }>(data: Data) =>
  `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
