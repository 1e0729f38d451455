// Wire types of agents and the views that fill them. They are written by hand, so that a new column is never sent by
// default.
import { type Static, t } from "elysia";
import type { Config } from "../../src/kernel/config/config.ts";
import { integer } from "../../src/kernel/http/body/response-types.ts";
import { readLimit } from "../../src/kernel/http/paging.ts";
import type { Agent, AgentStore } from "./agent-store.ts";
import { configErrors, configField, warningsField } from "./configuration/config-response.ts";
import type { ConfigVersion } from "./configuration/config-store.ts";
import { isFrozen } from "./freezing.ts";
import { logLinks } from "./logs/log-links.ts";
import type { LogLine } from "./logs/log-store.ts";
import { MODEL_CHOICES } from "./model-choices.ts";

const model = t.Union([t.Literal("model_a"), t.Literal("model_b"), t.Literal("custom")]);
const status = t.Union([t.Literal("running"), t.Literal("active"), t.Literal("stopped"), t.Literal("error")]);
const time = (description = "ISO 8601") => t.String({ description });
const nullable = <Schema extends Parameters<typeof t.Union>[0][number]>(schema: Schema) => t.Union([schema, t.Null()]);

const agentName = t.String({ description: "1 to 64 characters after trimming", error: "Give the agent a name." });
const modelChoice = t.Optional(
  t.String({ description: MODEL_CHOICES.join(", "), error: `The model is one of: ${MODEL_CHOICES.join(", ")}.` }),
);

export const createProvisionBody = () =>
  t.Object({
    name: agentName,
    model: modelChoice,
    config: configField(),
    template: t.Optional(
      t.String({
        description:
          "The id of one of GET /api/templates, in the language of `Accept-Language`; `config` is merged over it",
        error: "The template is the id of one of GET /api/templates.",
      }),
    ),
    tier: t.Optional(t.String({ description: "A hint: starter, pro or enterprise", error: "The tier is text." })),
  });

/** Fields that are left out stay as they are. */
export const createChangeBody = () =>
  t.Object({
    name: t.Optional(agentName),
    model: modelChoice,
    config: configField(),
    configVersion: t.Optional(
      t.Number({
        multipleOf: 1,
        minimum: 0,
        description: "The version of the configuration that `config` was made from: 409 if another one is in force",
        error: "This must be the number of the version that you changed.",
      }),
    ),
  });

export const provisionedResponse = t.Object({
  success: t.Literal(true),
  agent: t.Object(
    {
      id: t.String(),
      name: t.String(),
      status,
      websocketUrl: t.String(),
      model,
      createdAt: time(),
    },
    { title: "NewAgent" },
  ),
  warnings: warningsField,
});

/** The error codes of provisioning by status, for the API document. */
export const provisioningErrors = {
  400: [...configErrors[400], "UNKNOWN_TEMPLATE"],
  402: "SUBSCRIPTION_REQUIRED",
  429: "AGENT_LIMIT_REACHED",
};

export const agentItem = t.Object(
  {
    id: t.String(),
    name: t.String(),
    model,
    status,
    websocketUrl: t.String({ description: "The agent's gateway, by its id" }),
    createdAt: time(),
    updatedAt: time(),
  },
  { title: "Agent" },
);

/** More agents than any plan has, so that only admins ever turn a page. */
const LISTED = { fallback: 100, max: 500 };
export const agentListQuery = t.Object({
  limit: t.Optional(t.String({ description: `Default ${LISTED.fallback}, at most ${LISTED.max}` })),
  cursor: t.Optional(t.String({ maxLength: 100, description: "`nextCursor` of the previous page" })),
});
const listed = {
  agents: t.Array(agentItem),
  count: integer({ description: "Agents of this page" }),
  nextCursor: t.Optional(t.String({ description: "For the next page, if there is one" })),
};
export const agentListResponse = t.Object({ ...listed, status: t.Literal("ok") });
export const provisionedListResponse = t.Object({ success: t.Literal(true), ...listed });

/** A page of a user's agents for a list. */
export async function listAgents(
  agents: Pick<AgentStore, "page">,
  { item }: Pick<Views, "item">,
  userId: string,
  query: Static<typeof agentListQuery>,
) {
  const limit = readLimit(query.limit, LISTED.fallback, LISTED.max);
  const found = await agents.page(userId, { limit: limit + 1, cursor: query.cursor });
  const items = found.slice(0, limit).map(item);
  const last = found.length > limit ? items.at(-1) : undefined;
  return { agents: items, count: items.length, ...(last && { nextCursor: last.id }) };
}

export const agentDetail = t.Object(
  {
    id: t.String(),
    name: t.String(),
    model,
    status,
    statusReason: nullable(t.String()),
    frozen: nullable(
      t.Object(
        {
          reason: t.String({ description: "What the operator wrote" }),
          account: t.Boolean({ description: "With its owner's account" }),
        },
        {
          description: "Of an agent that an admin has paused: it answers nowhere, and only an admin can start it again",
        },
      ),
    ),
    startedAt: nullable(time()),
    plan: t.String({ description: "The owner's plan" }),
    subdomain: t.String(),
    url: t.String({ description: "The agent's public address" }),
    runtimeVersion: t.String(),
    verified: t.Boolean(),
    verificationType: nullable(t.String()),
    attestationUid: nullable(t.String()),
    verifiedAt: nullable(time()),
  },
  { title: "AgentDetail" },
);

