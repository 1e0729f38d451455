// Connects agents to their MCP servers: calls, the list of tools, tests, and sign-ins.
import type { Client, RequestOptions } from "@modelcontextprotocol/client";
import { AppError, notFound } from "../../src/kernel/errors.ts";
import type { Kernel, ServiceOf } from "../../src/kernel/plugin.ts";
import { createSemaphore } from "../../src/kernel/util/semaphore.ts";
import { MINUTE, SECOND } from "../../src/kernel/util/time.ts";
import type { agents as agentsPlugin } from "../agents/index.ts";
import { toolDeclined, wrapUntrusted } from "../skills/index.ts";
import { type Connection, openConnection } from "./connections/connection.ts";
import { type Connections, unreachable } from "./connections/connections.ts";
import { describeFailure, type Failure } from "./connections/failures.ts";
import type { SignInStore } from "./connections/sign-in-store.ts";
import type { ServerRecord, ServerStore } from "./server-store.ts";
import { createSignInFlow } from "./sign-in-flow.ts";
import type { Target, Targets } from "./targets.ts";
import { GET_PROMPT, READ_RESOURCE } from "./tools/offered-tools.ts";
import { toToolList } from "./tools/tool-list.ts";

/** Of one call of a tool, beside the time to connect. */
export const CALL_TIMEOUT_MS = 45 * SECOND;
const LIST_TIMEOUT_MS = 10 * SECOND;
/** Servers that are looked at in the background at the same time, over all agents. */
const MAX_CHECKS = 4;
/** A server that does not work is looked at again by a turn after this time. */
const RECHECK_MS = MINUTE;
/** A server that says all the time that its tools have changed is heard this often. */
const MIN_REFRESH_MS = 10 * SECOND;

export interface McpService {
  /** What is known of a server's tools and state; looks at servers in the background of which nothing is known. */
  records(agentId: string): Promise<{ target: Target; record: ServerRecord | undefined }[]>;
  /** Connects now, and lists the tools. Resolves with what was found, also for failures. */
  check(target: Target, isForced: boolean): Promise<ServerRecord>;
  /** Looks at a server in the background, if nothing is known of it or it did not work a minute ago. */
  checkLater(target: Target, record: ServerRecord | undefined): void;
  /** Runs a request of a turn. Throws errors that are written for the model. */
  call<Result>(
    agentId: string,
    name: string,
    request: (client: Client, options: RequestOptions) => Promise<Result>,
    signal: AbortSignal,
  ): Promise<Result>;
  /** Ends the sign-in that `parameters` (of the redirect, RFC 6749) belong to. Throws 400 `MCP_SIGN_IN_FAILED`. */
  finishSignIn(agentId: string, name: string, parameters: URLSearchParams): Promise<ServerRecord>;
  forgetSignIn(agentId: string, name: string): Promise<void>;
  /** Takes a changed tool for what it is now. Throws 404 `MCP_TOOL_NOT_FOUND`. */
  acceptChange(agentId: string, name: string, tool: string): Promise<ServerRecord>;
}

interface Deps extends Pick<Kernel, "database" | "events" | "outbound" | "log"> {
  agents: Pick<ServiceOf<typeof agentsPlugin>, "find" | "log">;
  targets: Targets;
  servers: ServerStore;
  signIns: SignInStore;
  connections: Connections;
  /** Called when the tools of an agent have changed. */
  onTools(agentId: string): void;
}

