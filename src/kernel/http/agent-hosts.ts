// Agents' own hosts: `<subdomain>.$AGENTS_DOMAIN` shows what is at `/a/<subdomain>`, and nothing else of Berth.
import type { Config } from "../config/config.ts";

/** A request that came to an agent's own host. */
export interface AgentHost {
  subdomain: string;
  /** What pages of this host have as their origin. */
  origin: string;
}

/** Finds out whose host a request names; undefined for Berth's own, and for all that is no agent's. */
export function createAgentHostResolver({ baseUrl, agentsDomain }: Pick<Config, "baseUrl" | "agentsDomain">) {
  const { protocol, hostname: ownHostname } = new URL(baseUrl);
  const domainSuffix = `.${stripPort(agentsDomain)}`;

  return function resolveAgentHost(request: Request): AgentHost | undefined {
    const { url } = request;
    const from = url.indexOf("//") + 2;
    const host = url.slice(from, url.indexOf("/", from)).toLowerCase();
    const name = stripPort(host).replace(/\.$/, "");
    if (!name.endsWith(domainSuffix) || name === ownHostname || !URL.canParse(url)) return undefined;
    return { subdomain: name.slice(0, -domainSuffix.length), origin: `${protocol}//${host}` };
  };
}

/** The same request at the agent's place on Berth's own host. */
export function rewriteToAgentPath(request: Request, { subdomain }: AgentHost): Request {
  // Parsed before anything is put in front: no `..` leads out of the agent's place.
  const url = new URL(request.url);
  url.pathname = `/a/${encodeURIComponent(subdomain)}${url.pathname === "/" ? "" : url.pathname}`;
  return new Request(url.href, request);
}

const stripPort = (host: string) => host.replace(/:\d+$/, "");
