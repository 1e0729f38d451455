// Describes a form with one file for the API document.

/** One entry of a request body's `content`. */
export const fileForm = {
  "multipart/form-data": {
    schema: {
      type: "object" as const,
      required: ["file"],
      properties: { file: { type: "string" as const, format: "binary" } },
    },
  },
};
