// Routes on both surfaces that list the requests for approval of an agent, and decide them.
import { Elysia, type Static } from "elysia";
import type { BackendTransport } from "../../src/kernel/http/backend/backend-transport.ts";
import { forwardToBackend } from "../../src/kernel/http/backend/forward-to-backend.ts";
import { documentErrors } from "../../src/kernel/http/openapi/route-documentation.ts";
import { cutPage, readLimit, readOffset } from "../../src/kernel/http/paging.ts";
import type { ServiceOf } from "../../src/kernel/plugin.ts";
import type { agents as agentsPlugin } from "../agents/index.ts";
import type { auth } from "../auth/index.ts";
import { toApprovalItem } from "./approval-item.ts";
import type { ApprovalPage, ApprovalStore } from "./approval-store.ts";
import type { Decisions } from "./decisions.ts";
import { approvalItem, approvalList, approvalQuery, decisionBody } from "./model.ts";
import type { Approval } from "./schema.ts";

interface Deps {
  decisions: Pick<Decisions, "decide" | "scopesOf">;
  guards: ServiceOf<typeof agentsPlugin>["guards"];
  store: ApprovalStore;
}

interface WebDeps extends Deps {
  backend: BackendTransport;
  identities: Pick<ServiceOf<typeof auth>["identities"], "createGrant" | "guards">;
}

const ACTION = "agent.approve";
const LIST = "/api/agents/:id/approvals";
const DECIDE = `${LIST}/:approvalId`;
const tags = ["Approvals"];

const listDetail = {
  tags,
  summary: "Tool calls that need the owner's approval, newest first",
  description:
    "Calls that spend or have an effect outside wait for the owner's approval, unless the configuration says otherwise; once " +
    "other people's words or content from outside (a web page, a file, an imported memory) are in a conversation, also those " +
    "that change something. Their turn is suspended until then.",
};
const decision = {
  body: decisionBody,
  response: { 200: approvalItem },
  detail: {
    tags,
    summary: "Approve or deny a tool call",
    operationId: "decideApproval",
    description:
      "The turn goes on with the result, or with the refusal, as soon as all its requests are decided. `input` takes the place " +
      "of the call's input. The scope `conversation` admits every call of the tool in this conversation for 24 hours (classes " +
      "`read` and `write`); `always` writes a rule into the configuration: `allow`, or `deny` (every class but `spend` for `allow`).",
    ...documentErrors({
      400: ["SCOPE_NOT_ALLOWED"],
      404: ["AGENT_NOT_FOUND", "APPROVAL_NOT_FOUND"],
      409: "ALREADY_DECIDED",
      410: "EXPIRED",
    }),
  },
};

type Query = Static<typeof approvalQuery>;

/** Asks for one more than the page has, which shows whether another page follows. */
const readPage = ({ limit, offset, cursor, status }: Query): ApprovalPage => ({
  limit: readLimit(limit, 50, 100) + 1,
  offset: readOffset(offset),
  ...(cursor !== undefined && { cursor }),
  ...(status && { status }),
});

type Viewer = Pick<Deps, "store" | "decisions">;

const toItem = async ({ store, decisions }: Viewer, approval: Approval) =>
  toApprovalItem(approval, { ...store.unredacted(approval), scopes: await decisions.scopesOf(approval) });

async function toList(viewer: Viewer, query: Query, read: (page: ApprovalPage) => Promise<Approval[]>) {
  const asked = readPage(query);
  const { page, nextCursor } = cutPage(await read(asked), asked.limit - 1, ({ id }) => id);
  const approvals = await Promise.all(page.map((approval) => toItem(viewer, approval)));
  return { approvals, count: approvals.length, nextCursor };
}

const createListHandler =
  (viewer: Viewer) =>
  ({ agent, query }: { agent: { id: string }; query: Query }) =>
    toList(viewer, query, (page) => viewer.store.list(agent.id, page));

export const webRoutes = ({ backend, identities, guards, store, decisions }: WebDeps) =>
  new Elysia({ name: "approvals.web" })
    .use(identities.guards)
    .use(guards)
    .get(
      "/api/approvals",
      ({ identity, query }) => toList({ store, decisions }, query, (page) => store.listOfUser(identity.user.id, page)),
      {
        signedIn: "read",
        query: approvalQuery,
        response: { 200: approvalList },
        detail: { ...listDetail, summary: "Tool calls of all the caller's agents that need approval, newest first" },
      },
    )
    .get(LIST, createListHandler({ store, decisions }), {
      ownAgent: { scope: "read", kind: "data" },
      query: approvalQuery,
      response: { 200: approvalList },
      detail: listDetail,
    })
    .post(
      DECIDE,
      ({ agent, identity, request, params: { approvalId } }) => {
        const grant = identities.createGrant(identity, request, ACTION, agent.id);
        const path = `/api/agents/${agent.id}/approvals/${encodeURIComponent(approvalId)}`;
        return forwardToBackend(backend, grant, request, path);
      },
      {
        ownAgent: { scope: "write", kind: "data" },
        ...decision,
        detail: {
          ...decision.detail,
          "x-errors": { ...decision.detail["x-errors"], 502: ["BACKEND_UNAVAILABLE"] },
        },
      },
    );

export const backendRoutes = ({ guards, store, decisions }: Deps) =>
  new Elysia({ name: "approvals.backend" })
    .use(guards)
    .get(LIST, createListHandler({ store, decisions }), {
      agentCall: "agent.read",
      query: approvalQuery,
      response: { 200: approvalList },
      detail: listDetail,
    })
    .post(
      DECIDE,
      async ({ agent, body: { edit, input = edit, ...body }, params }) => {
        const decided = await decisions.decide(agent, params.approvalId, { ...body, input }, "web");
        return toItem({ store, decisions }, decided);
      },
      {
        agentCall: { action: ACTION, scope: "write" },
        ...decision,
      },
    );
