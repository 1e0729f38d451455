// A shorter way through the SDK for calls of text alone, of which turns mostly consist: it takes half the processor time.
// Everything else is the SDK's: streams, files, errors, and answers that hold more than text and calls of tools.
import type { LanguageModelV4 } from "@ai-sdk/provider";
import type { Fetch } from "../providers/providers.ts";
import { readCompletion } from "./completion.ts";
import { createRequestEncoder, type OpenModel } from "./request-template.ts";

interface Options {
  /** The client of the SDK with this function as its `fetch`. */
  open: OpenModel;
  send: Fetch;
}

/** The model that `open` returns, whose calls without streams are encoded and read here where they are of text alone. */
export function createTextChat({ open, send }: Options): LanguageModelV4 {
  const sdk = open(send);
  const encode = createRequestEncoder(open);
  return {
    specificationVersion: sdk.specificationVersion,
    provider: sdk.provider,
    modelId: sdk.modelId,
    supportedUrls: sdk.supportedUrls,
    doStream: (options) => sdk.doStream(options),
    async doGenerate(options) {
      const request = await encode(options);
      if (!request) return sdk.doGenerate(options);
      /** Lets the SDK read what came of the request, or report why it failed. */
      const readBySdk = (came: () => Promise<Response>) => open(came).doGenerate(options);
      let response: Response;
      let text: string;
      try {
        response = await send(request.url, { ...request.init, signal: options.abortSignal ?? null });
        if (!response.ok) return readBySdk(async () => response);
        text = await response.text();
      } catch (error) {
        return readBySdk(() => Promise.reject(error));
      }
      const { status, statusText, headers } = response;
      return readCompletion(text) ?? readBySdk(async () => new Response(text, { status, statusText, headers }));
    },
  };
}
