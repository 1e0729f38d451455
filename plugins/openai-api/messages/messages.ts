// Answers requests to Anthropic's /v1/messages.
import { contextOf } from "../../../src/kernel/http/request-context.ts";
import type { ApiCaller } from "../../ai/index.ts";
import { eventStream } from "../answers/event-stream.ts";
import { clientNames } from "../sources/client-names.ts";
import type { V1Service } from "../v1-service.ts";
import { messageFrames, wholeMessage } from "./answer.ts";
import { parseMessagesRequest } from "./request.ts";

export const createMessages =
  ({ answers, describe }: Pick<V1Service, "answers" | "describe">) =>
  async (body: unknown, caller: ApiCaller, request: Request): Promise<Response> => {
    const { model, stream, metadata, chat } = parseMessagesRequest(body);
    const names = { ...clientNames(request), metadata, previous: undefined, signal: request.signal };
    const asked = await answers.ask({ ...names, api: "messages", caller, body: chat });
    const about = { id: `msg_${crypto.randomUUID().replaceAll("-", "")}`, model };
    const requestId = contextOf(request).id;
    const servedBy = asked.servedBy === undefined ? undefined : { "x-berth-model": asked.servedBy };
    const headers: Record<string, string> = { "cache-control": "no-store", "request-id": requestId, ...servedBy };
    if (stream) return eventStream(messageFrames(asked.parts, about, requestId, describe), headers);
    return Response.json(await wholeMessage(asked.parts, about), { headers });
  };
