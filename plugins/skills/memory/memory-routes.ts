// Routes on both surfaces by which an owner reads and corrects what an agent remembers.
import { Elysia, type Static, t } from "elysia";
import { notFound } from "../../../src/kernel/errors.ts";
import type { BackendTransport } from "../../../src/kernel/http/backend/backend-transport.ts";
import { forwardToBackend } from "../../../src/kernel/http/backend/forward-to-backend.ts";
import type { Idempotency } from "../../../src/kernel/http/idempotency.ts";
import { documentErrors } from "../../../src/kernel/http/openapi/route-documentation.ts";
import { readLimit } from "../../../src/kernel/http/paging.ts";
import type { ServiceOf } from "../../../src/kernel/plugin.ts";
import type { Agent, agents as agentsPlugin } from "../../agents/index.ts";
import type { auth, Identity } from "../../auth/index.ts";
import type { Audience } from "../skill.ts";
import { TAINT } from "../taint.ts";
import { type Fact, MAX_FACT_LENGTH, type MemoryStore } from "./memory-store.ts";
import type { OwnerFacts } from "./owner-facts.ts";

interface Deps {
  guards: ServiceOf<typeof agentsPlugin>["guards"];
  memories: Pick<MemoryStore, "remember" | "forget">;
  ownerFacts: OwnerFacts;
}

interface WebDeps extends Deps {
  backend: BackendTransport;
  idempotency: Idempotency;
  identities: Pick<ServiceOf<typeof auth>["identities"], "createGrant">;
}

const nullable = <Schema extends Parameters<typeof t.Union>[0][number]>(schema: Schema) => t.Union([schema, t.Null()]);

const memoryItem = t.Object(
  {
    id: t.String(),
    kind: t.Union([t.Literal("own"), t.Literal("person"), t.Literal("world")], {
      description: "What it is about: the owner, another person, or anything else",
    }),
    text: t.String(),
    about: nullable(t.String({ description: "The conversation that knows it, as platform:peer; null: the owner's" })),
    confidence: t.Union([t.Literal("high"), t.Literal("medium"), t.Literal("low")], {
      description:
        "By where it comes from: the owner; words of other people, or a summary; content from outside, such as a web page",
    }),
    untrusted: t.Boolean({
      description:
        "Noted while content from outside was read: where it is in a prompt, tools that act ask the owner first",
    }),
    pinned: t.Boolean({ description: "Comes first in every prompt of its conversation" }),
    source: t.Union([t.Literal("agent"), t.Literal("compaction"), t.Literal("owner")], {
      description: "Who wrote it: the agent by its tool, a summary of a long conversation, or the owner",
    }),
    turnId: nullable(t.String({ description: "The turn in which it was noted" })),
    createdAt: t.String({ description: "ISO 8601" }),
    lastUsedAt: t.String({ description: "ISO 8601. When it was last told, changed or looked up" }),
  },
  { title: "Memory" },
);
const kind = t.Union([t.Literal("own"), t.Literal("person"), t.Literal("world")], {
  description: "About the owner, another person, or anything else",
  error: "The kind is own, person or world.",
});
const memoryList = t.Object({
  memories: t.Array(memoryItem),
  count: t.Integer(),
  nextCursor: nullable(t.String({ description: "For the next page; null for a search" })),
});
const memoryResponse = t.Object({ memory: memoryItem });
const query = t.Object({
  query: t.Optional(t.String({ maxLength: 1_000, description: "Words to look for, best match first" })),
  kind: t.Optional(kind),
  about: t.Optional(t.String({ maxLength: 600, description: "platform:peer" })),
  limit: t.Optional(t.String({ description: "1 to 100, default 50" })),
  cursor: t.Optional(t.String({ maxLength: 64, description: "The `nextCursor` of the page before" })),
});
const text = t.String({
  minLength: 1,
  maxLength: 10_000,
  description: `At most ${MAX_FACT_LENGTH} characters`,
  error: `Write the fact in a sentence of at most ${MAX_FACT_LENGTH} characters.`,
});
const createBody = t.Object({
  text,
  about: t.Optional(
    nullable(
      t.String({
        pattern: "^[a-z_]+:.+$",
        maxLength: 600,
        description: "platform:peer; null or left out: the owner's",
        error: "This must be a platform and a conversation there, such as channel_a:123.",
      }),
    ),
  ),
  kind: t.Optional(kind),
  pinned: t.Optional(t.Boolean({ error: "Give true or false." })),
});
const changeBody = t.Object({
  text: t.Optional(text),
  pinned: t.Optional(t.Boolean({ error: "Give true or false." })),
});
const removed = t.Object({ success: t.Boolean(), id: t.String() });