export function createMcpService(deps: Deps): McpService {
  const { database, events, outbound, log, agents, targets, servers, signIns, connections, onTools } = deps;
  const signInFlow = createSignInFlow(deps);
  const checks = createSemaphore(MAX_CHECKS);
  const checking = new Set<string>();
  const recordOf = async ({ key }: Target) => {
    const record = await servers.find(key.agentId, key.name);
    return record?.digest === key.digest ? record : undefined;
  };

  const open = (target: Target, era: string | null, secrets: Set<string>) => async (onClose: () => void) => {
    const resolved = await targets.resolve(target);
    const { server } = resolved;
    let refreshedAt = 0;
    const onToolsChanged = () => {
      if (Date.now() - refreshedAt < MIN_REFRESH_MS) return;
      refreshedAt = Date.now();
      void inBackground(target);
    };
    try {
      return await openConnection({ server, era, outbound, onToolsChanged, onClose });
    } finally {
      for (const secret of resolved.secrets()) secrets.add(secret);
    }
  };

  async function inBackground(target: Target): Promise<void> {
    const id = `${target.key.agentId}\n${target.name}`;
    if (checking.has(id)) return;
    checking.add(id);
    try {
      await checks.run(() => check(target, false));
    } catch (error) {
      log.error("an MCP server could not be checked", { agentId: target.key.agentId, error });
    } finally {
      checking.delete(id);
    }
  }

  /** Stores what was found, and tells the owner and the tools' cache if it is something new. */
  async function save(target: Target, former: ServerRecord | undefined, record: ServerRecord): Promise<ServerRecord> {
    const { agentId } = target.key;
    const agent = await agents.find(agentId);
    const isNewState = former?.state !== record.state || former.lastError !== record.lastError;
    const hasNewTools = JSON.stringify(former?.tools ?? []) !== JSON.stringify(record.tools);
    const data = { agentId, name: record.name, state: record.state, tools: record.tools.length };
    const isNews = isNewState || hasNewTools;
    await database.write([
      servers.saveStatement(agentId, record),
      ...(isNews ? [events.recordStatement("mcp.state", { userId: agent?.userId, agentId, data })] : []),
    ]);
    if (isNews || former?.hasResources !== record.hasResources || former.hasPrompts !== record.hasPrompts) {
      onTools(agentId);
    }
    if (isNewState) logState(agentId, former, record);
    return record;
  }

  /** The first list of a server's tools shows names of the configuration that it does not have. */
  function warnOfUnknownTools({ key: { agentId }, name, settings }: Target, record: Pick<ServerRecord, "tools">): void {
    const known = new Set([...record.tools.map((tool) => tool.name), READ_RESOURCE, GET_PROMPT]);
    const unknown = [...(settings.tools ?? []), ...(settings.reads ?? [])].filter((tool) => !known.has(tool));
    for (const tool of new Set(unknown)) {
      const text = `The MCP server ${name} has no tool ${JSON.stringify(tool)}, which the configuration names. It has: ${listOf(record)}.`;
      agents.log(agentId, "warning", text, "mcp", { server: name });
    }
  }

  function logState(agentId: string, former: ServerRecord | undefined, { name, state, lastError }: ServerRecord): void {
    const links = { server: name };
    if (state !== "connected") {
      agents.log(agentId, "warning", `The MCP server ${name} does not work: ${lastError}`, "mcp", links);
    } else if (former) agents.log(agentId, "info", `The MCP server ${name} works again.`, "mcp", links);
    else agents.log(agentId, "info", `The MCP server ${name} is connected.`, "mcp", links);
  }

  async function saveFailure(
    target: Target,
    former: ServerRecord | undefined,
    { kind, reason, missing }: Failure,
  ): Promise<ServerRecord> {
    if (missing) await signInFlow.begin(target, missing);
    return save(target, former, {
      ...(former ?? EMPTY),
      name: target.name,
      digest: target.key.digest,
      state: kind === "unauthorized" ? "unauthorized" : "failed",
      lastError: reason,
      checkedAt: Date.now(),
    });
  }

  async function check(target: Target, isForced: boolean): Promise<ServerRecord> {
    const former = await recordOf(target);
    const secrets = new Set<string>();
    if (isForced) await connections.close(target.key.agentId, target.name);
    try {
      const found = await connections.use(
        target.key,
        open(target, isForced ? null : (former?.era ?? null), secrets),
        ({ client }) => readServer(client, target, former),
        isForced,
      );
      const record = { ...found, name: target.name, digest: target.key.digest };
      for (const { name, changed } of record.tools) {
        const isNew = changed && !former?.tools.some((tool) => tool.name === name && tool.changed);
        if (!isNew || !isVouchedFor(target.settings, name)) continue;
        const isKnown = former?.tools.some((tool) => tool.name === name);
        const text = isKnown
          ? `The MCP server ${target.name} has changed its tool ${JSON.stringify(name)}: it asks again until you look at it.`
          : `The MCP server ${target.name} has a new tool ${JSON.stringify(name)}: it asks until you look at it.`;
        agents.log(target.key.agentId, "warning", text, "mcp", { server: target.name });
      }
      if (former?.listedAt == null) warnOfUnknownTools(target, record);
      return await save(target, former, record);
    } catch (error) {
      if (error instanceof AppError && error.code === "MCP_UNREACHABLE" && former) return former;
      return saveFailure(target, former, await describeFailure(error, secrets));
    }
  }

  async function call<Result>(
    agentId: string,
    name: string,
    request: (client: Client, options: RequestOptions) => Promise<Result>,
    signal: AbortSignal,
  ): Promise<Result> {
    const target = await targets.require(agentId, name);
    const former = await recordOf(target);
    // Another attempt would end the sign-in that the owner may be at.
    if (former?.state === "unauthorized" && (await signIns.load(targets.signInKey(target))).tokens === undefined) {
      throw signInNeeded(name);
    }
    const secrets = new Set<string>();
    const options = { signal, timeout: CALL_TIMEOUT_MS, maxTotalTimeout: CALL_TIMEOUT_MS };
    for (let isRepeated = false; ; isRepeated = true) {
      let used: Connection | undefined;
      try {
        const result = await connections.use(target.key, open(target, former?.era ?? null, secrets), (connection) => {
          used = connection;
          return request(connection.client, options);
        });
        if (former && former.state !== "connected") void inBackground(target);
        return result;
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof AppError && error.code === "MCP_UNREACHABLE") throw error;
        const failure = await describeFailure(error, secrets);
        const { kind, reason, isUnsent = false } = failure;
        if (used && kind === "refused") throw toolDeclined(wrapUntrusted(name, reason));
        if (used && failure.isTooLarge) {
          await connections.drop(target.key, used);
          throw toolDeclined(tooLarge(name));
        }
        if (used && kind === "gone" && !isRepeated) {
          // A server that was started anew does not know the session, and so has not served the request.
          await connections.drop(target.key, used);
          continue;
        }
        if (used && kind !== "unauthorized") await connections.drop(target.key, used, reason);
        await saveFailure(target, former, failure);
        if (kind === "unauthorized") throw signInNeeded(name);
        // Not the reason, which may quote the server.
        const isUnknown = used !== undefined && kind === "unreachable" && !isUnsent;
        throw unreachable(
          isUnknown ? outcomeUnknown(name) : `The MCP server ${name} can't be reached right now.`,
          error,
        );
      }
    }
  }

  async function readServer(client: Client, { settings }: Target, former: ServerRecord | undefined) {
    const capabilities = client.getServerCapabilities() ?? {};
    const listed = capabilities.tools ? (await client.listTools(undefined, { timeout: LIST_TIMEOUT_MS })).tools : [];
    return {
      // A list that was never read is no former one.
      ...toToolList(listed, former?.listedAt == null ? undefined : former.tools, (name) =>
        isVouchedFor(settings, name),
      ),
      state: "connected" as const,
      lastError: null,
      version: String(client.getServerVersion()?.version ?? "").slice(0, 40),
      era: client.getProtocolEra() ?? null,
      hasResources: capabilities.resources !== undefined,
      hasPrompts: capabilities.prompts !== undefined,
      listedAt: Date.now(),
      checkedAt: Date.now(),
    };
  }

  return {
    async records(agentId) {
      const wanted = await targets.list(agentId);
      if (wanted.length === 0) return [];
      const known = new Map((await servers.list(agentId)).map((record) => [record.name, record]));
      return wanted.map((target) => {
        const found = known.get(target.name);
        const record = found?.digest === target.key.digest ? found : undefined;
        if (!record) void inBackground(target);
        return { target, record };
      });
    },
    check,
    checkLater(target, record) {
      if (record && (record.state !== "failed" || record.checkedAt + RECHECK_MS > Date.now())) return;
      void inBackground(target);
    },
    call,

    finishSignIn: async (agentId, name, parameters) => check(await signInFlow.finish(agentId, name, parameters), true),

    async forgetSignIn(agentId, name) {
      await database.write([signIns.forgetStatement(agentId, name)]);
      await connections.close(agentId, name);
      const target = await targets.require(agentId, name);
      await check(target, true);
    },

    async acceptChange(agentId, name, tool) {
      const target = await targets.require(agentId, name);
      const record = await recordOf(target);
      if (!record?.tools.some((one) => one.name === tool)) {
        throw notFound("This server has no such tool.", "MCP_TOOL_NOT_FOUND");
      }
      const tools = record.tools.map(({ changed, ...one }) =>
        changed && one.name !== tool ? { ...one, changed } : one,
      );
      return save(target, record, { ...record, tools });
    },
  };
}

const EMPTY = {
  version: "",
  era: null,
  tools: [],
  omitted: [],
  hasResources: false,
  hasPrompts: false,
  listedAt: null,
} as const;

/** Whether the configuration says something of this tool that holds only for what the owner has seen of it. */
const isVouchedFor = ({ reads, trusted }: Target["settings"], tool: string) =>
  trusted === true || (reads?.includes(tool) ?? false);

const MAX_LISTED = 20;
const listOf = ({ tools }: Pick<ServerRecord, "tools">) =>
  tools
    .slice(0, MAX_LISTED)
    .map(({ name }) => name)
    .join(", ") || "none";

const tooLarge = (name: string) =>
  `The MCP server ${name} has done it, and its answer is larger than 4 MB, so it was not read. Ask for less of it.`;
const outcomeUnknown = (name: string) =>
  `The MCP server ${name} has not answered. Whether it has done what was asked is not known.`;
const signInNeeded = (name: string) =>
  toolDeclined(`The owner has to sign in to the MCP server ${name} first, on the agent's page Skills.`);
