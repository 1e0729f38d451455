// Shows one operation: what it does, its input and answers with recorded examples, and a form that sends it.
import {
  type ApiDocument,
  type ApiResponse,
  asText,
  describeLimits,
  describeType,
  type Entry,
  exampleOf,
  resolveResponse,
} from "./api-document.ts";
import { CodeBlock } from "./code-block.tsx";
import { SchemaView } from "./schema-view.tsx";
import { inline, Text } from "./text.tsx";
import { TryIt } from "./try-it.tsx";

export function OperationView({ api, entry }: { api: ApiDocument; entry: Entry }) {
  const { method, path, operation } = entry;
  const { summary, description, deprecated, parameters = [], requestBody, responses, security = [] } = operation;
  const sent = exampleOf(requestBody?.content);
  const statuses = Object.entries(responses);
  return (
    <article>
      <p className="crumb">{entry.tag}</p>
      <h1>{inline(summary)}</h1>
      <p className="address">
        <span className={`method ${method.toLowerCase()}`}>{method}</span> <code>{path}</code>
        {deprecated && <span className="deprecated">deprecated</span>}
      </p>
      <Text>{description}</Text>
      <p className="meta">
        <span>
          Operation id <code>{operation.operationId}</code>
        </span>
        <span>{describeSecurity(api, security)}</span>
      </p>
      {parameters.length > 0 && (
        <>
          <h2>Parameters</h2>
          <dl className="properties">
            {parameters.map((one) => (
              <div key={one.name}>
                <dt>
                  <code className="name">{one.name}</code>
                  <span className="kind">
                    {one.in}, {describeType(api, one.schema)}
                  </span>
                  {one.required && <span className="required">required</span>}
                </dt>
                <dd>
                  <Text>{one.description}</Text>
                  {describeLimits(one.schema).map((limit) => (
                    <span className="limit" key={limit}>
                      {limit}
                    </span>
                  ))}
                </dd>
              </div>
            ))}
          </dl>
        </>
      )}
      {requestBody && (
        <>
          <h2>Request body</h2>
          <Text>{requestBody.description}</Text>
          {Object.entries(requestBody.content).map(([type, { schema }]) => (
            <div key={type}>
              <p className="kind">{type}</p>
              {schema && <SchemaView api={api} schema={schema} />}
            </div>
          ))}
          {sent && <CodeBlock label="Example of the request" text={asText(sent.value)} />}
        </>
      )}
      <h2>Try it</h2>
      <TryIt key={operation.operationId} entry={entry} />
      <h2>Responses</h2>
      {statuses
        .filter(([status]) => Number(status) < 400)
        .map(([status, response]) => (
          <Answer key={status} api={api} status={status} response={resolveResponse(api, response)} />
        ))}
      <h2>Errors</h2>
      <dl className="properties">
        {statuses
          .filter(([status]) => !(Number(status) < 400))
          .map(([status, response]) => (
            <div key={status}>
              <dt>
                <span className="status bad">{status}</span>
              </dt>
              <dd>{inline(resolveResponse(api, response).description)}</dd>
            </div>
          ))}
      </dl>
    </article>
  );
}

function Answer({ api, status, response }: { api: ApiDocument; status: string; response: ApiResponse }) {
  return (
    <section>
      <h3>
        <span className="status good">{status}</span> {inline(response.description)}
      </h3>
      {Object.entries(response.content ?? {}).map(([type, { schema, examples = {} }]) => (
        <div key={type}>
          <p className="kind">{type}</p>
          {schema && <SchemaView api={api} schema={schema} />}
          {Object.entries(examples).map(([name, { summary, value }]) => (
            <CodeBlock key={name} label={summary ?? `Example of ${status}, ${type}`} text={asText(value)} />
          ))}
        </div>
      ))}
    </section>
  );
}

function describeSecurity(api: ApiDocument, security: Record<string, string[]>[]): string {
  if (security.length === 0) return "Anyone may call it";
  const names: Record<string, string> = {
    session: "a session",
    apiKey: "an API key",
    serviceToken: "a service token",
    gatewayToken: "the agent's token",
    metricsToken: "the metrics token",
  };
  const known = security
    .flatMap(Object.keys)
    .map((name) => names[name] ?? api.components.securitySchemes[name]?.name ?? name);
  return known.length === 0 ? "Anyone may call it" : `Needs ${known.join(", or ")}`;
}
