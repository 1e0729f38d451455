// The web-fetch skill: reads a page or text document over the outbound guard, which blocks addresses of private
// networks.
import { Type as t } from "@sinclair/typebox";
import type { Outbound, OutboundResponse } from "../../../src/kernel/security/outbound.ts";
import { extractText } from "../../documents/index.ts";
import { MAX_RESULT } from "../prepared-tool.ts";
import { defineTool, type Skill, toolDeclined } from "../skill.ts";

const MAX_BYTES = 1_048_576;
const FETCH_TIMEOUT_MS = 15_000;
/** Leaves room for the address and the title within a tool's result. */
const MAX_PAGE_CHARACTERS = MAX_RESULT - 2000;
const TEXT_TYPES =
  /^(text\/|application\/(json|xml|xhtml\+xml|rss\+xml|atom\+xml|ld\+json|javascript|x-yaml|yaml)|[^;]*\+(json|xml)\b)/i;

/** Records bytes sent and received for an agent. */
type RecordTraffic = (agentId: string, sent: number, received: number) => void;

export function createWebFetchSkill(outbound: Outbound, recordTraffic: RecordTraffic = () => undefined): Skill {
  const tools = [webFetch(outbound, recordTraffic)];
  return {
    id: "web-fetch",
    name: "Web fetch",
    description: "Reads web pages and text documents by their address.",
    category: "web",
    version: "1.0.0",
    enabledByDefault: true,
    tools: () => tools,
  };
}

/** Nothing else of the header is quoted: a refusal is not marked as untrusted, and the server writes the header. */
const MEDIA_TYPE = /^(?:application|audio|font|image|model|video)\/[\w.+-]{1,40}(?=\s*(?:;|$))/i;

const webFetch = (outbound: Outbound, recordTraffic: RecordTraffic) =>
  defineTool({
    name: "web_fetch",
    class: "read",
    description: "Reads a web page or text document: its text, with headings and links. Long ones come in parts.",
    untrusted: true,
    timeoutMs: FETCH_TIMEOUT_MS + 2000,
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
          accept: "text/html,application/xhtml+xml,text/plain,application/json;q=0.9,*/*;q=0.5",
          "accept-language": "en,*;q=0.5",
          "user-agent": "Mozilla/5.0 (compatible; Berth)",
        },
      });
      recordTraffic(agentId, 0, response.bytes().byteLength);
      const type = response.headers.get("content-type") ?? "text/plain";
      if (!TEXT_TYPES.test(type))
        throw toolDeclined(`This address leads to ${MEDIA_TYPE.exec(type)?.[0] ?? "a file"}, not to text.`);
      const { title, text } = await contentOf(response, type);
      const part = text.slice(from, from + MAX_PAGE_CHARACTERS);
      const until = from + part.length;
      return [
        `Address: ${response.finalUrl.slice(0, 1000)}`,
        ...(response.ok ? [] : [`Status: ${response.status}`]),
        ...(title ? [`Title: ${title.slice(0, 300)}`] : []),
        "",
        part || (from > 0 ? "(nothing after that)" : "(no text)"),
        ...(until < text.length
          ? ["", `[Characters ${from} to ${until} of ${text.length}. Read on with from: ${until}.]`]
          : []),
      ].join("\n");
    },
  });

async function contentOf(response: OutboundResponse, type: string): Promise<{ title: string; text: string }> {
  const bytes = response.bytes();
  const html = /html/i.test(type);
  const text = decoderFor(type, html ? bytes : undefined).decode(bytes);
  return html ? extractText(text, response.finalUrl) : { title: "", text: text.trim() };
}

/** A decoder for the charset of the header, else of the page's first kilobyte, else UTF-8. */
function decoderFor(type: string, page: Uint8Array | undefined): TextDecoder {
  const inPage = () => new TextDecoder("latin1").decode(page?.subarray(0, 1024)).match(CHARSET)?.[1];
  const label = type.match(CHARSET)?.[1] ?? inPage() ?? "utf-8";
  try {
    // The label comes from outside: TextDecoder throws a RangeError for an unknown one.
    return new TextDecoder(label as Bun.Encoding);
  } catch (error) {
    if (error instanceof RangeError) return new TextDecoder();
    throw error;
  }
}
const CHARSET = /charset\s*=\s*["']?([\w-]{1,40})/i;
