// Lists the formats in which agents write documents.

export const FORMATS = {
  pdf: "application/pdf",
  docx: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
  html: "text/html",
  md: "text/markdown",
  txt: "text/plain",
  csv: "text/csv",
} as const;

export type Format = keyof typeof FORMATS;

/** By the ending of a name; undefined for another one. */
export function formatOf(name: string): Format | undefined {
  const ending = /\.([a-z]+)$/i.exec(name.trim())?.[1]?.toLowerCase() ?? "";
  return Object.hasOwn(FORMATS, ending) ? (ending as Format) : undefined;
}
