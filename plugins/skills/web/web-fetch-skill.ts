// The web-fetch skill: reads a page or document over the outbound guard, which blocks addresses of private networks.
import { Type as t } from "@sinclair/typebox";
import { AppError } from "../../../src/kernel/errors.ts";
import type { Outbound, OutboundResponse } from "../../../src/kernel/security/outbound.ts";
import { claimedKind, type DocumentReader } from "../../documents/index.ts";
import { MAX_RESULT } from "../prepared-tool.ts";
import { defineTool, type Skill, toolDeclined } from "../skill.ts";

/** Room for a PDF; longer texts are cut by the reader. */
const MAX_BYTES = 8 * 1_048_576;
const FETCH_TIMEOUT_MS = 15_000;
/** For fetching, and then reading the document on its thread. */
const TIMEOUT_MS = 2 * FETCH_TIMEOUT_MS;
/** Leaves room for the address and the title within a tool's result. */
const MAX_PAGE_CHARACTERS = MAX_RESULT - 2000;
/** Texts that are given as they are. */
const PLAIN_TYPES =
  /^(?:text\/(?!html)|application\/(?:json|xml|rss\+xml|atom\+xml|ld\+json|javascript|x-yaml|yaml)\b|[^;]*(?<!xhtml)\+(?:json|xml)\b)/i;

/** Records bytes sent and received for an agent. */
type RecordTraffic = (agentId: string, sent: number, received: number) => void;

interface Deps {
  outbound: Pick<Outbound, "fetch">;
  /** Reads articles, PDF and DOCX on a thread. */
  documents: Pick<DocumentReader, "read">;
  recordTraffic?: RecordTraffic;
}

export function createWebFetchSkill(deps: Deps): Skill {
  const tools = [webFetch(deps)];
  return {
    id: "web-fetch",
    name: "Web fetch",
    description: "Reads web pages, PDF and text documents by their address.",
    category: "web",
    version: "1.0.0",
    enabledByDefault: true,
    tools: () => tools,
  };
}

/** Nothing else of the header is quoted: a refusal is not marked as untrusted, and the server writes the header. */
const MEDIA_TYPE = /^(?:application|audio|font|image|model|video)\/[\w.+-]{1,40}(?=\s*(?:;|$))/i;

const webFetch = ({ outbound, documents, recordTraffic }: Deps) =>
  defineTool({
    name: "web_fetch",
    class: "read",
    description:
      "Reads a web page, PDF, DOCX or text document: its article with headings and links, title and date. Long ones come in parts.",
    untrusted: true,
    quotes: true,
    sends: ({ url }) => url,
    summarize: ({ url }) => `Open ${url}`,
    timeoutMs: TIMEOUT_MS + 2000,
    input: t.Object({
      url: t.String({ minLength: 1, maxLength: 2000, description: "http or https." }),
      from: t.Optional(t.Integer({ minimum: 0, description: "Character to start at, to read on." })),
    }),
    async execute({ url, from = 0 }, { signal, agentId }) {
      const response = await outbound.fetch(url, {
        signal,
        timeoutMs: FETCH_TIMEOUT_MS,
        maxBytes: MAX_BYTES,
        headers: {
          accept: "text/html,application/xhtml+xml,application/pdf,text/plain,application/json;q=0.9,*/*;q=0.5",
          "accept-language": "en,*;q=0.5",
          "user-agent": "Mozilla/5.0 (compatible; Berth)",
        },
      });
      recordTraffic?.(agentId, 0, response.bytes().byteLength);
      const { title, published, text, isCut } = await contentOf(response, documents, signal);
      const part = text.slice(from, from + MAX_PAGE_CHARACTERS);
      const until = from + part.length;
      return [
        `Address: ${response.finalUrl.slice(0, 1000)}`,
        ...(response.ok ? [] : [`Status: ${response.status}`]),
        ...(title ? [`Title: ${title.slice(0, 300)}`] : []),
        ...(published ? [`Published: ${published.slice(0, 60)}`] : []),
        "",
        part || (from > 0 ? "(nothing after that)" : "(no text)"),
        ...(until < text.length
          ? ["", `[Characters ${from} to ${until} of ${text.length}. Read on with from: ${until}.]`]
          : isCut
            ? ["", "[The document is longer; the rest was not read.]"]
            : []),
      ].join("\n");
    },
  });

interface Content {
  title: string;
  published?: string | undefined;
  text: string;
  isCut: boolean;
}

async function contentOf(
  response: OutboundResponse,
  documents: Pick<DocumentReader, "read">,
  signal: AbortSignal,
): Promise<Content> {
  const type = response.headers.get("content-type") ?? "text/plain";
  if (PLAIN_TYPES.test(type)) {
    return { title: "", text: decoderFor(type).decode(response.bytes()).trim(), isCut: false };
  }
  const { pathname } = new URL(response.finalUrl);
  const name = pathname.slice(pathname.lastIndexOf("/") + 1);
  if (!/^application\/octet-stream\b/i.test(type) && claimedKind({ type }) === undefined) throw notReadable(type);
  try {
    // A copy, because the bytes move to the thread.
    const bytes = new Uint8Array(response.bytes());
    const { pages, ...facts } = await documents.read({ bytes, type, name, url: response.finalUrl }, signal);
    const text = pages.map((page) => (page.page === undefined ? page.text : `[Page ${page.page}]\n${page.text}`));
    return { ...facts, text: text.join("\n\n") };
  } catch (error) {
    const reason = error instanceof AppError ? error.extras.reason : undefined;
    if (reason === "UNSUPPORTED") throw notReadable(type);
    // A page may have no text but pictures.
    if (reason === "EMPTY" && /html/i.test(type)) return { title: "", text: "", isCut: false };
    throw error;
  }
}

const notReadable = (type: string) =>
  toolDeclined(`This address leads to ${MEDIA_TYPE.exec(type)?.[0] ?? "a file"}, not to text.`);

/** A decoder for the charset of the header, else UTF-8. */
function decoderFor(type: string): TextDecoder {
  const label = type.match(/charset\s*=\s*["']?([\w-]{1,40})/i)?.[1] ?? "utf-8";
  try {
    // The label comes from outside: TextDecoder throws a RangeError for an unknown one.
    return new TextDecoder(label as Bun.Encoding);
  } catch (error) {
    if (error instanceof RangeError) return new TextDecoder();
    throw error;
  }
}