const ACTION = "agent.memory";
const LIST = "/api/agents/:id/memories";
const ONE = `${LIST}/:memoryId`;
const tags = ["Memory"];
const listDetail = {
  tags,
  summary: "What an agent remembers: pinned facts first, then newest first, or by a search",
  description:
    "Facts with their source, and whether they came from an untrusted place. `query` searches by meaning and words; `kind` and `about` filter.",
};
const changeErrors = {
  400: ["EMPTY_FACT", "FACT_TOO_LONG"],
  404: ["AGENT_NOT_FOUND", "FACT_NOT_FOUND"],
  409: ["FACT_EXISTS", "TOO_MANY_PINNED", "OPERATION_IN_PROGRESS"],
};
const createErrors = { ...changeErrors, 404: "AGENT_NOT_FOUND", 409: ["MEMORY_FULL", ...changeErrors[409]] };
const removeErrors = { 404: changeErrors[404], 409: "OPERATION_IN_PROGRESS" };
const detailOf = (
  texts: { summary: string; description: string; operationId?: string },
  errors: Record<number, string | string[]>,
) => ({
  tags,
  ...texts,
  ...documentErrors(errors),
});
const create = { body: createBody, response: { 200: memoryResponse, 201: memoryResponse } };
const CREATE = {
  summary: "Teach an agent a fact; 200 if it knows it already",
  description: "The fact counts as the owner's own word. A pinned one is in every prompt.",
};
const CHANGE = {
  summary: "Correct or pin a fact: a new text counts as the owner's own",
  description: "Fields that are left out stay as they are.",
};
const REMOVE = {
  summary: "Forget a fact for good",
  description: "The agent no longer finds it from its next turn on.",
};

const toItem = ({
  id,
  content,
  circle,
  taint,
  pinned,
  source,
  kind,
  turnId,
  usedAt,
  createdAt,
  updatedAt,
}: Fact): Static<typeof memoryItem> => ({
  id,
  kind: kind === "owner" ? "own" : kind,
  text: content,
  about: circle === "" ? null : circle,
  confidence: taint === TAINT.outside ? "low" : taint === TAINT.people || source === "compaction" ? "medium" : "high",
  untrusted: taint === TAINT.outside,
  pinned,
  source,
  turnId,
  createdAt: new Date(createdAt).toISOString(),
  lastUsedAt: new Date(Math.max(updatedAt, usedAt ?? 0)).toISOString(),
});

const createListHandler =
  (ownerFacts: OwnerFacts) =>
  async ({ agent, query: given }: { agent: Agent; query: Static<typeof query> }) => {
    const { about: circle, cursor } = given;
    const kind = storedKind(given.kind);
    const limit = readLimit(given.limit, 50, 100);
    const searched = given.query?.trim() ?? "";
    const page =
      searched === ""
        ? await ownerFacts.list(agent.id, { kind, circle }, { limit, cursor })
        : { facts: await ownerFacts.search(agent.id, searched, { kind, circle }, limit), nextCursor: undefined };
    const memories = page.facts.map(toItem);
    return { memories, count: memories.length, nextCursor: page.nextCursor ?? null };
  };

