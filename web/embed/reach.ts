// Finds out why a request to Berth failed, which the browser does not tell scripts.

/**
 * Whether Berth answers now: every page may read its script, so what fails beside it is refused to this site. The query passes
 * caches in between. Of a page of Berth's own it is not asked, because such a page reads Berth's refusals.
 */
export async function isAnswering(chat: string): Promise<boolean> {
  const script = new URL(`../../embed.js?${Date.now()}`, chat);
  if (script.origin === location.origin) return false;
  try {
    const init: RequestInit = { method: "HEAD", cache: "no-store", credentials: "omit", referrerPolicy: "no-referrer" };
    return (await fetch(script, init)).ok;
  } catch {
    return false;
  }
}
