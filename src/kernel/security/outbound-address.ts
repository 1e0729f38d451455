// Parses URLs that users supply, and decides which addresses are public.
import ipaddr from "ipaddr.js";
import { AppError } from "../errors.ts";

/** Public addresses that only virtual machines reach: the metadata and agent endpoint of Azure. */
const METADATA_ADDRESSES = ["168.63.129.16"];

/** Whether an address is public. IPv6 must be in the allocated block 2000::/3: embeddings of IPv4 outside it are refused. */
export function isPublic(address: string): boolean {
  if (!ipaddr.isValid(address) || METADATA_ADDRESSES.includes(address)) return false;
  const ip = ipaddr.parse(address);
  if (ip.range() !== "unicast") return false;
  return ip instanceof ipaddr.IPv4 || ip.match(GLOBAL_UNICAST);
}
const GLOBAL_UNICAST = ipaddr.parseCIDR("2000::/3");

/** Parses a URL that a user supplied, or a redirect relative to `base`. */
export function parseAddress(text: string, base?: URL): URL {
  const url = URL.parse(text, base?.href);
  if (!url) throw new AppError(400, "INVALID_ADDRESS", "The address is not a valid URL.");
  if (url.protocol !== "http:" && url.protocol !== "https:") throw addressNotAllowed("only http and https are");
  if (url.username || url.password) throw addressNotAllowed("it holds a user name or password");
  const host = hostWithoutBrackets(url);
  if (host.endsWith(".") || host === "") throw addressNotAllowed("its host name is not valid");
  // The parser has converted 0x7f.1, 2130706433, 0177.0.0.1 and full-width digits to dotted decimals.
  if (ipaddr.IPv4.isValid(host) && url.host !== base?.host && !text.includes(host)) {
    throw addressNotAllowed("its host is an IP address in an unusual form");
  }
  return url;
}

export const hostWithoutBrackets = (url: URL) => url.hostname.replace(/^\[(.*)\]$/, "$1");

export const addressNotAllowed = (reason: string) =>
  new AppError(400, "ADDRESS_NOT_ALLOWED", `This address is not allowed: ${reason}.`);
