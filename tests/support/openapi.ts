// Checks an OpenAPI document with two independent linters, by the rules that both recommend.
import { createConfig, lintFromString } from "@redocly/openapi-core";
import { type RulesetDefinition, Spectral } from "@stoplight/spectral-core";
import { oas } from "@stoplight/spectral-rulesets";

/** The problems that Redocly finds in a document, each as "rule at pointer: message"; empty for a good one. */
export async function problemsOf(document: unknown, rules: "spec" | "recommended" = "spec"): Promise<string[]> {
  const config = await createConfig({ extends: [rules] });
  const problems = await lintFromString({ source: JSON.stringify(document), config });
  return problems.map(({ ruleId, message, location }) => {
    const [place] = location;
    return `${ruleId} at ${place && "pointer" in place ? place.pointer : "?"}: ${message}`;
  });
}

/** The same for Spectral and its ruleset for OpenAPI. That a WebSocket's handshake is answered with 101 counts as a success, too. */
export async function spectralProblemsOf(document: unknown): Promise<string[]> {
  const spectral = new Spectral();
  spectral.setRuleset({ extends: [oas as RulesetDefinition] });
  const problems = await spectral.run(document as Record<string, unknown>);
  return problems
    .filter(({ code, path }) => !(code === "operation-success-response" && path.includes("/agent/{id}")))
    .map(({ code, path, message }) => `${code} at ${path.join("/")}: ${message}`);
}
