// The skill of documents: `write_document` makes a file of Markdown that the model writes, and sends it with the reply.
//
// The tool is of the class `read`: it answers in the conversation, as the reply itself does. The file is stored under the key of
// the call, so a call that is repeated after a crash finds it.
import { Type as t } from "@sinclair/typebox";
import { oneLine } from "../../src/kernel/util/text/quoted-text.ts";
import { SECOND } from "../../src/kernel/util/time.ts";
import { defineTool, type Skill, toolDeclined } from "../skills/index.ts";
import { FORMATS, formatOf } from "./formats.ts";
import { writeDocument } from "./writing-thread.ts";

/** Writing takes up to 30 s, after those of others. */
const TIMEOUT_MS = 90 * SECOND;
const MAX_CONTENT = 200_000;

export function createDocumentSkill(): Skill {
  const tools = [
    defineTool({
      name: "write_document",
      class: "read",
      description:
        "Writes a document and sends it to the person as a file with your reply. The ending of the name decides: .pdf, .docx, .html, .md, .txt, or .csv for a table. " +
        "For a text to be kept, printed or worked on; not for an ordinary answer.",
      timeoutMs: TIMEOUT_MS,
      input: t.Object({
        name: t.String({ minLength: 1, maxLength: 120, description: "Of the file, such as Offer.pdf." }),
        content: t.String({
          minLength: 1,
          maxLength: MAX_CONTENT,
          description:
            "All of it as Markdown: headings, lists, tables, bold, links, code. For .csv one table. Pictures are not put in.",
        }),
      }),
      summarize: ({ name, content }) => `Write the document "${oneLine(name)}" and send it: ${content}`,
      async execute({ name, content }, { attach, signal }) {
        if (!attach) throw toolDeclined("Files can't be sent in this conversation: put what matters into your answer.");
        const format = formatOf(name);
        if (!format) throw toolDeclined(`End the name with one of ${ENDINGS}.`);
        if (content.trim() === "") throw toolDeclined("The document has no text.");
        let leftOut: readonly string[] = [];
        const { name: sent } = await attach(async () => {
          const written = await writeDocument({ format, content, title: titleFromName(name) }, signal);
          leftOut = written.leftOut;
          return { name: name.trim(), type: FORMATS[format], bytes: written.bytes, kind: "document" };
        });
        const without = leftOut.length > 0 ? ` Left out, because a PDF can't show them here: ${leftOut.join(" ")}` : "";
        return `${sent} is sent with your reply. Don't repeat its content.${without}`;
      },
    }),
  ];
  return {
    id: "documents",
    name: "Write documents",
    description: "Writes PDF, Word, HTML, Markdown and CSV files, and sends them.",
    category: "media",
    version: "1.0.0",
    enabledByDefault: false,
    tools: () => tools,
  };
}

const ENDINGS = Object.keys(FORMATS)
  .map((ending) => `.${ending}`)
  .join(", ");

const titleFromName = (name: string) =>
  name
    .trim()
    .replace(/\.[a-z]+$/i, "")
    .replaceAll(/[_-]+/g, " ");
