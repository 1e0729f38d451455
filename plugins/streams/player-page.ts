// The page that plays a stream, and the one that says that there is none. One file, no foreign address, no cookie.
import page from "./page.htm" with { type: "text" };

export interface PlayerPages {
  /** `name`: of the agent, where anybody may know it. */
  playerPage(name: string | null): Response;
  /** 404 */
  notFoundPage(): Response;
}

const NOT_FOUND_MAIN =
  "<main>\n<h1>Nothing is shown here</h1>\n<p>There is no live stream at this address.</p>\n</main>";

export function createPlayerPages(): PlayerPages {
  const [, style = ""] = /<style>(.*?)<\/style>/s.exec(page) ?? [];
  const [element = "", script = ""] = /<script>(.*?)<\/script>/s.exec(page) ?? [];
  const cspHash = (text: string) => `'sha256-${new Bun.CryptoHasher("sha256").update(text).digest("base64")}'`;
  const contentSecurityPolicy = [
    "default-src 'none'",
    `style-src ${cspHash(style)}`,
    `script-src ${cspHash(script)}`,
    "connect-src 'self'",
    // Made of what the script has fetched, or the playlist where the browser plays it by itself.
    "media-src 'self' blob:",
    "img-src data:",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join("; ");
  const headers = {
    "content-type": "text/html;charset=utf-8",
    "content-security-policy": contentSecurityPolicy,
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
  };
  const withTitle = (html: string, title: string) => html.replaceAll("{{title}}", () => escapeHtml(title));

  return {
    playerPage: (name) => new Response(withTitle(page, name ?? "Live stream"), { headers }),
    notFoundPage() {
      const html = page.replace(element, () => "").replace(/<main>.*<\/main>/s, () => NOT_FOUND_MAIN);
      return new Response(withTitle(html, "Nothing is shown here"), { status: 404, headers });
    },
  };
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};
const escapeHtml = (text: string) => text.replace(/[&<>"']/g, (letter) => ENTITIES[letter] ?? "");
