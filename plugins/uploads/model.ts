// Defines the schemas of requests and responses about uploads.

import { type Static, t } from "elysia";
import { fileForm } from "../../src/kernel/http/openapi/file-form.ts";
import type { Upload } from "./upload-store.ts";

export const uploadItem = t.Object(
  {
    id: t.String(),
    name: t.String(),
    type: t.String({ description: "The media type: of pictures by their first bytes, else as its sender claims" }),
    size: t.Integer({ description: "Bytes" }),
    createdAt: t.String({ description: "ISO 8601" }),
  },
  { title: "Upload" },
);

export const uploadList = t.Object({
  uploads: t.Array(uploadItem),
  count: t.Integer(),
  nextCursor: t.Union([t.String({ description: "For the next page" }), t.Null()]),
});

export const uploadListQuery = t.Object({
  limit: t.Optional(t.String({ description: "1 to 100, default 50" })),
  cursor: t.Optional(t.String({ maxLength: 100, description: "`nextCursor` of the previous page" })),
});

export const uploadQuery = t.Object({
  name: t.Optional(t.String({ description: "The file's name, where the body is the file itself" })),
});

export const removedUpload = t.Object({ success: t.Literal(true) });

/** The body of an upload for the OpenAPI document: a form with one file, or the file itself. */
export const uploadRequestDocs = {
  required: true,
  content: {
    ...fileForm,
    "application/octet-stream": { schema: { type: "string" as const, format: "binary" } },
  },
};

export const toUploadItem = ({ createdAt, ...upload }: Upload): Static<typeof uploadItem> => ({
  ...upload,
  createdAt: new Date(createdAt).toISOString(),
});
