// Checks the kernel's values against each other, and reports values that could not be parsed.

import type { KernelSettings } from "./kernel-settings.ts";
import type { DeepReadonly, Finding } from "./section.ts";
import { type SectionContext, warning, warnOfGiven } from "./section.ts";
import type { ResolvedVariable, UnknownName } from "./variable-reader.ts";

/** `127.0.0.0/8`, `::1` and `localhost`: addresses that only this machine reaches. */
export const isLoopbackHost = (host: string): boolean =>
  /^(localhost|.+\.localhost|127\.\d+\.\d+\.\d+|\[?::1\]?)$/i.test(host);

/** Whether an address's host is this machine alone. */
export const isLoopbackUrl = (url: string): boolean => isLoopbackHost(URL.parse(url)?.hostname ?? "");

/** The values that could not be parsed, as errors. */
export function parseErrors(list: readonly ResolvedVariable[]): Finding[] {
  const invalid = list.filter(({ problem }) => problem);
  // An invalid default mostly follows from a bad variable that it is computed from, which has its own message.
  const explicitlySet = invalid.filter(({ source }) => source !== "default");
  return (explicitlySet.length > 0 ? explicitlySet : invalid).map(({ name, problem = "" }) => ({
    name,
    severity: "error",
    message: problem,
  }));
}

/** Everything in the kernel's settings that does not fit together. */
export function validateKernelSettings(
  kernel: DeepReadonly<KernelSettings>,
  sources: SectionContext["sources"],
): Finding[] {
  const { role, web, backend, baseUrl, database, secretKey, rateLimits } = kernel;
  const findings: Finding[] = [];
  const error = (name: string, text: string) => findings.push({ name, severity: "error", message: `${name}: ${text}` });
  const warn = (name: string, text: string) => findings.push(warning(name, text));

  if (role !== "all" && !(database.remote && secretKey)) {
    const needs = "needs a remote DATABASE_URL and an explicit SECRET_KEY";
    error("ROLE", `found "${role}"; a split deployment (ROLE other than all) ${needs}.`);
  }
  if (role === "all" && web.port !== 0 && web.port === backend.port && addressesOverlap(web.host, backend.host)) {
    error("BACKEND_PORT", `found ${web.port}, which is PORT too; allowed is a port of its own for each listener.`);
  }
  if (secretKey && secretKey.length < 32) warn("SECRET_KEY", "is short; 32 random characters or more are better.");
  const loopback = isLoopbackUrl(baseUrl);
  if (!loopback && baseUrl.startsWith("http:")) {
    warn("BASE_URL", "is public but not https: sessions and passwords travel in clear.");
  }
  if (!loopback && !rateLimits.enabled) warn("RATE_LIMITS", "are off on a public address.");
  if (loopback && !isLoopbackHost(web.host)) {
    warn("BASE_URL", `is this machine alone, but HOST (${web.host}) is not: set it to the address people use.`);
  }
  if (!database.remote) {
    const text = "is set without a server in DATABASE_URL, so it has no effect.";
    findings.push(...warnOfGiven(["DATABASE_AUTH_TOKEN"], sources, text));
  }
  if (!kernel.traces) {
    const text = "is set without OTEL_EXPORTER_OTLP_ENDPOINT, so it has no effect.";
    findings.push(...warnOfGiven(TRACE_VARIABLES, sources, text));
  }
  return findings;
}

const TRACE_VARIABLES = [
  ...["OTEL_EXPORTER_OTLP_HEADERS", "OTEL_SERVICE_NAME"],
  "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT",
];

/** Warns of a name that no setting has. */
export function unknownNameWarning({ name, source, nearest }: UnknownName): Finding {
  const place = source === "environment" ? "in the environment" : "in the .env file";
  const problem = `${place}, but Berth has no such variable.`;
  return warning(name, nearest ? `${problem} Did you mean ${nearest}?` : problem);
}

/** Whether two listen addresses overlap, so that one port can't serve both. */
const addressesOverlap = (a: string, b: string) =>
  a === b || [a, b].some((host) => host === "0.0.0.0" || host === "::");
