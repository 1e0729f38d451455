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

/** The type to store: an image's own, else the claimed one if it has the form of a type and claims no image. */
export function storedType(claimed: string | null, bytes: Uint8Array): string {
  const image = imageTypeOf(bytes);
  if (image) return image;
  const type = claimed?.split(";")[0]?.trim().toLowerCase() ?? "";
  return /^[a-z]{1,20}\/[a-z0-9][a-z0-9.+-]{0,99}$/.test(type) && !IMAGES.has(type) ? type : UNKNOWN;
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
