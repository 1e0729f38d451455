// Schemas that several routes share are written once, under a name.
import { isSchema, mapInner, type OpenApiDocument, type Schema } from "./document.ts";

/** Moves shared object schemas (used more than once, or with a `title`) into the components; changes the document. */
export function shareSchemas(document: OpenApiDocument): void {
  const uses = new Map<string, number>();
  const count = (schema: Schema): Schema => {
    const key = keyOf(schema);
    const seen = key === undefined ? 0 : (uses.get(key) ?? 0);
    if (key !== undefined) uses.set(key, seen + 1);
    // What is inside a schema seen before is shared already, through it.
    return seen > 0 ? schema : mapInner(schema, count);
  };
  for (const place of places(document)) count(place.schema);

  const shared: Record<string, Schema> = { ...document.components?.schemas };
  const names = new Map<string, string>();
  const share = (schema: Schema, wanted: string): Schema => {
    const written = mapInner(schema, (inner, key) => share(inner, BARE.has(key) ? singular(wanted) : pascal(key)));
    const key = keyOf(schema);
    if (key === undefined || ((uses.get(key) ?? 0) < 2 && schema.title === undefined)) return written;
    const known = names.get(key);
    const name = known ?? freeName(shared, typeof schema.title === "string" ? pascal(schema.title) : wanted);
    names.set(key, name);
    if (known === undefined) shared[name] = written;
    return { $ref: `#/components/schemas/${name}` };
  };
  for (const place of places(document)) place.put(share(place.schema, place.name));
  document.components = { ...document.components, schemas: shared };
}

interface Place {
  schema: Schema;
  /** What a schema would be called that is met here first. */
  name: string;
  put(schema: Schema): unknown;
}

/** Every body of the document, in its order. */
function* places(document: OpenApiDocument): Generator<Place> {
  for (const [path, methods] of Object.entries(document.paths)) {
    const words = path.split("/").filter((part) => part !== "" && part !== "api" && !part.startsWith("{"));
    const noun = pascal(words.join(" "));
    for (const operation of Object.values(methods)) {
      const bodies = [
        { content: operation.requestBody?.content, kind: "Request" },
        ...Object.values(operation.responses ?? {}).map(({ content }) => ({ content, kind: "Answer" })),
      ];
      for (const { content, kind } of bodies) {
        for (const media of Object.values(content ?? {})) {
          const { schema } = media;
          if (schema)
            yield { schema, name: `${noun}${kind}`, put: (changed) => Object.assign(media, { schema: changed }) };
        }
      }
    }
  }
}

/** Equal for equal objects with at least two properties; undefined for what is better said in place. */
function keyOf(schema: Schema): string | undefined {
  if (schema.type !== "object" || !isSchema(schema.properties)) return undefined;
  return Object.keys(schema.properties).length < 2 ? undefined : JSON.stringify(schema);
}

const BARE = new Set(["items", "anyOf", "oneOf", "allOf", "prefixItems", "additionalProperties", "not"]);

const singular = (name: string) => (/[^s]s$/.test(name) ? name.slice(0, -1) : name);

const pascal = (text: string) =>
  text
    .split(/[^a-zA-Z0-9]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join("");

function freeName(taken: Record<string, Schema>, wanted: string): string {
  let name = wanted;
  for (let n = 2; Object.hasOwn(taken, name); n++) name = `${wanted}${n}`;
  return name;
}
