// Checks the names under which the service is reached: their addresses, the certificate, and that Berth answers there.

import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { connect } from "node:tls";
import { type Config, isLoopbackHost } from "../../../kernel/config/config.ts";
import { count } from "../../../kernel/util/text/count.ts";
import { DAY, SECOND } from "../../../kernel/util/time.ts";
import { becauseOf, type CheckResult, reasonOf } from "./check.ts";

const TIMEOUT_MS = 5 * SECOND;
/** Certificates are renewed a month before they end; one with less is not renewed by itself any more. */
const RENEWAL_DAYS = 14;

export async function checkDomains({
  baseUrl,
  agentsDomain,
}: Pick<Config, "baseUrl" | "agentsDomain">): Promise<CheckResult[]> {
  const { hostname, protocol } = new URL(baseUrl);
  const host = hostname.replace(/^\[|\]$/g, "");
  const isLocal = isLoopbackHost(hostname);
  const results: CheckResult[] = [];
  if (isLocal) {
    results.push({ level: "note", text: `Domains: ${baseUrl} is for this machine only. For others, set BASE_URL.` });
  } else {
    results.push(await checkName(host, "BASE_URL"));
    // Agents answer at names of their own below it.
    if (agentsDomain !== host)
      results.push(await checkName(`agent.${agentsDomain}`, "AGENTS_DOMAIN", `*.${agentsDomain}`));
  }
  if (protocol === "https:") results.push(await checkCertificate(baseUrl, host));
  else if (!isLocal) {
    results.push({
      level: "warning",
      text: `Domains: ${baseUrl} is not encrypted.`,
      action: "Put a proxy with TLS in front, and set BASE_URL to its https address.",
    });
  }
  results.push(await checkAnswer(baseUrl));
  return results;
}

async function checkName(host: string, setting: string, shown = host): Promise<CheckResult> {
  try {
    const addresses = await lookup(host, { all: true });
    return { level: "good", text: `Domains: ${shown} leads to ${addresses.map(({ address }) => address).join(", ")}.` };
  } catch (error) {
    const action = `Make the DNS record of ${shown}, or correct ${setting}.`;
    return { level: "broken", text: `Domains: ${shown} has no address: ${becauseOf(error)}`, action };
  }
}

async function checkCertificate(baseUrl: string, host: string): Promise<CheckResult> {
  const port = Number(new URL(baseUrl).port || 443);
  try {
    const { validTo, problem } = await readCertificate(host, port);
    const days = Math.floor((Date.parse(validTo) - Date.now()) / DAY);
    const action = "Look why the proxy does not renew it; most do a month before it ends.";
    if (problem !== undefined) {
      return {
        level: "broken",
        text: `Domains: the certificate of ${host} is not valid: ${problem}.`,
        action:
          "Give the proxy a certificate for this name from a public authority. Platforms refuse to call webhooks otherwise.",
      };
    }
    if (days < RENEWAL_DAYS) {
      const level = days < 3 ? "broken" : "warning";
      return { level, text: `Domains: the certificate of ${host} ends in ${count(days, "day")}.`, action };
    }
    return { level: "good", text: `Domains: the certificate of ${host} is valid for ${count(days, "more day")}.` };
  } catch (error) {
    const action = "Check that the proxy runs, and that its port is open.";
    return { level: "broken", text: `Domains: no TLS connection to ${host}:${port}: ${becauseOf(error)}`, action };
  }
}

function readCertificate(host: string, port: number): Promise<{ validTo: string; problem: string | undefined }> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, ...(!isIP(host) && { servername: host }), rejectUnauthorized: false }, () => {
      const validTo = socket.getPeerCertificate().valid_to;
      // Types say that it is an Error; it is the code of the problem, or an error with one.
      const problem: unknown = socket.authorized ? undefined : socket.authorizationError;
      resolve({ validTo, problem: problem === undefined ? undefined : reasonOf(problem) });
      socket.destroy();
    });
    socket.setTimeout(TIMEOUT_MS, () => socket.destroy(new Error("no answer in time")));
    socket.once("error", reject);
  });
}

async function checkAnswer(baseUrl: string): Promise<CheckResult> {
  const action = "Start the service, or look where the proxy sends requests. /healthz must reach Berth.";
  try {
    const response = await fetch(`${baseUrl}/healthz`, { redirect: "manual", signal: AbortSignal.timeout(TIMEOUT_MS) });
    const body: unknown = await response.json().catch(() => undefined);
    const isBerth = typeof body === "object" && body !== null && "status" in body && body.status === "ok";
    if (response.ok && isBerth) return { level: "good", text: `Domains: Berth answers at ${baseUrl}.` };
    return {
      level: "broken",
      text: `Domains: something else answers at ${baseUrl} (status ${response.status}).`,
      action,
    };
  } catch (error) {
    return { level: "warning", text: `Domains: nothing answers at ${baseUrl}: ${becauseOf(error)}`, action };
  }
}
