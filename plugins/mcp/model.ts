// Defines the schemas of responses about MCP servers.
import { type Static, t } from "elysia";

const nullable = <Schema extends Parameters<typeof t.Union>[0][number]>(schema: Schema) => t.Union([schema, t.Null()]);

const toolItem = t.Object(
  {
    name: t.String({ description: "As the server calls it" }),
    toolName: t.String({ description: "As the model calls it, and as `approvals` name it" }),
    description: t.String({ description: "Written by the server: untrusted" }),
    class: t.Union([t.Literal("read"), t.Literal("write"), t.Literal("spend"), t.Literal("outside")], {
      description: "`read` only if the configuration's `reads` names it",
    }),
    readOnly: t.Boolean({ description: "The server says that it changes nothing" }),
    destructive: t.Boolean({ description: "The server says that it deletes or overwrites" }),
    changed: t.Boolean({ description: "The server has changed it since it was first listed" }),
    offered: t.Boolean({ description: "The model gets it" }),
    reason: nullable(t.String({ description: "Why the model does not get it" })),
  },
  { title: "McpTool" },
);

export const serverItem = t.Object(
  {
    name: t.String(),
    state: t.Union([t.Literal("connected"), t.Literal("connecting"), t.Literal("unauthorized"), t.Literal("failed")], {
      description:
        "What the last connection found; connecting: nothing is known yet. Connections are opened when they are needed",
    }),
    tools: t.Array(toolItem),
    omitted: t.Array(t.Object({ name: t.String(), reason: t.String() }, { title: "OmittedTool" }), {
      description: "Tools of the server that can't be used",
    }),
    lastError: nullable(t.String({ description: "May quote the server: untrusted" })),
    authorizeUrl: nullable(t.String({ description: "Where the owner signs in; valid for ten minutes after a test" })),
    signedIn: t.Boolean({ description: "The owner has signed in, and the agent uses that" }),
    checkedAt: nullable(t.String({ description: "ISO 8601" })),
  },
  { title: "McpServerState" },
);
export type ServerItem = Static<typeof serverItem>;
export type ToolItem = Static<typeof toolItem>;

export const serverList = t.Object({
  servers: t.Array(serverItem),
  count: t.Integer(),
  commands: t.Array(
    t.Object({
      name: t.String(),
      args: t.Boolean({ description: "The configuration chooses the arguments" }),
    }),
    { description: "The commands that the operator allows" },
  ),
});
export const removedResponse = t.Object({ success: t.Boolean(), name: t.String() });
/** RFC 7591, Client Metadata. */
export const clientDocument = t.Object({
  client_id: t.String(),
  client_name: t.String(),
  redirect_uris: t.Array(t.String()),
  grant_types: t.Array(t.String()),
  response_types: t.Array(t.String()),
  token_endpoint_auth_method: t.String(),
});
export const callbackBody = t.Object({ search: t.String({ maxLength: 16_384 }) });
