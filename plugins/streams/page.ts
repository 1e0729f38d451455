// The page that plays a stream, and the one that says that there is none. One file, no foreign address, no cookie.
import page from "./page.htm" with { type: "text" };

export interface Pages {
  /** `name`: of the agent, where anybody may know it. */
  viewer(name: string | null): Response;
  /** 404 */
  nothing(): Response;
}

const NOTHING = "<main>\n<h1>Nothing is shown here</h1>\n<p>There is no live stream at this address.</p>\n</main>";

export function createPages(): Pages {
  const [, style = ""] = /<style>(.*?)<\/style>/s.exec(page) ?? [];
  const [element = "", script = ""] = /<script>(.*?)<\/script>/s.exec(page) ?? [];
  const hash = (text: string) => `'sha256-${new Bun.CryptoHasher("sha256").update(text).digest("base64")}'`;
  const policy = [
    "default-src 'none'",
    `style-src ${hash(style)}`,
    `script-src ${hash(script)}`,
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
    "content-security-policy": policy,
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
  };
  const withTitle = (html: string, title: string) => html.replaceAll("{{title}}", () => escaped(title));

  return {
    viewer: (name) => new Response(withTitle(page, name ?? "Live stream"), { headers }),
    nothing() {
      const html = page.replace(element, () => "").replace(/<main>.*<\/main>/s, () => NOTHING);
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
const escaped = (text: string) => text.replace(/[&<>"']/g, (letter) => ENTITIES[letter] ?? "");
