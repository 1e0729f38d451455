// Reads headers in which clients rank what they accept.

/** The values of such a header (RFC 9110 §12.4.2) in lower case, the preferred ones first; without those of weight 0. */
export function acceptedValues(header: string | null): string[] {
  return (header ?? "")
    .slice(0, 1_000)
    .split(",")
    .map(readRange)
    .filter(({ weight }) => weight > 0)
    .sort((a, b) => b.weight - a.weight)
    .map(({ value }) => value);
}

function readRange(range: string): { value: string; weight: number } {
  const [value = "", ...parameters] = range.split(";").map((part) => part.trim().toLowerCase());
  const weight = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2) ?? "1";
  return { value, weight: Number.parseFloat(weight) };
}

/** Whether `text/html` comes before `application/json`. Browsers name it; programs send a wildcard or nothing. */
export function prefersHtml({ headers }: Pick<Request, "headers">): boolean {
  const types = acceptedValues(headers.get("accept"));
  return types.find((type) => type === "text/html" || type === "application/json") === "text/html";
}
