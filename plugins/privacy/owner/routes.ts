// Routes on both surfaces by which an owner lists the people of an agent, copies what it has of one of them, and erases them from it.
import { Readable } from "node:stream";
import { Elysia, type Static } from "elysia";
import { currentActor } from "../../../src/kernel/audit/current-actor.ts";
import { encodePathSegment } from "../../../src/kernel/http/backend/backend-response.ts";
import type { BackendTransport } from "../../../src/kernel/http/backend/backend-transport.ts";
import { forwardToBackend } from "../../../src/kernel/http/backend/forward-to-backend.ts";
import { documentErrors } from "../../../src/kernel/http/openapi/route-documentation.ts";
import { cutPage, readLimit, readOffset } from "../../../src/kernel/http/paging.ts";
import type { ServiceOf } from "../../../src/kernel/plugin.ts";
import type { agents as agentsPlugin } from "../../agents/index.ts";
import type { auth, Identity } from "../../auth/index.ts";
import type { PastErasure } from "../person/past-erasures.ts";
import type { AgentPeople, AgentPerson } from "./agent-people.ts";
import {
  agentPeople,
  erasureList,
  erasureQuery,
  erasureReceipt,
  peopleQuery,
  receiptCheck,
  receiptVerdict,
} from "./model.ts";

type Guards = ServiceOf<typeof agentsPlugin>["guards"];

interface WebDeps {
  backend: BackendTransport;
  identities: Pick<ServiceOf<typeof auth>["identities"], "createGrant">;
  guards: Guards;
}

const READ = "agent.read";
const ERASE = "agent.erase-person";
const LIST = "/api/agents/:id/people";
const ONE = `${LIST}/:channel/:personId`;
const COPY = `${ONE}/export`;
const ERASURES = "/api/agents/:id/erasures";
const VERIFY = `${ERASURES}/verify`;
const tags = ["People"];

const unavailable = { 502: "BACKEND_UNAVAILABLE" };
/** A channel without people. */
const unreadable = { 400: "INVALID_INPUT" };
const notFound = { 404: ["AGENT_NOT_FOUND", "PERSON_NOT_FOUND"] };

const list = {
  query: peopleQuery,
  response: { 200: agentPeople },
  detail: {
    tags,
    summary: "The people who wrote to an agent, or asked to; who wrote last comes first",
    operationId: "listAgentPeople",
    description: "On channels, and as visitors of its public page and embedded chat. Owners of a bot are not listed.",
  },
};
const copyDetail = {
  tags,
  summary: "A copy of all that an agent has of a person",
  operationId: "exportAgentPerson",
  description:
    "A gzipped tar: what they wrote and were answered, facts, reminders, and the files. Nothing of other agents. It is in the audit log.",
  responses: {
    200: {
      description: "The archive",
      content: { "application/gzip": { schema: { type: "string" as const, format: "binary" } } },
    },
  },
};
const erase = {
  response: { 200: erasureReceipt },
  detail: {
    tags,
    summary: "Erase a person from an agent, and get the receipt",
    operationId: "eraseAgentPerson",
    description:
      "Deletes their messages and the replies, facts, reminders, files, and what names them in logs and events, in this agent only; " +
      "its backups of their time are replaced by one of now. It can't be undone. It goes on if the caller leaves. Again, it answers with the receipt of then.",
  },
};
const erasures = {
  query: erasureQuery,
  response: { 200: erasureList },
  detail: {
    tags,
    summary: "The receipts of an agent's erasures, newest first",
    operationId: "listAgentErasures",
    description: "They name nobody. An erasure that is under way has no receipt yet.",
  },
};
const verify = {
  body: receiptCheck,
  response: { 200: receiptVerdict },
  detail: {
    tags,
    summary: "Check that this service made a receipt, and that it is as it was",
    operationId: "verifyErasureReceipt",
    description: "The text of the file, as it was given out. With a list of receipts, all have to be genuine.",
  },
};
const unreadableReceipt = { 400: "UNREADABLE_RECEIPT" };
const withErrors = <Detail extends object>(detail: Detail, errors: Record<number, string | string[]>) => ({
  ...detail,
  ...documentErrors(errors),
});

