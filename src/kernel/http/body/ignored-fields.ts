// Finds the fields of a body that a route does not know. They are ignored, as the interface says; the answer has a warning about each,
// since its sender believes it was accepted. Fields that the route's answer has get none: clients may send back what they got.
import type { Issue } from "../../errors.ts";
import { setJsonMembers } from "../../util/json-text.ts";
import { nearestName } from "../../util/nearest-name.ts";

/** The parts of a route's schema of the body that are used here. */
interface BodySchema {
  properties?: Readonly<Record<string, BodySchema>>;
  additionalProperties?: unknown;
  /** The schema of a value that the route validates by itself. */
  documentedAs?: BodySchema;
  items?: BodySchema;
  anyOf?: readonly BodySchema[];
}

/** Warnings of one answer; the other fields are ignored, too. */
const MAX_WARNINGS = 20;
/** Characters that differ in a misspelt name. */
const MAX_CHANGES = 2;
/** A longer one is no name, and would make the answer as long as the body. */
const MAX_NAME = 64;
/** What every resource has. */
const COMMON_FIELDS = ["id", "createdAt", "updatedAt"];
/** How deep the fields of a resource are in an answer: `{ agents: [{ id }] }`. */
const ANSWER_DEPTH = 2;

/**
 * The function that finds these fields for a route with this schema; undefined where every field is taken. `answers` is the schema of
 * the answer, or those by status.
 */
export function createIgnoredFieldFinder(
  schema: unknown,
  answers?: unknown,
): ((body: unknown) => Issue[] | undefined) | undefined {
  const { properties, additionalProperties } = (schema ?? {}) as BodySchema;
  if (!properties || (additionalProperties !== undefined && additionalProperties !== false)) return undefined;
  const echoed = new Set(COMMON_FIELDS);
  for (const answer of successesOf(answers)) addNames(answer, ANSWER_DEPTH, echoed);
  return (body) => {
    if (typeof body !== "object" || body === null || Array.isArray(body)) return undefined;
    let ignored: Issue[] | undefined;
    for (const name of Object.keys(body)) {
      if (Object.hasOwn(properties, name)) continue;
      if (name.length > MAX_NAME) continue;
      const message = describe(name, properties, echoed);
      if (message === undefined) continue;
      ignored ??= [];
      if (ignored.length < MAX_WARNINGS) ignored.push({ path: name, message });
    }
    return ignored;
  };
}

/** The schemas of the answers that say that all went well. */
function successesOf(answers: unknown): BodySchema[] {
  if (typeof answers !== "object" || answers === null) return [];
  const byStatus = Object.entries(answers).filter(([status]) => /^\d{3}$/.test(status));
  if (byStatus.length === 0) return [answers];
  return byStatus.flatMap(([status, answer]) => (status.startsWith("2") ? [answer as BodySchema] : []));
}

function addNames({ properties = {}, items, anyOf = [] }: BodySchema, depth: number, names: Set<string>): void {
  for (const choice of anyOf) addNames(choice, depth, names);
  if (items) addNames(items, depth, names);
  for (const [name, field] of Object.entries(properties)) {
    names.add(name);
    if (depth > 1) addNames(field, depth - 1, names);
  }
}

function describe(
  name: string,
  properties: Readonly<Record<string, BodySchema>>,
  echoed: ReadonlySet<string>,
): string | undefined {
  const parent = Object.entries(properties).find(([, { properties, documentedAs }]) =>
    Object.hasOwn(properties ?? documentedAs?.properties ?? {}, name),
  );
  if (parent) return `This was ignored: it belongs into "${parent[0]}".`;
  const meant = nearestName(name, Object.keys(properties), Math.min(MAX_CHANGES, Math.ceil(name.length / 3)));
  if (meant === undefined && echoed.has(name)) return undefined;
  return meant === undefined
    ? "This was ignored: there is no such field here."
    : `This was ignored: there is no such field here. Is "${meant}" meant?`;
}

/** The response with the warnings added to its member `warnings`, if it is a JSON object that says that all went well. */
export async function withWarnings(response: Response, warnings: readonly Issue[]): Promise<Response> {
  const isJson = response.headers.get("content-type")?.startsWith("application/json");
  if (!response.ok || !isJson) return response;
  const text = await response.text();
  const headers = new Headers(response.headers);
  headers.delete("content-length");
  return new Response(addWarnings(text, warnings), { status: response.status, headers });
}

/** Adds to the text, so that a configuration in it stays as it is, byte for byte. */
function addWarnings(text: string, added: readonly Issue[]): string {
  const body: unknown = JSON.parse(text);
  if (typeof body !== "object" || body === null || Array.isArray(body)) return text;
  const known: unknown = "warnings" in body ? body.warnings : [];
  if (!Array.isArray(known)) return text;
  // The backend may have said it already.
  const paths = new Set(known.map((one: { path?: unknown } | null) => one?.path));
  const news = added.filter(({ path }) => !paths.has(path));
  return news.length === 0 ? text : setJsonMembers(text, { warnings: JSON.stringify([...known, ...news]) });
}
