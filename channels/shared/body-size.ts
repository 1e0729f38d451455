/** Bytes of a request's body, for the traffic of an agent; of a form those of its fields. */
export function bodySize(body: string | FormData | undefined): number {
  if (!(body instanceof FormData)) return Buffer.byteLength(body ?? "");
  const fields = [...body.values()] as (string | Blob)[];
  return fields.reduce((sum, field) => sum + (typeof field === "string" ? field.length : field.size), 0);
}
