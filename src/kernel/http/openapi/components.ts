// Moves schemas that have a name, or that several places share, into the document's components.
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { isSchema, type MediaTypes, mapSubschemas, type OpenApiDocument, type Schema } from "./document.ts";
import { capital, pascal, singular } from "./operation-id.ts";

/**
 * Moves bodies, shared object schemas and those with a `title` into the components; changes the document. A schema is called by
 * its title; without one, a body by its operation (`CreateScheduleRequest`), and another by its field (`Schedule`), after the
 * name of what holds it if the field's name is taken (`ExportReport`). It works in steps, since all at once would block the event
 * loop.
 */
export async function shareSchemas(document: OpenApiDocument): Promise<void> {
  const shared: Record<string, Schema> = { ...document.components?.schemas };
  const uses = await countUses(document);
  const names = nameAll(uses, Object.keys(shared));

  const share = (schema: Schema): Schema => {
    const name = names.get(keyOf(schema) ?? "");
    if (name === undefined) return mapSubschemas(schema, share);
    // Reserved before its parts, so that the components are in the order in which readers meet them.
    if (!Object.hasOwn(shared, name)) {
      shared[name] = {};
      shared[name] = mapSubschemas(schema, share);
    }
    return { $ref: `#/components/schemas/${name}` };
  };
  for (const [name, schema] of Object.entries(shared)) shared[name] = mapSubschemas(schema, share);
  for (const { media, schema } of bodiesOf(document)) {
    media.schema = share(schema);
    await yieldToEventLoop();
  }
  document.components = { ...document.components, schemas: shared };
}

interface Use {
  count: number;
  title: string | undefined;
  /** The name of the first field with this schema; of a body, that of its operation. */
  name: string;
  /** The name of what holds it, for a field. */
  holder: string | undefined;
}

/** By key, in the order of the document. */
async function countUses(document: OpenApiDocument): Promise<Map<string, Use>> {
  const uses = new Map<string, Use>();
  const count = (schema: Schema, name: string, holder: string | undefined): void => {
    const key = keyOf(schema);
    const known = key === undefined ? undefined : uses.get(key);
    if (known) {
      // Its inner schemas were counted the first time.
      known.count++;
      // A field is a better name than the operation.
      if (known.holder === undefined && holder !== undefined) Object.assign(known, { name, holder });
      return;
    }
    const title = typeof schema.title === "string" ? pascal(schema.title) : undefined;
    if (key !== undefined) uses.set(key, { count: 1, title, name, holder });
    const ownName = title ?? (holder === undefined ? name : `${holder}${name}`);
    mapSubschemas(schema, (inner, field) => {
      if (ANONYMOUS_KEYWORDS.has(field)) count(inner, field === "items" ? singular(name) : name, holder);
      else count(inner, pascal(field), stem(ownName));
      return inner;
    });
  };
  for (const [name, schema] of Object.entries(document.components?.schemas ?? {})) {
    mapSubschemas(schema, (inner, field) => {
      count(inner, pascal(field), name);
      return inner;
    });
  }
  for (const { schema, name } of bodiesOf(document)) {
    count(schema, name, undefined);
    await yieldToEventLoop();
  }
  return uses;
}

/** The names of all schemas that become components, by key. Titles come first: they are given on purpose. */
function nameAll(uses: Map<string, Use>, taken: readonly string[]): Map<string, string> {
  const names = new Map<string, string>();
  const used = new Set(taken);
  const give = (key: string, ...candidates: string[]) => {
    let name = candidates.find((one) => !used.has(one));
    for (let n = 2; name === undefined; n++) {
      const numbered = `${candidates.at(-1)}${n}`;
      if (!used.has(numbered)) name = numbered;
    }
    used.add(name);
    names.set(key, name);
  };
  for (const [key, { title }] of uses) if (title !== undefined) give(key, title);
  for (const [key, { title, name, holder }] of uses) {
    if (title === undefined && holder === undefined) give(key, name);
  }
  for (const [key, { count, title, name, holder }] of uses) {
    if (title === undefined && holder !== undefined && count > 1) give(key, name, `${holder}${name}`);
  }
  return names;
}

/** "ListAgentsResponse" becomes "ListAgents": what is inside is no response. */
const stem = (name: string) => name.replace(/(?:Request|Response|Error)$/, "");

interface Body {
  media: { schema?: Schema };
  schema: Schema;
  /** The name for a schema that is only used as this body. */
  name: string;
}

/** Returns every request and response body, in the order of the document. */
function bodiesOf(document: OpenApiDocument): Body[] {
  const found: Body[] = [];
  for (const methods of Object.values(document.paths)) {
    for (const { operationId = "", requestBody, responses } of Object.values(methods)) {
      const noun = capital(operationId);
      const collect = (content: MediaTypes | undefined, name: string) => {
        for (const media of Object.values(content ?? {})) {
          if (media.schema) found.push({ media, schema: media.schema, name });
        }
      };
      collect(requestBody?.content, `${noun}Request`);
      for (const [status, { content }] of Object.entries(responses ?? {})) {
        collect(content, `${noun}${Number(status) < 400 ? "Response" : "Error"}`);
      }
    }
  }
  return found;
}

/**
 * Returns equal keys for equal schemas that can be components, whatever the order of keywords: objects with two properties or
 * more, and schemas with a title.
 */
function keyOf(schema: Schema): string | undefined {
  const isObject = schema.type === "object" && isSchema(schema.properties);
  if (schema.title === undefined && !(isObject && Object.keys(schema.properties ?? {}).length > 1)) return undefined;
  const key = keys.get(schema) ?? JSON.stringify(Object.entries(schema).sort(([a], [b]) => (a < b ? -1 : 1)));
  keys.set(schema, key);
  return key;
}

/** They are computed from whole schemas, and needed twice. */
const keys = new WeakMap<Schema, string>();

const ANONYMOUS_KEYWORDS = new Set(["items", "anyOf", "oneOf", "allOf", "prefixItems", "additionalProperties", "not"]);
