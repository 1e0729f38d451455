// Finds the fields of a body that stand in the wrong place or are misspelt. All fields that a route does not know are ignored, as the
// interface says; the answer has a warning about each of these, since its sender believes it was accepted. Others get none:
// clients may send back what they got, with its id and times.
import type { Issue } from "../../errors.ts";
import { setJsonMembers } from "../../util/json-text.ts";
import { nearestName } from "../../util/nearest-name.ts";

/** The parts of a route's schema of the body that are used here. */
interface BodySchema {
  properties?: Readonly<Record<string, BodySchema>>;
  additionalProperties?: unknown;
  /** The schema of a value that the route validates by itself. */
  documentedAs?: BodySchema;
}

/** Warnings of one answer; the other fields are ignored, too. */
const MAX_WARNINGS = 20;
/** Characters that differ in a misspelt name. */
const MAX_CHANGES = 2;

/** The function that finds these fields for a route with this schema; undefined where every field is taken. */
export function createIgnoredFieldFinder(schema: unknown): ((body: unknown) => Issue[] | undefined) | undefined {
  const { properties, additionalProperties } = (schema ?? {}) as BodySchema;
  if (!properties || (additionalProperties !== undefined && additionalProperties !== false)) return undefined;
  return (body) => {
    if (typeof body !== "object" || body === null || Array.isArray(body)) return undefined;
    let ignored: Issue[] | undefined;
    for (const name of Object.keys(body)) {
      if (Object.hasOwn(properties, name)) continue;
      const message = describe(name, properties);
      if (message === undefined) continue;
      ignored ??= [];
      if (ignored.length < MAX_WARNINGS) ignored.push({ path: name, message });
    }
    return ignored;
  };
}

function describe(name: string, properties: Readonly<Record<string, BodySchema>>): string | undefined {
  const parent = Object.entries(properties).find(([, { properties, documentedAs }]) =>
    Object.hasOwn(properties ?? documentedAs?.properties ?? {}, name),
  );
  if (parent) return `This was ignored: it belongs into "${parent[0]}".`;
  const meant = nearestName(name, Object.keys(properties), Math.min(MAX_CHANGES, Math.ceil(name.length / 3)));
  return meant === undefined ? undefined : `This was ignored: there is no such field here. Is "${meant}" meant?`;
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
