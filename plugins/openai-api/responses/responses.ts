// Makes responses of /v1/responses: reads the request, asks the model, and stores the response to be continued.
import { notFound } from "../../../src/kernel/errors.ts";
import type { ApiCaller } from "../../ai/index.ts";
import { eventStream } from "../answers/event-stream.ts";
import { clientNames } from "../sources/client-names.ts";
import type { V1Service } from "../v1-service.ts";
import { type EndedResponse, type ResponseAbout, responseFrames, wholeResponse } from "./answer.ts";
import { parseResponsesRequest, type ResponsesRequest } from "./request.ts";
import type { ResponseKeeper, StoredResponse } from "./response-keeper.ts";

type Json = Readonly<Record<string, unknown>>;

interface Deps extends Pick<V1Service, "answers" | "sources" | "describe"> {
  stored: ResponseKeeper;
}

export function createResponses({ answers, sources, describe, stored }: Deps) {
  /** The items with those that they refer to in place of references. Throws 404 `UNKNOWN_ITEM`. */
  async function resolveReferences(items: readonly Json[], owner: ApiCaller["userId"]): Promise<Json[]> {
    const responses = new Map<string, Promise<StoredResponse | undefined>>();
    const resolved = items.map(async (item) => {
      if (item.type !== "item_reference") return item;
      const id = String(item.id);
      const responseId = `resp_${/^[a-z]+_(\w+)_\d+$/.exec(id)?.[1] ?? ""}`;
      const response = responses.get(responseId) ?? stored.find(owner, responseId);
      responses.set(responseId, response);
      const found = (await response)?.response.output.find((one) => one.id === id);
      if (!found)
        throw notFound(`There is no item ${JSON.stringify(id.slice(0, 100))}. Send the item itself.`, "UNKNOWN_ITEM");
      return found;
    });
    return Promise.all(resolved);
  }

  /** What is continued: by its source's own state, else by the items so far. */
  async function continued({ previousResponseId: id, model }: ResponsesRequest, owner: ApiCaller["userId"]) {
    if (id === undefined) return { earlier: [], previous: undefined, rootId: undefined };
    const prefix = sources.sourceOf(model)?.source.prefix;
    const last = prefix === undefined ? undefined : await stored.find(owner, id);
    if (last && last.source === prefix) {
      return { earlier: [], previous: { responseId: id, state: last.state }, rootId: last.rootId };
    }
    const chain = await stored.chain(owner, id);
    const earlier = chain.flatMap(({ input, response }) => [...input, ...response.output]);
    return { earlier, previous: undefined, rootId: chain[0]?.rootId };
  }

  return {
    async create(body: unknown, caller: ApiCaller, asking: Request): Promise<Response> {
      const parsed = parseResponsesRequest(body);
      const { model, metadata, echoed } = parsed;
      const owner = caller.userId;
      const request = { ...parsed, input: await resolveReferences(parsed.input, owner) };
      const { earlier, previous, rootId } = await continued(request, owner);
      const chat = parsed.toChat([...earlier, ...request.input]);
      const names = { ...clientNames(asking), metadata, previous, signal: asking.signal };
      const asked = await answers.ask({ ...names, api: "responses", caller, body: chat });
      const id = `resp_${crypto.randomUUID().replaceAll("-", "")}`;
      const about: ResponseAbout = {
        ...{ id, model, echoed, isStored: request.store },
        createdAt: Math.floor(Date.now() / 1000),
      };
      async function store({ response, state }: EndedResponse): Promise<void> {
        if (!request.store) return;
        const source = sources.sourceOf(model)?.source.prefix;
        const { input, previousResponseId: previousId } = request;
        await stored.save(owner, { id, rootId: rootId ?? id, previousId, source, state, input, response });
      }
      const headers: Record<string, string> = asked.servedBy === undefined ? {} : { "x-berth-model": asked.servedBy };
      if (request.stream) return eventStream(responseFrames(asked.parts, about, store, describe), headers);
      const ended = await wholeResponse(asked.parts, about);
      await store(ended);
      return Response.json(ended.response, { headers: { "cache-control": "no-store", ...headers } });
    },

    /** Throws 404 `RESPONSE_NOT_FOUND`. */
    async read(id: string, { userId }: ApiCaller) {
      const found = await stored.find(userId, id);
      if (!found) throw responseNotFound();
      return found;
    },

    /** Throws 404 `RESPONSE_NOT_FOUND`. */
    async remove(id: string, { userId }: ApiCaller) {
      if (!(await stored.remove(userId, id))) throw responseNotFound();
      return { id, object: "response" as const, deleted: true };
    },
  };
}

export type Responses = ReturnType<typeof createResponses>;

const responseNotFound = () =>
  notFound(
    "There is no such response: it was not stored, it has expired, or it is another account's.",
    "RESPONSE_NOT_FOUND",
  );

/** The new items of a response's request, with an id for each. */
export function inputItems({ id, input }: StoredResponse) {
  const data = input.map((item, index) => ({ id: `in_${id.slice("resp_".length)}_${index}`, ...item }));
  return {
    object: "list" as const,
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: false,
  };
}
