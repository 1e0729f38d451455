// Defines the schemas of requests and responses about files.

import { type Static, t } from "elysia";
import { fileForm } from "../../src/kernel/http/openapi/file-form.ts";
import type { Passage } from "./chunk-store.ts";
import type { KnowledgeFile } from "./file-store.ts";
import type { Quota } from "./quota.ts";

const nullable = <Schema extends Parameters<typeof t.Union>[0][number]>(schema: Schema) => t.Union([schema, t.Null()]);
const refresh = t.Union([t.Literal("hour"), t.Literal("day"), t.Literal("week"), t.Null()], {
  description: "How often the address is read again; null: only when you say so",
  error: "This must be hour, day, week or null.",
});

export const fileItem = t.Object(
  {
    id: t.String(),
    name: t.String({ examples: ["Handbook.pdf"] }),
    type: t.String({ description: "The media type, as its sender or server claims" }),
    size: t.Integer({ description: "Bytes of the file as it came" }),
    digest: nullable(
      t.String({ description: "SHA-256 of its bytes as they came, in base64url; null until an address was read" }),
    ),
    url: nullable(t.String({ description: "The address that it is read from" })),
    refresh,
    status: t.Union([t.Literal("queued"), t.Literal("indexing"), t.Literal("ready"), t.Literal("failed")], {
      description: "A file that failed when it was read again is still found in its earlier form",
    }),
    chunks: t.Integer({ description: "Passages that can be found" }),
    progress: t.Object({
      written: t.Integer({ description: "Passages that are stored so far" }),
      expected: t.Integer({ description: "All of them; 0 until the document has been read" }),
    }),
    title: t.String({ description: "The document's own title, if it has one" }),
    published: nullable(t.String({ description: "When it was published or made, as the document says" })),
    cut: t.Boolean({ description: "The document is longer than what is read of one" }),
    error: nullable(
      t.String({
        description: "Why it could not be read, and what to do; of a file that waits, why the last try failed",
      }),
    ),
    errorCode: nullable(t.String({ description: "The same for programs, such as DOCUMENT_ENCRYPTED" })),
    source: t.Union([t.Literal("owner"), t.Literal("agent")], {
      description: "Who added it: the owner here, or the agent when its owner asked for it in a chat",
    }),
    createdAt: t.String({ description: "ISO 8601" }),
    readAt: nullable(t.String({ description: "ISO 8601. When it was read last" })),
  },
  { title: "KnowledgeFile" },
);
const amounts = t.Object({
  files: t.Integer(),
  bytes: t.Integer(),
  chunks: t.Integer({ description: "Passages" }),
});
export const fileList = t.Object({
  files: t.Array(fileItem),
  count: t.Integer(),
  used: amounts,
  limits: t.Object(amounts.properties, { description: "What the owner's plan has room for, for each agent" }),
});
export const fileResponse = t.Object({ file: fileItem });
export const removedFile = t.Object({ success: t.Boolean(), id: t.String() });
export const listQuery = t.Object({
  limit: t.Optional(t.String({ description: "1 to 100, default 50" })),
  offset: t.Optional(t.String({ description: "Default 0" })),
});
export const changeBody = t.Object({ refresh });
export const searchQuery = t.Object({
  query: t.String({ maxLength: 1_000, description: "A question, or words that the passage has" }),
  limit: t.Optional(t.String({ description: "1 to 50, default 10" })),
});
export const searchResults = t.Object({
  results: t.Array(
    t.Object({
      fileId: t.String(),
      name: t.String(),
      page: nullable(t.Integer({ description: "From 1; null where the format has no pages" })),
      heading: t.String({ description: "The headings above it, outermost first" }),
      text: t.String(),
      score: t.Number({ description: "Best first; comparable within one search only" }),
    }),
  ),
  count: t.Integer(),
});

/** The body of a new file for the OpenAPI document: a form with one file, or an address. */
export const addRequestDocs = {
  required: true,
  content: {
    ...fileForm,
    "application/json": {
      schema: {
        type: "object" as const,
        required: ["url"],
        properties: {
          url: { type: "string" as const, description: "http or https", example: "https://example.com/guide" },
          refresh: {
            enum: ["hour", "day", "week", null],
            description: "How often it is read again; left out: only when you say so",
          },
        },
      },
    },
  },
};

const isoOrNull = (at: number | null) => (at === null ? null : new Date(at).toISOString());

export const toFileItem = (file: KnowledgeFile): Static<typeof fileItem> => ({
  id: file.id,
  name: file.name,
  type: file.type,
  size: file.size,
  digest: file.digest,
  url: file.url,
  refresh: file.refresh,
  status: file.status,
  chunks: file.chunks,
  progress: { written: file.written, expected: file.expected },
  title: file.title,
  published: file.published,
  cut: file.isCut,
  error: file.error,
  errorCode: file.errorCode,
  source: file.origin,
  createdAt: new Date(file.createdAt).toISOString(),
  readAt: isoOrNull(file.readAt),
});

export const toFileList = (
  files: readonly KnowledgeFile[],
  { used, quota }: { used: Quota; quota: Quota },
): Static<typeof fileList> => ({ files: files.map(toFileItem), count: files.length, used, limits: quota });

export const toSearchResults = (passages: readonly Passage[]): Static<typeof searchResults> => ({
  results: passages.map(({ fileId, name, page, heading, text, score }) => ({
    fileId,
    name,
    page,
    heading,
    text,
    score,
  })),
  count: passages.length,
});
