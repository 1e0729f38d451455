// Compares the committed examples with the API document and with what the program answered just now.
import Ajv, { type ValidateFunction } from "ajv";
import { type MediaTypes, type OpenApiDocument, parseOperationName } from "../../src/kernel/http/openapi/document.ts";
import type { RecordedExample, RecordedExamples } from "../../src/kernel/http/openapi/examples.ts";
import type { Side } from "./tour.ts";

export interface Difference {
  operation: string;
  message: string;
}

const HOW =
  "Add the request to a scenario in tests/api-examples/scenarios (tour.call), then run `npm run examples`, which writes the example.";

/** The operations without an example, and the examples that are no longer true, each with what to do. */
export function differences(
  side: Side,
  document: OpenApiDocument,
  committed: RecordedExamples,
  recorded?: RecordedExamples,
): Difference[] {
  const validate = createValidator(document);
  const found: Difference[] = [];
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, { responses }] of Object.entries(methods)) {
      const operation = `${method.toUpperCase()} ${path}`;
      if (responses?.[101]) continue;
      const report = (message: string) => found.push({ operation, message: `${operation} (${side}): ${message}` });
      const examples = committed[operation] ?? [];
      if (examples.length === 0) report(`it has no example. ${HOW}`);
      for (const example of examples) {
        const problem = validate(operation, example);
        if (problem) report(`its example does not fit the schema any more: ${problem}. Run \`npm run examples\`.`);
      }
      for (const now of recorded?.[operation] ?? []) {
        const problem = validate(operation, now);
        if (problem)
          report(`the program's own answer does not fit the documented schema: ${problem}. Correct the schema.`);
      }
      const [first] = examples;
      const [now] = recorded?.[operation] ?? [];
      if (first && now && first.status !== now.status) {
        report(
          `the example has the status ${first.status}, the program answered ${now.status}. Run \`npm run examples\`.`,
        );
      }
    }
  }
  for (const operation of Object.keys(committed)) {
    const { method, path } = parseOperationName(operation);
    if (!document.paths[path]?.[method]) {
      found.push({ operation, message: `${operation} (${side}): there is no such route. Run \`npm run examples\`.` });
    }
  }
  return found;
}

/** Returns what is wrong with an example, if anything is. */
function createValidator(document: OpenApiDocument) {
  const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: false });
  ajv.addSchema({ $id: "api", ...document });
  const compiled = new Map<string, ValidateFunction>();
  const check = (content: MediaTypes | undefined, pointer: string, type: string, value: unknown) => {
    // A file of any type is documented as application/octet-stream.
    const documented = [type, "application/octet-stream"].find((one) => content?.[one]);
    if (documented === undefined) return `it documents no ${type}`;
    if (!content?.[documented]?.schema) return undefined;
    const ref = `api#${pointer}/content/${pointerPart(documented)}/schema`;
    const validate = compiled.get(ref) ?? ajv.compile({ $ref: ref });
    compiled.set(ref, validate);
    return validate(value) ? undefined : ajv.errorsText(validate.errors, { dataVar: "body" });
  };
  return (operation: string, { body, bodyType, status, type, response }: RecordedExample): string | undefined => {
    const { method, path } = parseOperationName(operation);
    const route = document.paths[path]?.[method];
    const at = `/paths/${pointerPart(path)}/${method}`;
    const answer = route?.responses?.[status];
    if (!answer) return `the status ${status} is not documented`;
    if (type !== undefined && response !== undefined) {
      const name = answer.$ref?.split("/").at(-1);
      const content = name === undefined ? answer.content : document.components?.responses?.[name]?.content;
      const pointer = name === undefined ? `${at}/responses/${status}` : `/components/responses/${name}`;
      const values = type === "text/event-stream" && Array.isArray(response) ? response : [response];
      for (const value of values) {
        const problem = content && check(content, pointer, type, value);
        if (problem) return problem;
      }
    }
    if (body === undefined || status >= 400 || !route?.requestBody) return undefined;
    return check(route.requestBody.content, `${at}/requestBody`, bodyType ?? "application/json", body);
  };
}

const pointerPart = (part: string) => encodeURIComponent(part.replaceAll("~", "~0").replaceAll("/", "~1"));
