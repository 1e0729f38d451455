// Renders the page that plays a live stream, and the 404 page. Each is one file without cookies or foreign addresses.
import { contentPolicy, escapeHtml, fillTemplate, pageHeaders } from "../../src/kernel/util/html.ts";
import page from "./player-page.htm" with { type: "text" };

export interface PlayerPages {
  /** `name`: the agent's name where its public page is on, else null. */
  playerPage(name: string | null): Response;
  /** Status 404. */
  notFoundPage(): Response;
}

const NOT_FOUND_MAIN =
  "<main>\n<h1>Nothing is shown here</h1>\n<p>There is no live stream at this address.</p>\n</main>";

export function createPlayerPages(): PlayerPages {
  // Media is what the script has fetched (blob:), or the playlist where the browser plays HLS natively.
  const playerPolicy = contentPolicy({
    styles: page,
    scripts: page,
    connect: ["'self'"],
    media: ["'self'", "blob:"],
  });
  const playerHeaders = pageHeaders(playerPolicy);
  const notFoundHeaders = pageHeaders(contentPolicy({ styles: page }));
  const notFoundHtml = page
    .replace(/<script>.*<\/script>\n/s, () => "")
    .replace(/<main>.*<\/main>/s, () => NOT_FOUND_MAIN);
  const withTitle = (html: string, title: string) => fillTemplate(html, { title: escapeHtml(title) });

  return {
    playerPage: (name) => new Response(withTitle(page, name ?? "Live stream"), { headers: playerHeaders }),
    notFoundPage: () =>
      new Response(withTitle(notFoundHtml, "Nothing is shown here"), { status: 404, headers: notFoundHeaders }),
  };
}