export function webRoutes({ backend, identities, guards }: WebDeps) {
  interface Context {
    identity: Identity;
    request: Request;
    agent: { id: string };
  }
  const forward = ({ identity, request, agent }: Context, rest: string, isErasing = false) => {
    const grant = identities.createGrant(identity, request, isErasing ? ERASE : READ, agent.id);
    const responseHeaders = () => ["content-disposition"];
    // An erasure goes on without its caller; a copy does not.
    const signal = isErasing ? {} : { signal: request.signal };
    return forwardToBackend(backend, grant, request, `/api/agents/${agent.id}/${rest}`, { responseHeaders, ...signal });
  };
  const searchOf = (request: Request) => new URL(request.url).search;
  type Params = { params: { channel: string; personId: string } };
  const personOf = ({ params: { channel, personId } }: Params) =>
    `people/${encodePathSegment(channel)}/${encodePathSegment(personId)}`;
  const reading = { ownAgent: { scope: "read" as const, kind: "data" as const } };

  return new Elysia({ name: "privacy.web" })
    .use(guards)
    .get(LIST, (context) => forward(context, `people${searchOf(context.request)}`), {
      ...reading,
      ...list,
      detail: withErrors(list.detail, unavailable),
    })
    .get(COPY, (context) => forward(context, `${personOf(context)}/export`), {
      ...reading,
      detail: withErrors(copyDetail, { ...unreadable, ...notFound, ...unavailable }),
    })
    .delete(ONE, (context) => forward(context, personOf(context), true), {
      ownAgent: { scope: "write", kind: "data" },
      ...erase,
      detail: withErrors(erase.detail, { ...notFound, 409: "OPERATION_IN_PROGRESS", ...unavailable }),
    })
    .get(ERASURES, (context) => forward(context, `erasures${searchOf(context.request)}`), {
      ...reading,
      ...erasures,
      detail: withErrors(erasures.detail, unavailable),
    })
    .post(VERIFY, (context) => forward(context, "erasures/verify"), {
      ...reading,
      ...verify,
      detail: withErrors(verify.detail, { ...unreadableReceipt, ...unavailable }),
    });
}

const iso = (at: number) => new Date(at).toISOString();
const toPerson = ({ firstAt, lastAt, ...person }: AgentPerson): Static<typeof agentPeople>["people"][number] => ({
  ...person,
  firstAt: iso(firstAt),
  lastAt: iso(lastAt),
});
const toErasure = ({ id, startedAt, receipt }: PastErasure) => ({
  id,
  startedAt: iso(startedAt),
  receipt: receipt ?? null,
});

export function backendRoutes({ guards, people }: { guards: Guards; people: () => Promise<AgentPeople> }) {
  return new Elysia({ name: "privacy.backend" })
    .use(guards)
    .get(
      LIST,
      async ({ agent, query: { query = "", limit, offset } }) => {
        const page = { query, limit: readLimit(limit, 50, 100), offset: readOffset(offset) };
        const found = await (await people()).list(agent.id, page);
        return { people: found.people.map(toPerson), count: found.people.length, hasMore: found.hasMore };
      },
      { agentCall: READ, ...list },
    )
    .get(
      COPY,
      async ({ agent, params: { channel, personId } }) => {
        const archive = await (await people()).copy(agent.id, channel, personId);
        return new Response(Readable.toWeb(archive) as ReadableStream<Uint8Array>, {
          headers: {
            "content-type": "application/gzip",
            "content-disposition": 'attachment; filename="person.tar.gz"',
          },
        });
      },
      { agentCall: READ, detail: withErrors(copyDetail, { ...unreadable, ...notFound }) },
    )
    .delete(
      ONE,
      async ({ agent, params: { channel, personId } }) =>
        (await people()).erase(agent.id, channel, personId, currentActor()),
      {
        agentCall: { action: ERASE, scope: "write", changes: true },
        ...erase,
        detail: withErrors(erase.detail, notFound),
      },
    )
    .get(
      ERASURES,
      async ({ agent, query }) => {
        const limit = readLimit(query.limit, 50, 100);
        const range = { limit: limit + 1, offset: readOffset(query.offset), cursor: query.cursor };
        const { page, nextCursor } = cutPage(await (await people()).receipts(agent.id, range), limit, ({ id }) => id);
        return { erasures: page.map(toErasure), count: page.length, nextCursor };
      },
      { agentCall: READ, ...erasures },
    )
    .post(VERIFY, async ({ body: { receipt } }) => ({ genuine: (await people()).isGenuine(receipt) }), {
      agentCall: READ,
      ...verify,
      detail: withErrors(verify.detail, unreadableReceipt),
    });
}