/** The error codes of a change by status, for the API document. */
export const changeErrors = { 400: configErrors[400], 409: [configErrors[409], "CONFIG_CHANGED"] };

export const agentResponse = t.Object({ agent: agentDetail, status: t.Literal("ok") });
export const changedResponse = t.Object({
  agent: agentDetail,
  status: t.Literal("updated"),
  warnings: warningsField,
});

export const configVersionsResponse = t.Object({
  versions: t.Array(
    t.Object({
      version: integer(),
      bytes: integer(),
      savedAt: time(),
      current: t.Boolean({ description: "The one in force" }),
      imported: t.Boolean({
        description:
          "It came in an imported file. While it is in force, calls of tools that change, send or spend need approval",
      }),
    }),
  ),
  count: integer(),
});
export const restoreConfigBody = t.Object({
  version: t.Number({ multipleOf: 1, minimum: 1, error: "Give the number of a version that is kept." }),
});

export const deletedResponse = t.Object({ success: t.Literal(true), id: t.String(), deleted: t.Literal(true) });

export const logsQuery = t.Object({
  limit: t.Optional(t.String({ description: "1 to 100, default 50" })),
  level: t.Optional(t.String({ description: "debug, info, warning or error" })),
  before: t.Optional(t.String({ description: "The id of a line: the lines before it", examples: [""] })),
  follow: t.Optional(
    t.String({
      description: "`1`, with `Accept: text/event-stream`: streams lines as they are written",
      examples: ["1"],
    }),
  ),
  lastEventId: t.Optional(
    t.String({ description: "As the header `Last-Event-ID`: the stream begins after this line", examples: [""] }),
  ),
});

export const logLine = t.Object(
  {
    id: t.String(),
    timestamp: time(),
    level: t.String(),
    message: t.String(),
    source: t.String(),
    agentId: t.String(),
    links: logLinks,
  },
  { title: "LogLine" },
);

export const logsResponse = t.Object({
  logs: t.Array(logLine),
  total: integer({ description: "All stored lines that match, not only those returned" }),
  limit: integer(),
  status: t.Literal("ok"),
});

const iso = (at: number) => new Date(at).toISOString();
const isoOrNull = (at: number | null) => (at === null ? null : iso(at));

/** Makes the views of agents, with addresses from this installation's configuration. */
export function createViews({ baseUrl, agentsDomain, sources }: Pick<Config, "baseUrl" | "agentsDomain" | "sources">) {
  const base = new URL(baseUrl);
  const gateway = `${base.protocol === "https:" ? "wss" : "ws"}://${base.host}/agent/`;
  // Subdomains need a DNS entry, which only an operator who has set the domain is sure to have.
  const ownDomain = sources.AGENTS_DOMAIN !== "default";

  const websocketUrl = (id: string) => `${gateway}${id}`;
  const publicUrl = (subdomain: string) =>
    ownDomain ? `${base.protocol}//${subdomain}.${agentsDomain}` : `${base.origin}/a/${subdomain}`;

  return {
    publicUrl,
    item: ({ id, name, model, status, createdAt, updatedAt }: Agent): Static<typeof agentItem> => ({
      id,
      name,
      model,
      status,
      websocketUrl: websocketUrl(id),
      createdAt: iso(createdAt),
      updatedAt: iso(updatedAt),
    }),
    provisionedResponse: ({ id, name, status, model, createdAt }: Agent): Static<typeof provisionedResponse> => ({
      success: true,
      agent: { id, name, status, websocketUrl: websocketUrl(id), model, createdAt: iso(createdAt) },
    }),
    detail: (agent: Agent, plan: string): Static<typeof agentDetail> => ({
      id: agent.id,
      name: agent.name,
      model: agent.model,
      status: agent.status,
      statusReason: agent.statusReason,
      frozen: isFrozen(agent) ? { reason: agent.statusReason ?? "", account: agent.frozenAt === null } : null,
      startedAt: isoOrNull(agent.startedAt),
      plan,
      subdomain: agent.subdomain,
      url: publicUrl(agent.subdomain),
      runtimeVersion: agent.runtimeVersion,
      verified: agent.verified,
      verificationType: agent.verificationType,
      attestationUid: agent.attestationUid,
      verifiedAt: isoOrNull(agent.verifiedAt),
    }),
    versions: (versions: readonly ConfigVersion[]): Static<typeof configVersionsResponse> => ({
      versions: versions.map(({ version, bytes, savedAt, imported }, index) => ({
        version,
        bytes,
        savedAt: iso(savedAt),
        current: index === 0,
        imported,
      })),
      count: versions.length,
    }),
    line: ({
      id,
      at,
      level,
      message,
      source,
      agentId,
      links,
    }: LogLine): Static<typeof logsResponse>["logs"][number] => ({
      id,
      timestamp: iso(at),
      level,
      message,
      source,
      agentId,
      links,
    }),
  };
}

export type Views = ReturnType<typeof createViews>;
