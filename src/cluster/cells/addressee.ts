// Finds the cell that a request is for by the marks in it: in the credential, the path, or the name of the host.
import { cellOfId, cellOfLabel, cellOfToken, SUBDOMAIN_RANDOM_LENGTH } from "../../kernel/cells/marks.ts";

/** Paths whose resources belong to the account of the credential: it decides there. Elsewhere people see what is somebody else's. */
const OF_ACCOUNTS = /^\/(?:api|v1|mcp)(?:\/|$)/;
const SESSION_COOKIE = /(?:^|;\s*)(?:__Host-)?berth_session=([^;]*)/;
/** A marked token within a path; behind the mark there may be more. */
const TOKEN_IN_PATH = /[\w-]{20}(~[\w-]{2})/;

/** Whether the account of the credential decides what a path names. */
export const isOfAccounts = (path: string) => OF_ACCOUNTS.test(path);

const METRICS = /^\/metrics\?(?:.*&)?cell=(\d{1,4})(?:&|$)/;

/** @param agentsDomain the domain of agents' own hosts, with its port if it has one */
export function cellOfRequest({ url, headers }: Pick<Request, "url" | "headers">, agentsDomain: string): number {
  const hostAt = url.indexOf("//") + 2;
  const pathAt = url.indexOf("/", hostAt);
  const host = url.slice(hostAt, pathAt);
  const path = url.slice(pathAt);
  const bareDomain = agentsDomain.replace(/:\d+$/, "");
  const name = host.replace(/:\d+$/, "").replace(/\.$/, "").toLowerCase();
  if (name.endsWith(`.${bareDomain}`)) {
    const cell = cellOfLabel(name.slice(0, -bareDomain.length - 1), SUBDOMAIN_RANDOM_LENGTH);
    if (cell > 0) return cell;
  }
  const credential = isOfAccounts(path) ? readCredential(headers) : undefined;
  if (credential !== undefined) return cellOfToken(credential);
  const metrics = METRICS.exec(path)?.[1];
  if (metrics !== undefined) return Number(metrics);
  return cellOfPath(path);
}

/** The value of the header or cookie that says who makes a request. */
export function readCredential(headers: Headers): string | undefined {
  const bearer = headers.get("authorization");
  if (bearer !== null) return bearer;
  const key = headers.get("x-api-key");
  if (key !== null) return key;
  const cookies = headers.get("cookie");
  return cookies === null ? undefined : SESSION_COOKIE.exec(cookies)?.[1];
}

function cellOfPath(pathAndQuery: string): number {
  const queryAt = pathAndQuery.indexOf("?");
  const path = queryAt < 0 ? pathAndQuery : pathAndQuery.slice(0, queryAt);
  const cell = cellOfId(path) || cellOfToken(TOKEN_IN_PATH.exec(path)?.[1] ?? "");
  if (cell > 0) return cell;
  for (const segment of path.split("/")) {
    const found = segment.includes("-") ? cellOfLabel(segment, SUBDOMAIN_RANDOM_LENGTH) : 0;
    if (found > 0) return found;
  }
  return 0;
}