export function memoryWebRoutes({ backend, idempotency, identities, guards, ownerFacts }: WebDeps) {
  type Call = { agent: Agent; identity: Identity; request: Request };
  const forward = ({ agent, identity, request }: Call, path = "") => {
    const grant = identities.createGrant(identity, request, ACTION, agent.id);
    return forwardToBackend(backend, grant, request, `/api/agents/${agent.id}/memories${path}`);
  };
  const writing = { ownAgent: { scope: "write", kind: "data" } } as const;
  const unavailable = { 502: "BACKEND_UNAVAILABLE" };

  return new Elysia({ name: "memories.web" })
    .use(guards)
    .get(LIST, createListHandler(ownerFacts), {
      ownAgent: { scope: "read", kind: "data" },
      query,
      response: { 200: memoryList },
      detail: listDetail,
    })
    .post(
      LIST,
      (call) => idempotency.respond({ request: call.request, userId: call.identity.user.id }, () => forward(call)),
      {
        ...writing,
        ...create,
        detail: detailOf(CREATE, {
          ...createErrors,
          409: [...createErrors[409], "IDEMPOTENCY_MISMATCH", "IDEMPOTENCY_IN_PROGRESS"],
          ...unavailable,
        }),
      },
    )
    .patch(ONE, ({ params, ...call }) => forward(call, `/${encodeURIComponent(params.memoryId)}`), {
      ...writing,
      body: changeBody,
      response: { 200: memoryResponse },
      detail: detailOf(CHANGE, { ...changeErrors, ...unavailable }),
    })
    .delete(ONE, ({ params, ...call }) => forward(call, `/${encodeURIComponent(params.memoryId)}`), {
      ...writing,
      response: { 200: removed },
      detail: detailOf(REMOVE, { ...removeErrors, ...unavailable }),
    });
}

export function memoryBackendRoutes({ guards, memories, ownerFacts }: Deps) {
  const changing = { agentCall: { action: ACTION, scope: "write", changes: true } } as const;
  return new Elysia({ name: "memories.backend" })
    .use(guards)
    .get(LIST, createListHandler(ownerFacts), {
      agentCall: "agent.read",
      query,
      response: { 200: memoryList },
      detail: listDetail,
    })
    .post(
      LIST,
      async ({ agent, body: { text: content, about, kind, pinned }, status }) => {
        const audience = about == null ? undefined : audienceOf(about);
        const { id, known } = await memories.remember({
          agentId: agent.id,
          content,
          source: "owner",
          kind: storedKind(kind),
          ...(audience && { audience }),
        });
        const fact =
          pinned === undefined
            ? await ownerFacts.find(agent.id, id)
            : await ownerFacts.change(agent.id, id, { pinned });
        if (!fact) throw notFound("The fact was deleted meanwhile.", "FACT_NOT_FOUND");
        return status(known ? 200 : 201, { memory: toItem(fact) });
      },
      { ...changing, ...create, detail: detailOf(CREATE, createErrors) },
    )
    .patch(
      ONE,
      async ({ agent, params, body }) => ({ memory: toItem(await ownerFacts.change(agent.id, params.memoryId, body)) }),
      { ...changing, body: changeBody, response: { 200: memoryResponse }, detail: detailOf(CHANGE, changeErrors) },
    )
    .delete(
      ONE,
      async ({ agent, params: { memoryId } }) => {
        const forgotten = await memories.forget(agent.id, memoryId);
        if (!forgotten) throw notFound("This agent has no fact with this id.", "FACT_NOT_FOUND");
        return { success: true, id: memoryId };
      },
      { ...changing, response: { 200: removed }, detail: detailOf(REMOVE, removeErrors) },
    );
}

const storedKind = (kind: Static<typeof memoryItem>["kind"] | undefined) => (kind === "own" ? "owner" : kind);

/** Who takes part in the conversation `platform:peer`. */
function audienceOf(about: string): Audience {
  const colon = about.indexOf(":");
  return { byOwner: false, platform: about.slice(0, colon), peer: about.slice(colon + 1) };
}
