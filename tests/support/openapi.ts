// Checks an OpenAPI document with two independent linters, by the rules that both recommend.
import { createRequire } from "node:module";
import { createConfig, lintFromString } from "@redocly/openapi-core";

/** The parts that are used. The packages' own types bring global types of browsers, which other files would then see. */
interface SpectralModules {
  Spectral: new () => {
    setRuleset(ruleset: { extends: object[] }): void;
    run(document: object): Promise<{ code: string | number; path: (string | number)[]; message: string }[]>;
  };
  oas: object;
}

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
export async function spectralProblemsOf(document: object): Promise<string[]> {
  const load = createRequire(import.meta.url);
  const { Spectral } = load("@stoplight/spectral-core") as Pick<SpectralModules, "Spectral">;
  const { oas } = load("@stoplight/spectral-rulesets") as Pick<SpectralModules, "oas">;
  const spectral = new Spectral();
  spectral.setRuleset({ extends: [oas] });
  const problems = await spectral.run(document);
  return problems
    .filter(({ code, path }) => !(code === "operation-success-response" && path.includes("/agent/{id}")))
    .map(({ code, path, message }) => `${code} at ${path.join("/")}: ${message}`);
}
