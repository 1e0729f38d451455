// Moves schemas that several routes share into the document's components, under a name.
import { isSchema, type MediaTypes, mapSubschemas, type OpenApiDocument, type Schema } from "./document.ts";

/** Moves shared object schemas (used more than once, or with a `title`) into the components; changes the document. */
export function shareSchemas(document: OpenApiDocument): void {
  const shared: Record<string, Schema> = { ...document.components?.schemas };
  const uses = countUses(document);
  const names = new Map<string, string>();

  const share = (schema: Schema): Schema => {
    const inlined = mapSubschemas(schema, share);
    const key = keyOf(schema);
    const use = key === undefined ? undefined : uses.get(key);
    if (key === undefined || !use || (use.count < 2 && schema.title === undefined)) return inlined;
    const known = names.get(key);
    const name = known ?? uniqueName(shared, typeof schema.title === "string" ? pascal(schema.title) : use.name);
    names.set(key, name);
    if (known === undefined) shared[name] = inlined;
    return { $ref: `#/components/schemas/${name}` };
  };
  for (const { media, schema } of bodiesOf(document)) media.schema = share(schema);
  document.components = { ...document.components, schemas: shared };
}

interface Use {
  count: number;
  /** The name of the field with this schema; without a field, that of the body. */
  name: string;
  isBody: boolean;
}

function countUses(document: OpenApiDocument): Map<string, Use> {
  const uses = new Map<string, Use>();
  const count = (schema: Schema, name: string, isBody: boolean): void => {
    const key = keyOf(schema);
    const known = key === undefined ? undefined : uses.get(key);
    if (known) {
      // Its inner schemas were counted the first time.
      known.count++;
      if (known.isBody && !isBody) Object.assign(known, { name, isBody });
      return;
    }
    if (key !== undefined) uses.set(key, { count: 1, name, isBody });
    mapSubschemas(schema, (inner, field) => {
      if (ANONYMOUS_KEYWORDS.has(field)) count(inner, field === "items" ? singular(name) : name, isBody);
      else count(inner, pascal(field), false);
      return inner;
    });
  };
  for (const { schema, name } of bodiesOf(document)) count(schema, name, true);
  return uses;
}

interface Body {
  media: { schema?: Schema };
  schema: Schema;
  /** The name for a schema that is only used as this body. */
  name: string;
}

/** Returns every request and response body, in the order of the document. */
function bodiesOf(document: OpenApiDocument): Body[] {
  const found: Body[] = [];
  for (const [path, methods] of Object.entries(document.paths)) {
    const words = path.split("/").filter((part) => part !== "" && part !== "api" && !part.startsWith("{"));
    const noun = pascal(words.join(" "));
    const collect = (content: MediaTypes | undefined, name: string) => {
      for (const media of Object.values(content ?? {})) {
        if (media.schema) found.push({ media, schema: media.schema, name });
      }
    };
    for (const { requestBody, responses } of Object.values(methods)) {
      collect(requestBody?.content, `${noun}Request`);
      for (const { content } of Object.values(responses ?? {})) collect(content, `${noun}Answer`);
    }
  }
  return found;
}

/** Returns equal keys for equal object schemas, whatever the order of keywords; undefined for fewer than two properties. */
function keyOf(schema: Schema): string | undefined {
  if (schema.type !== "object" || !isSchema(schema.properties)) return undefined;
  if (Object.keys(schema.properties).length < 2) return undefined;
  return JSON.stringify(Object.entries(schema).sort(([a], [b]) => (a < b ? -1 : 1)));
}

const ANONYMOUS_KEYWORDS = new Set(["items", "anyOf", "oneOf", "allOf", "prefixItems", "additionalProperties", "not"]);

const singular = (name: string) => (/[^s]s$/.test(name) ? name.slice(0, -1) : name);

const pascal = (text: string) =>
  text
    .split(/[^a-zA-Z0-9]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join("");

function uniqueName(taken: Record<string, Schema>, preferred: string): string {
  let name = preferred;
  for (let n = 2; Object.hasOwn(taken, name); n++) name = `${preferred}${n}`;
  return name;
}
