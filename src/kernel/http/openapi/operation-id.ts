// Names operations for generated clients: by their method and path, so that a name stays when the texts change.

/** The id that @elysiajs/swagger gives an operation whose route has none. */
export const generatedOperationId = (method: string, path: string) =>
  `${method.toLowerCase()}${path
    .split("/")
    .map((part) => (part.startsWith("{") ? `By${capital(part.slice(1, -1))}` : capital(part)))
    .join("")}`;

/**
 * Returns a name such as `listAgentMemories` (GET /api/agents/{id}/memories), `deleteAgentMemory` or `restartAgent` (POST
 * /api/agents/{id}/restart). A route whose name would read badly has an `operationId` in its `detail`.
 */
export function operationIdOf(method: string, path: string): string {
  const parts = path.split("/").filter((part) => part !== "" && part !== "api" && !/^v\d+$/.test(part));
  const nouns = parts.flatMap((part, index) => {
    const next = parts[index + 1] ?? "";
    if (isParameter(part)) return isParameter(next) ? [pascal(next.slice(1, -1))] : [];
    return [isParameter(next) ? singular(pascal(part)) : pascal(part)];
  });
  const last = parts.at(-1) ?? "";
  if (isParameter(last)) return `${VERBS[method] ?? method}${nouns.join("")}`;
  const before = nouns.slice(0, -1).join("");
  const noun = pascal(last);
  if (method === "post") {
    const [verb = "", ...rest] = last.split("-");
    // `reset-memory`: the verb, what it is done to, and the rest.
    if (!isPlural(noun)) return `${verb}${before}${pascal(rest.join("-"))}`;
    return `create${before}${singular(noun)}`;
  }
  if (method === "get" && isPlural(noun)) return `list${before}${noun}`;
  return `${VERBS[method] ?? method}${before}${noun}`;
}

const VERBS: Record<string, string> = { get: "get", post: "post", put: "set", patch: "update", delete: "delete" };

const isParameter = (part = "") => part.startsWith("{");

/** Words in -s that name one thing. */
const SINGLE_THINGS = /(?:ss|us|stats|settings|series|figures)$/i;
const isPlural = (noun: string) => noun.endsWith("s") && !SINGLE_THINGS.test(noun);

/** "Memories" becomes "Memory". */
export const singular = (noun: string) => {
  if (!isPlural(noun)) return noun;
  return noun.endsWith("ies") ? `${noun.slice(0, -3)}y` : noun.slice(0, -1);
};

export const capital = (word: string) => word.charAt(0).toUpperCase() + word.slice(1);

/** "agent-card.json" becomes "AgentCardJson". */
export const pascal = (text: string) =>
  text
    .split(/[^a-zA-Z0-9]+/)
    .map(capital)
    .join("");
