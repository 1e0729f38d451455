// Shows an agent's MCP servers to its owner: state, tools with their classes, and sign-ins.
import { SIGN_IN_MS } from "./connections/oauth-provider.ts";
import type { SignIn, SignInStore } from "./connections/sign-in-store.ts";
import type { McpService } from "./mcp-service.ts";
import type { ServerItem } from "./model.ts";
import type { ServerRecord, ServerStore } from "./server-store.ts";
import type { Target, Targets } from "./targets.ts";
import { type OfferedTool, offerTools } from "./tools/offered-tools.ts";
import { toolNameOf } from "./tools/tool-names.ts";

interface Deps {
  targets: Pick<Targets, "list" | "signInKey">;
  servers: Pick<ServerStore, "list">;
  signIns: Pick<SignInStore, "load">;
}

export interface ServerViews {
  /** Without the service, servers of which nothing is known are not looked at. */
  list(agentId: string, service?: Pick<McpService, "records">): Promise<ServerItem[]>;
}

export function createServerViews({ targets, servers, signIns }: Deps): ServerViews {
  async function records(agentId: string) {
    const known = new Map((await servers.list(agentId)).map((record) => [record.name, record]));
    return (await targets.list(agentId)).map((target) => {
      const record = known.get(target.name);
      return { target, record: record?.digest === target.key.digest ? record : undefined };
    });
  }
  const signInOf = async (target: Target) =>
    target.settings.url === undefined ? {} : signIns.load(targets.signInKey(target));

  return {
    async list(agentId, service) {
      const found = await (service ? service.records(agentId) : records(agentId));
      const listed = found.flatMap(({ target, record }) => (record ? [{ ...target, record }] : []));
      const offered = offerTools(listed);
      return Promise.all(
        found.map(async ({ target, record }) => {
          const tools = offered.get(target.name) ?? [];
          return toServerItem({ target, record, tools, signIn: await signInOf(target) });
        }),
      );
    },
  };
}

interface Known {
  target: Target;
  record: ServerRecord | undefined;
  tools: readonly OfferedTool[];
  signIn: SignIn;
}

const toServerItem = ({ target: { name }, record, tools, signIn }: Known): ServerItem => ({
  name,
  state: record?.state ?? "connecting",
  tools: tools.map(({ inputSchema: _, digest: __, omitted, changed, ...tool }) => ({
    ...tool,
    toolName: toolNameOf(name, tool.name),
    changed: changed ?? false,
    offered: omitted === undefined,
    reason: omitted ?? null,
  })),
  omitted: [...(record?.omitted ?? [])],
  lastError: record?.lastError ?? null,
  authorizeUrl: record?.state === "unauthorized" && isValid(signIn) ? (signIn.authorizeUrl ?? null) : null,
  signedIn: signIn.tokens !== undefined,
  checkedAt: record ? new Date(record.checkedAt).toISOString() : null,
});

const isValid = ({ startedAt = 0 }: SignIn) => startedAt + SIGN_IN_MS > Date.now();
