// Asks each provider of the environment for its list of models, which costs nothing, and takes the running service's word for the rest.

import type { ProviderDefinition } from "../../../../plugins/ai/providers/provider.ts";
import { type ProviderSettings, providerSettings } from "../../../../plugins/ai/settings.ts";
import type { LiveSnapshot } from "../../../../plugins/fleet/index.ts";
import { type Config, isLoopbackUrl } from "../../../kernel/config/config.ts";
import { becauseOf, type CheckResult } from "./check.ts";

const TIMEOUT_MS = 10_000;

export interface ProviderChecks {
  results: CheckResult[];
  /** How far this machine's clock is ahead of each provider's, in ms. */
  clockOffsets: number[];
}

export async function checkProviders(
  config: Pick<Config, "of">,
  live: LiveSnapshot | undefined,
): Promise<ProviderChecks> {
  const settings = config.of(providerSettings);
  const set = settings.registry.all.filter((definition) => {
    const { apiKey, hasCustomBaseUrl } = settings.of(definition.id);
    return apiKey !== undefined || (hasCustomBaseUrl && !definition.credential.required);
  });
  const asked = await Promise.all(set.map((definition) => ask(definition, settings.of(definition.id))));
  const stored = (live?.providers ?? []).filter(
    ({ id, configured }) => configured && !set.some((one) => one.id === id),
  );
  const results = [...asked.map(({ result }) => result), ...stored.map(fromService)];
  if (results.length === 0) {
    results.push({
      level: "warning",
      text: "Providers: none is set, so a local Ollama or the demo model answers.",
      action: "Set the key of a provider, such as PROVIDER_1_API_KEY, or give it in the console under Models.",
    });
  }
  if (!live)
    results.push({
      level: "note",
      text: "Providers: no service runs here, so keys that admins have stored were not checked.",
    });
  return { results, clockOffsets: asked.flatMap(({ clockOffset }) => clockOffset ?? []) };
}

interface Asked {
  result: CheckResult;
  clockOffset?: number;
}

async function ask(definition: ProviderDefinition, { apiKey, baseUrl, label }: ProviderSettings): Promise<Asked> {
  const { env } = definition;
  const about = `Provider ${label}`;
  const key = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}`, ...definition.authHeaders?.(apiKey) };
  try {
    const response = await fetch(`${baseUrl}/models`, {
      headers: { ...key, accept: "application/json" },
      // A redirect would send the key to another address.
      redirect: "manual",
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    await response.body?.cancel();
    const date = Date.parse(response.headers.get("date") ?? "");
    const isElsewhere = !Number.isNaN(date) && !isLoopbackUrl(baseUrl);
    const result = judge(response.status, about, env);
    return { result, ...(isElsewhere && { clockOffset: Date.now() - date }) };
  } catch (error) {
    const action = `Check ${env}_BASE_URL, this machine's connection, and the provider's status page.`;
    return { result: { level: "broken", text: `${about} can't be reached: ${becauseOf(error)}`, action } };
  }
}

function judge(status: number, about: string, env: string): CheckResult {
  if (status >= 200 && status < 300) return { level: "good", text: `${about} answers, and lists its models.` };
  if (status === 401 || status === 403)
    return {
      level: "broken",
      text: `${about} does not accept the key.`,
      action: `Put a valid key into ${env}_API_KEY.`,
    };
  if (status === 402)
    return { level: "broken", text: `${about} says that the account has no credit.`, action: "Add credit there." };
  if (status === 429)
    return {
      level: "warning",
      text: `${about} limits the rate of this key.`,
      action: "Wait, or ask the provider for more.",
    };
  if (status >= 500)
    return {
      level: "broken",
      text: `${about} has a problem of its own (status ${status}).`,
      action: "Look at its status page.",
    };
  return {
    level: "warning",
    text: `${about} answers with status ${status} where its models should be.`,
    action: `Check ${env}_BASE_URL: it ends where /chat/completions begins, mostly in /v1.`,
  };
}

/** What the running service knows of a provider whose key it alone can open. */
function fromService({ label, reachable, breaker, recent }: LiveSnapshot["providers"][number]): CheckResult {
  const action = "Check its status page, its key and your balance there. The key is in the console under Models.";
  if (breaker === "open")
    return { level: "broken", text: `Provider ${label}: calls are paused, since most failed.`, action };
  if (reachable === false) return { level: "broken", text: `Provider ${label} can't be reached.`, action };
  const { calls, failed } = recent;
  if (calls >= 20 && failed / calls > 0.1)
    return { level: "warning", text: `Provider ${label}: ${failed} of the last ${calls} calls failed.`, action };
  return { level: "good", text: `Provider ${label} works, says the running service.` };
}
