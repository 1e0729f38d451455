// Searches the web with the key of the agent or its owner, else with the operator's, up to a limit by day.
import { AppError } from "../../src/kernel/errors.ts";
import type { Kernel, ServiceOf } from "../../src/kernel/plugin.ts";
import type { Outbound, OutboundResponse } from "../../src/kernel/security/outbound.ts";
import { DAY, SECOND } from "../../src/kernel/util/time.ts";
import type { agents as agentsPlugin } from "../agents/index.ts";
import { toolDeclined } from "../skills/index.ts";
import type { Query, SearchProvider, SearchResult } from "./providers/provider.ts";

interface Deps extends Pick<Kernel, "database" | "log"> {
  credentials: Pick<ServiceOf<typeof agentsPlugin>["credentials"], "open">;
  providers: readonly SearchProvider[];
  /** The operator's keys and addresses, by the id of the provider. */
  operatorAccess: Readonly<Record<string, string | undefined>>;
  /** For addresses that owners give, and those of providers. */
  outbound: Pick<Outbound, "fetch">;
  /** For addresses that the operator gives, which may be private. */
  operatorOutbound: Pick<Outbound, "fetch">;
  searchesPerDay: number;
  now(): number;
}

/** A provider with the key or address for it, and who gave that. */
interface Access {
  provider: SearchProvider;
  access: string;
  from: "agent" | "operator";
}

const TIMEOUT_MS = 10 * SECOND;
const MAX_BYTES = 1_048_576;
/** Nothing is stored of a search but that there was one. */
const COUNT = `INSERT INTO web_searches (agent_id, day, count) SELECT id, ?2, 1 FROM agents WHERE id = ?1
  ON CONFLICT (agent_id) DO UPDATE SET day = excluded.day,
    count = CASE WHEN day = excluded.day THEN count + 1 ELSE 1 END WHERE day <> excluded.day OR count < ?3`;

export type SearchService = ReturnType<typeof createSearchService>;

export function createSearchService(deps: Deps) {
  const { database, log, credentials, providers, operatorAccess, searchesPerDay } = deps;
  const today = () => Math.floor(deps.now() / DAY);

  async function accessOf(provider: SearchProvider, agentId: string): Promise<Access | undefined> {
    const own = agentId === "" ? undefined : await credentials.open(agentId, provider.credential);
    if (own !== undefined) return { provider, access: own, from: "agent" };
    const access = operatorAccess[provider.id];
    return access === undefined ? undefined : { provider, access, from: "operator" };
  }

  /** What the agent's owner has set up comes before what the operator has. */
  async function accessFor(agentId: string): Promise<Access | undefined> {
    const all = await Promise.all(providers.map((provider) => accessOf(provider, agentId)));
    return all.find((one) => one?.from === "agent") ?? all.find((one) => one !== undefined);
  }

  async function count(agentId: string): Promise<void> {
    const [counted] = await database.write([{ sql: COUNT, args: [agentId, today(), searchesPerDay] }]);
    if (counted?.rowsAffected !== 1)
      throw toolDeclined(
        `This agent has made its ${searchesPerDay} web searches of today. It can search again tomorrow.`,
      );
  }

  async function send(
    { provider, access, from }: Access,
    query: Query,
    signal: AbortSignal,
  ): Promise<OutboundResponse> {
    const address = provider.address ?? access;
    const isOperators = from === "operator" && provider.address === undefined;
    if (!(provider.needs === "key" ? /^[\x21-\x7e]+$/.test(access) : URL.canParse(access))) {
      // Checked here, because the error of a request would quote it.
      throw toolDeclined(`The ${provider.needs} for ${provider.label} can't be right. Its owner can set it again.`);
    }
    const { url, ...request } = provider.request(query, address, provider.needs === "key" ? access : "");
    const { fetch } = isOperators ? deps.operatorOutbound : deps.outbound;
    // A key is sent to nobody but its provider.
    return fetch(url, { ...request, signal, timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES, maxRedirects: 0 });
  }

  return {
    isReady: async (agentId: string) => (await accessFor(agentId)) !== undefined,

    /**
     * Searches with the first provider that is set up.
     * @throws AppError 400 `TOOL_DECLINED` without one, or after the searches of the day; 502 `SEARCH_FAILED`
     */
    async search(agentId: string, query: Query, signal: AbortSignal): Promise<SearchResult[]> {
      const access = await accessFor(agentId);
      if (!access) throw toolDeclined("No web search is set up for this agent. Its owner can add a key.");
      await count(agentId);
      const { provider } = access;
      const response = await send(access, query, signal);
      if (!response.ok) {
        log.warn("a web search failed", { agentId, provider: provider.id, from: access.from, status: response.status });
        throw failedWith(provider, response.status);
      }
      try {
        return provider.results(JSON.parse(response.text())).slice(0, query.count);
      } catch (cause) {
        throw new AppError(502, "SEARCH_FAILED", `${provider.label} gave an answer that can't be read.`, {}, { cause });
      }
    },

    /** What is set up for an agent, and what it has used today. */
    async stateOf(agentId: string) {
      const [{ rows }, all] = await Promise.all([
        database.read("SELECT count FROM web_searches WHERE agent_id = ? AND day = ?", [agentId, today()]),
        Promise.all(providers.map((provider) => accessOf(provider, agentId))),
      ]);
      return {
        searchesToday: Number(rows[0]?.count ?? 0),
        searchesPerDay,
        providers: providers.map(({ id, label, credential, needs, howToGet }, n) => ({
          id,
          label,
          credential,
          needs,
          howToGet,
          from: all[n]?.from ?? null,
        })),
      };
    },
  };
}

function failedWith({ label, needs }: SearchProvider, status: number): AppError {
  const why =
    status === 429 || status === 432 || status === 433
      ? "has no searches left for now"
      : status === 401 || status === 403
        ? needs === "key"
          ? "refused the key"
          : "refused the search; its format json may be switched off"
        : `answered with status ${status}`;
  return new AppError(502, "SEARCH_FAILED", `${label} ${why}.`);
}
