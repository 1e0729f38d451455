// Renders the page that shows a chat in a frame, for sites that run no scripts of others, and the page of the console's preview.
import { version } from "../../package.json";
import type { Config } from "../../src/kernel/config/config.ts";
import { trustedOrigins } from "../../src/kernel/http/trusted-origins.ts";
import { contentPolicy, escapeHtml, fillTemplate, pageHeaders } from "../../src/kernel/pages/html.ts";
import { type Language, languageOf, preferredLanguage } from "../../src/kernel/pages/language.ts";
import { messagePage } from "../../src/kernel/pages/message-page.ts";
import { pageTemplate, pageText } from "../../src/kernel/pages/page-template.ts";
import type { Embedding } from "./embeddings.ts";
import frame from "./frame.htm" with { type: "text" };
import { lookOf, textsIn } from "./texts.ts";

const frameIn = pageTemplate(frame);
const NOT_FOUND = {
  title: pageText("Nobody is here"),
  text: pageText("There is no agent at this address. It may have moved on."),
};

export function createFramePages(config: Pick<Config, "baseUrl" | "backend">) {
  // A content security policy can't name IPv6 addresses (CSP level 3 §2.3.1).
  const ownOrigins = [...trustedOrigins({ ...config, corsOrigins: [] }, "web")].filter((one) => !one.includes("["));
  const address = `/embed.js?${version}`;
  const scriptFiles = ownOrigins.map((origin) => `${origin}/embed.js`);

  function render(language: Language, title: string, data: Record<string, string>, reach: Reach): Response {
    const template = frameIn(language);
    const attributes = Object.entries(data).map(([name, value]) => ` data-${name}="${escapeHtml(value)}"`);
    const script = `<script src="${address}"${attributes.join("")}></script>`;
    const html = fillTemplate(template, { title: escapeHtml(title), script });
    const policy = contentPolicy({ styles: template, scripts: "", scriptFiles, ...reach });
    return new Response(html, { headers: pageHeaders(policy) });
  }

  return {
    /** The chat as a page of its own, which only the agent's sites can show in a frame. `?lang`, `?theme` and `?accent` as in the script's attributes. */
    framePage(embedding: Embedding | undefined, request: Request): Response {
      const { searchParams } = new URL(request.url);
      const wanted = searchParams.get("lang");
      const language = wanted === null ? languageOf(request) : preferredLanguage(wanted);
      if (!embedding) return messagePage(NOT_FOUND, language, 404);
      const { agent, origins } = embedding;
      const given = ["theme", "accent"].flatMap((name) => {
        const value = searchParams.get(name);
        return value === null ? [] : [[name, value] as const];
      });
      const data = { agent: agent.subdomain, look: JSON.stringify(lookOf(embedding, language)) };
      return render(
        language,
        agent.name,
        { ...data, ...Object.fromEntries(given) },
        {
          connect: ownOrigins.flatMap((origin) =>
            ["messages", "stop"].map((path) => `${origin}/api/embed/${agent.subdomain}/${path}`),
          ),
          frameAncestors: origins,
        },
      );
    },

    /** A page with an example of the chat, which gets its look from the console and sends nothing. */
    preview(request: Request): Response {
      const language = languageOf(request);
      return render(
        language,
        "Berth",
        { preview: JSON.stringify({ language, texts: textsIn(language) }) },
        {
          frameAncestors: ownOrigins,
        },
      );
    },
  };
}

/** What a page may fetch, and who may show it. */
interface Reach {
  connect?: string[];
  frameAncestors: readonly string[];
}
