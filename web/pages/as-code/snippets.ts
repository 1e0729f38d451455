// Prints a request as a command or as code that can be pasted and run.

import type { RecordedRequest } from "../../api/request-log.ts";

type Request = Pick<RecordedRequest, "method" | "url" | "body" | "file" | "stream">;

/** Quotes a text for a POSIX shell. */
const shell = (value: string) => `'${value.replaceAll("'", `'\\''`)}'`;

/** In place of the file that was sent. */
const FILE = "./FILE";

export function asCurl({ method, url, body, file, stream }: Request, origin: string): string {
  const lines = [
    `curl ${stream ? "-N " : ""}${method === "GET" ? "" : `-X ${method} `}${shell(origin + url)}`,
    `  -H "authorization: Bearer $BERTH_KEY"`,
    ...(stream ? ["  -H 'accept: text/event-stream'"] : []),
    ...(body === undefined ? [] : ["  -H 'content-type: application/json'", `  -d ${shell(JSON.stringify(body))}`]),
    ...(file?.field ? [`  -F ${shell(`${file.field}=@${FILE}`)}`] : []),
    ...(file && !file.field ? [`  -H ${shell(`content-type: ${file.type}`)}`, `  --data-binary @${FILE}`] : []),
  ];
  return lines.join(" \\\n");
}

export function asTypeScript({ method, url, body, file, stream }: Request, origin: string): string {
  const type = body === undefined ? !file?.field && file?.type : "application/json";
  const lines = [
    ...(file ? ['import { openAsBlob } from "node:fs";', "", `const file = await openAsBlob("${FILE}");`] : []),
    ...(file?.field ? ["const form = new FormData();", `form.set(${JSON.stringify(file.field)}, file, "FILE");`] : []),
    `const response = await fetch(${JSON.stringify(origin + url)}, {`,
    ...(method === "GET" ? [] : [`  method: "${method}",`]),
    "  headers: {",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the template is in the printed code
    "    authorization: `Bearer ${process.env.BERTH_KEY}`,",
    ...(stream ? ['    accept: "text/event-stream",'] : []),
    ...(type ? [`    "content-type": ${JSON.stringify(type)},`] : []),
    "  },",
    ...(body === undefined ? [] : [`  body: JSON.stringify(${indent(JSON.stringify(body, null, 2))}),`]),
    ...(file ? [file.field ? "  body: form," : "  body: file,"] : []),
    "});",
    "if (!response.ok) throw new Error((await response.json()).error);",
    ...(stream
      ? [
          "const decoder = new TextDecoder();",
          "for await (const bytes of response.body ?? []) process.stdout.write(decoder.decode(bytes, { stream: true }));",
        ]
      : ["console.log(await response.json());"]),
  ];
  return lines.join("\n");
}

const indent = (code: string) => code.replaceAll("\n", "\n  ");
