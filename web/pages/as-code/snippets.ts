// Prints a request as a command or as code that can be pasted and run.

import type { RecordedRequest } from "../../app/request-log.ts";

type Request = Pick<RecordedRequest, "method" | "url" | "body">;

/** Quotes a text for a POSIX shell. */
const shell = (value: string) => `'${value.replaceAll("'", `'\\''`)}'`;

export function asCurl({ method, url, body }: Request, origin: string): string {
  const lines = [
    `curl ${method === "GET" ? "" : `-X ${method} `}${shell(origin + url)}`,
    `  -H "authorization: Bearer $BERTH_KEY"`,
    ...(body === undefined ? [] : ["  -H 'content-type: application/json'", `  -d ${shell(JSON.stringify(body))}`]),
  ];
  return lines.join(" \\\n");
}

export function asTypeScript({ method, url, body }: Request, origin: string): string {
  const headers = [
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the template is in the printed code
    "    authorization: `Bearer ${process.env.BERTH_KEY}`,",
    ...(body === undefined ? [] : ['    "content-type": "application/json",']),
  ];
  const lines = [
    `const response = await fetch(${JSON.stringify(origin + url)}, {`,
    ...(method === "GET" ? [] : [`  method: "${method}",`]),
    "  headers: {",
    ...headers,
    "  },",
    ...(body === undefined ? [] : [`  body: JSON.stringify(${indent(JSON.stringify(body, null, 2))}),`]),
    "});",
    "if (!response.ok) throw new Error((await response.json()).error);",
    "console.log(await response.json());",
  ];
  return lines.join("\n");
}

const indent = (code: string) => code.replaceAll("\n", "\n  ");
