// Shows a schema as a list of its properties. Parts are made when they are opened, since some refer to themselves.
import { useState } from "react";
import { type ApiDocument, describeLimits, describeType, resolveSchema, type Schema } from "./api-document.ts";
import { Text } from "./text.tsx";

export function SchemaView({ api, schema, depth = 0 }: { api: ApiDocument; schema: Schema; depth?: number }) {
  const whole = resolveSchema(api, schema);
  const choices = whole.oneOf ?? whole.anyOf ?? whole.allOf;
  if (whole.properties) return <Properties api={api} schema={whole} depth={depth} />;
  if (whole.items) {
    return (
      <>
        <p className="kind">{describeType(api, whole)}</p>
        {isOpenable(api, whole.items) && <SchemaView api={api} schema={whole.items} depth={depth} />}
      </>
    );
  }
  if (choices?.some((choice) => isOpenable(api, choice))) {
    return (
      <>
        <p className="kind">{whole.allOf ? "All of:" : "One of:"}</p>
        <ul className="choices">
          {choices.map((choice) => (
            <li key={JSON.stringify(choice).slice(0, 200)}>
              <Part api={api} schema={choice} label={describeType(api, choice)} depth={depth} />
            </li>
          ))}
        </ul>
      </>
    );
  }
  if (typeof whole.additionalProperties === "object") {
    return <p className="kind">Any names, each with: {describeType(api, whole.additionalProperties)}</p>;
  }
  return <p className="kind">{describeType(api, whole)}</p>;
}

function Properties({ api, schema, depth }: { api: ApiDocument; schema: Schema; depth: number }) {
  const required = new Set(schema.required ?? []);
  return (
    <dl className="properties">
      {Object.entries(schema.properties ?? {}).map(([name, property]) => (
        <div key={name}>
          <dt>
            <code className="name">{name}</code>
            <span className="kind">{describeType(api, property)}</span>
            {required.has(name) && <span className="required">required</span>}
          </dt>
          <dd>
            <Text>{property.description ?? resolveSchema(api, property).description}</Text>
            {describeLimits(property).map((limit) => (
              <span className="limit" key={limit}>
                {limit}
              </span>
            ))}
            {isOpenable(api, property) && (
              <Part api={api} schema={property} label={`Fields of ${name}`} depth={depth + 1} />
            )}
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** A part that is made when it is opened. */
function Part({ api, schema, label, depth }: { api: ApiDocument; schema: Schema; label: string; depth: number }) {
  const [wasOpened, setOpened] = useState(false);
  if (!isOpenable(api, schema)) return <span className="kind">{label}</span>;
  return (
    <details onToggle={() => setOpened(true)}>
      <summary>{label}</summary>
      {wasOpened && <SchemaView api={api} schema={schema} depth={depth} />}
    </details>
  );
}

/** Whether there is more to see than the type. */
function isOpenable(api: ApiDocument, schema: Schema): boolean {
  const whole = resolveSchema(api, schema);
  if (whole.properties) return true;
  if (whole.items) return isOpenable(api, whole.items);
  return (whole.oneOf ?? whole.anyOf ?? whole.allOf ?? []).some((choice) => isOpenable(api, choice));
}
