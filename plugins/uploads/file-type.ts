// Tells the type of an uploaded file by its first bytes, and the headers with which it may be sent to a browser.

/** Images that browsers show, by their first bytes; undefined for all others. */
export function imageTypeOf(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.subarray(0, 16)).toString("latin1");
  if (head.startsWith("\xff\xd8\xff")) return "image/jpeg";
  if (head.startsWith("\x89PNG\r\n\x1a\n")) return "image/png";
  if (/^GIF8[79]a/.test(head)) return "image/gif";
  return /^RIFF[\s\S]{4}WEBP/.test(head) ? "image/webp" : undefined;
}

const IMAGES = new Set(["image/jpeg", "image/png", "image/gif", "image/webp"]);
const UNKNOWN = "application/octet-stream";

/** What programs claim of a body whose type they don't know; curl sends the second. */
const NO_CLAIM = new Set([UNKNOWN, "application/x-www-form-urlencoded"]);
/** Types by the ending of a name that a browser would run. */
const RUNS_IN_BROWSERS = /html|xml|svg|javascript|wasm/;
/** Bytes that are looked at to tell text from anything else. */
const SAMPLE_BYTES = 4_096;

/**
 * The type to store: an image's own, else the claimed one if it has the form of a type and claims no image. Without such a claim,
 * the name's ending or the first bytes tell.
 */
export function storedType(claimed: string | null, bytes: Uint8Array, name: string): string {
  const image = imageTypeOf(bytes);
  if (image) return image;
  const type = essenceOf(claimed ?? "");
  return isType(type) && !NO_CLAIM.has(type) ? type : guessType(bytes, name);
}

function guessType(bytes: Uint8Array, name: string): string {
  // The runtime's table of endings; the file is not opened.
  const byName = /\.\w{1,10}$/.test(name) ? essenceOf(Bun.file(name).type) : UNKNOWN;
  if (isType(byName) && byName !== UNKNOWN && !RUNS_IN_BROWSERS.test(byName)) return byName;
  if (Buffer.from(bytes.subarray(0, 5)).toString("latin1") === "%PDF-") return "application/pdf";
  return looksLikeText(bytes.subarray(0, SAMPLE_BYTES)) ? "text/plain" : UNKNOWN;
}

const essenceOf = (type: string) => type.split(";")[0]?.trim().toLowerCase() ?? "";
const isType = (type: string) => /^[a-z]{1,20}\/[a-z0-9][a-z0-9.+-]{0,99}$/.test(type) && !IMAGES.has(type);

function looksLikeText(sample: Uint8Array): boolean {
  if (sample.includes(0)) return false;
  try {
    // The last character may be cut.
    new TextDecoder("utf-8", { fatal: true }).decode(sample, { stream: true });
    return true;
  } catch {
    return false;
  }
}

/** Nothing in the file runs or loads, even where a browser opens it as a page. */
const POLICY = "default-src 'none'; sandbox; frame-ancestors 'none'";

/**
 * Headers of the response with the file. Only images are shown in place; everything else is saved, and only sound, video and
 * plain text keep their type, since a browser runs none of them.
 */
export function fileHeaders({
  name,
  type,
  size,
}: {
  name: string;
  type: string;
  size: number;
}): Record<string, string> {
  const isImage = IMAGES.has(type);
  const keepsType = isImage || /^(?:audio|video)\//.test(type) || type === "text/plain" || type === "application/pdf";
  return {
    "content-type": keepsType ? type : UNKNOWN,
    "content-length": String(size),
    "content-disposition": `${isImage ? "inline" : "attachment"}; ${fileNameFields(name)}`,
    "content-security-policy": POLICY,
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "private, max-age=86400, immutable",
  };
}

/** The name in ASCII for every browser (RFC 6266), and whole in the encoding of RFC 5987. */
function fileNameFields(name: string): string {
  const plain = name.normalize("NFKD").replace(/[^A-Za-z0-9._-]+/g, "-");
  const full = encodeURIComponent(name.toWellFormed()).replace(
    /['()*]/g,
    (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `filename="${plain.replace(/^[-.]+|[-.]+$/g, "") || "file"}"; filename*=UTF-8''${full}`;
}
