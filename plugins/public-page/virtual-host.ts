// Serves agents on their own hosts: `<subdomain>.$AGENTS_DOMAIN` shows the page at `/a/<subdomain>`, and no other path.
import type { Config } from "../../src/kernel/config/config.ts";
import type { VirtualHost } from "../../src/kernel/http/virtual-hosts.ts";

/** Makes the hook that rewrites a request to an agent's host; it returns undefined for Berth's own host and any other. */
export function createVirtualHost({ baseUrl, agentsDomain }: Pick<Config, "baseUrl" | "agentsDomain">): VirtualHost {
  const { protocol, hostname: ownHostname } = new URL(baseUrl);
  const domainSuffix = `.${stripPort(agentsDomain)}`;

  return function resolveVirtualHost(request) {
    const { url } = request;
    const from = url.indexOf("//") + 2;
    const host = url.slice(from, url.indexOf("/", from)).toLowerCase();
    const name = stripPort(host).replace(/\.$/, "");
    if (!name.endsWith(domainSuffix) || name === ownHostname || !URL.canParse(url)) return undefined;
    const subdomain = name.slice(0, -domainSuffix.length);
    return { request: rewriteToAgentPath(request, subdomain), origin: `${protocol}//${host}` };
  };
}

function rewriteToAgentPath(request: Request, subdomain: string): Request {
  // The path is parsed before the agent's path is put in front of it, so that `..` can't leave the agent's path.
  const url = new URL(request.url);
  url.pathname = `/a/${encodeURIComponent(subdomain)}${url.pathname === "/" ? "" : url.pathname}`;
  return new Request(url.href, request);
}

const stripPort = (host: string) => host.replace(/:\d+$/, "");
