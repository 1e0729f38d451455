// Defines the schemas of requests and responses about approvals. The console takes its types from here, so this file imports
// nothing of the server.
import { t } from "elysia";
import { cursor, nextCursor } from "../../src/kernel/http/body/response-types.ts";

const time = (description: string) => t.String({ description: `ISO 8601. ${description}` });
const nullable = <Schema extends Parameters<typeof t.Union>[0][number]>(schema: Schema) => t.Union([schema, t.Null()]);

const STATES = [t.Literal("pending"), t.Literal("approved"), t.Literal("denied"), t.Literal("expired")] as const;
const STATUS_ERROR = "The status is one of: pending, approved, denied, expired.";
const status = t.Union([...STATES], { error: STATUS_ERROR });
const scope = t.Union([t.Literal("once"), t.Literal("conversation"), t.Literal("always")], {
  error: "The scope is once, conversation or always.",
});

export const approvalItem = t.Object(
  {
    id: t.String(),
    agentId: t.String(),
    turnId: t.String({ description: "The message in whose turn the tool was called" }),
    tool: t.String(),
    class: t.Union([t.Literal("read"), t.Literal("write"), t.Literal("spend"), t.Literal("outside")]),
    summary: t.String({ description: "The call in words" }),
    input: t.Unknown({
      description: "The input of the call. Once it is decided, secrets are blacked out here and in `summary`",
    }),
    influence: t.Union([t.Literal("none"), t.Literal("people"), t.Literal("outside")], {
      description:
        "What the agent had read before the call: `none` but your own words, words of other `people`, or content from `outside` " +
        "(a page, a file, a tool's result, an imported text), which may have led it to the call",
    }),
    status,
    scopes: t.Array(scope, {
      description: "The scopes with which it can be approved; none once it is decided",
      examples: [["once", "conversation"]],
    }),
    scope: nullable(scope),
    requestedAt: time("When the tool was called"),
    expiresAt: time("Until then the request can be decided, or a grant for the conversation be used"),
    decidedAt: nullable(time("When the owner decided")),
    decidedBy: nullable(t.String({ description: "The id of the user who decided" })),
    decidedOn: nullable(t.String({ description: "Where the owner decided: `web`, or a channel" })),
    usedAt: nullable(time("When the approved call began")),
    platform: t.String({ description: "Where the conversation is held" }),
  },
  { title: "Approval" },
);

export const approvalList = t.Object({
  approvals: t.Array(approvalItem),
  count: t.Integer(),
  nextCursor,
});

export const approvalQuery = t.Object({
  status: t.Optional(t.Union([...STATES], { description: "Only requests in this state", error: STATUS_ERROR })),
  limit: t.Optional(t.String({ description: "1 to 100, default 50" })),
  offset: t.Optional(t.String({ description: "Requests to skip, default 0" })),
  cursor,
});

export const decisionBody = t.Object({
  decision: t.Union([t.Literal("approve"), t.Literal("deny")], { error: "The decision is approve or deny." }),
  scope: t.Optional(scope),
  input: t.Optional(t.Unknown({ description: "With `approve`: the input that takes the place of the call's" })),
  edit: t.Optional(t.Unknown({ description: "Another name of `input`" })),
});
