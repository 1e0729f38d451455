// Validates an OpenAPI document with an independent linter, by the rules of the specification alone.
import { createConfig, lintFromString } from "@redocly/openapi-core";

/** The problems of a document, each as "rule at pointer: message"; empty for a valid document. */
export async function problemsOf(document: unknown): Promise<string[]> {
  const config = await createConfig({ extends: ["spec"] });
  const problems = await lintFromString({ source: JSON.stringify(document), config });
  return problems.map(({ ruleId, message, location }) => {
    const [place] = location;
    return `${ruleId} at ${place && "pointer" in place ? place.pointer : "?"}: ${message}`;
  });
}
