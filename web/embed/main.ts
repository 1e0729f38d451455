// embed.js: shows the chat of the agent that its script element names. On a site of others it is a bubble; on Berth's own page
// for frames (plugins/embed/frame-page.ts) it fills the page; in the console's preview it gets its look by messages.

import { createBubble } from "./bubble.ts";
import { createChat } from "./chat.ts";
import { type Conversation, openConversation } from "./conversation.ts";
import { createElement as h } from "./element.ts";
import { type Look, languagesOf, wishesOf } from "./look.ts";
import { startPreview } from "./preview.ts";
import { isAnswering } from "./reach.ts";
import { registry } from "./registry.ts";
import { createSurface } from "./surface.ts";

/** Seconds before the look is asked for again. */
const RETRIES_S = [5, 30, 120, 600];

const { chats } = registry();
for (const script of ownScripts()) start(script);

/** The element that runs now. A module does not know its element, so all of them are looked at. */
function ownScripts(): HTMLScriptElement[] {
  const { currentScript } = document;
  if (currentScript instanceof HTMLScriptElement) return [currentScript];
  return [...document.querySelectorAll<HTMLScriptElement>("script[data-agent][src*='/embed.js']")];
}

function start(script: HTMLScriptElement): void {
  const { agent = "", look, preview } = script.dataset;
  if (preview !== undefined) {
    startPreview(JSON.parse(preview) as Pick<Look, "language" | "texts">);
    return;
  }
  if (!/^[\w-]{1,64}$/.test(agent)) {
    console.warn("Berth: the script element needs data-agent, the name of the agent in its public address.");
    return;
  }
  const address = new URL(`api/embed/${agent}`, script.src).href;
  const attach = chats.get(address);
  if (attach) {
    attach();
    return;
  }
  chats.set(address, () => undefined);
  if (look !== undefined) startPage(script, address, JSON.parse(look) as Look);
  else void startBubble(script, address);
}

function conversationAt(address: string, { dataset }: HTMLScriptElement): Conversation {
  return openConversation(address, `berth ${address}`, storageOf(dataset.remember !== undefined));
}

/** Undefined where the browser forbids storage, as in a frame that is a sandbox. */
function storageOf(isLasting: boolean): Storage | undefined {
  try {
    return isLasting ? localStorage : sessionStorage;
  } catch {
    return undefined;
  }
}

function startPage(script: HTMLScriptElement, address: string, look: Look): void {
  const chat = createChat(look, {
    conversation: conversationAt(address, script),
    heading: "h1",
    onNews: () => undefined,
  });
  const { host } = createSurface("page", h("main", chat.parts), look, wishesOf(script));
  document.body.append(host);
  chat.scrollToEnd();
}

async function startBubble(script: HTMLScriptElement, address: string): Promise<void> {
  const wishes = wishesOf(script);
  const languages = languagesOf(wishes);
  const look = await loadLook(languages === "" ? address : `${address}?languages=${languages}`, script);
  if (!look) return;
  if (!document.body) await new Promise((done) => document.addEventListener("DOMContentLoaded", done, { once: true }));
  const surface = createBubble(look, wishes, conversationAt(address, script));
  chats.set(address, keepAttached(surface.host));
  // Sites with a switch for their theme change the attribute.
  new MutationObserver(() => surface.paint(look, wishesOf(script))).observe(script, {
    attributeFilter: ["data-theme", "data-accent", "data-position"],
  });
}

/** Undefined if there is none after all tries. The page's console is told why. */
async function loadLook(url: string, script: HTMLScriptElement): Promise<Look | undefined> {
  const { origin } = new URL(url);
  let isBlocked = false;
  document.addEventListener("securitypolicyviolation", ({ blockedURI, effectiveDirective }) => {
    isBlocked ||= blockedURI.startsWith(origin) && effectiveDirective === "connect-src";
  });
  let isTold = false;
  for (const seconds of [...RETRIES_S, 0]) {
    try {
      const response = await fetch(url, { credentials: "omit", referrerPolicy: "no-referrer" });
      if (response.ok) return (await response.json()) as Look;
    } catch {
      // Told below.
    }
    if (!isTold) {
      const isThere = await isAnswering(url);
      // The browser reports what a policy has blocked a little later than the failure.
      await new Promise((done) => setTimeout(done, 100));
      const why = isBlocked
        ? `the policy of this page blocks it. Add connect-src ${origin} to it`
        : isThere
          ? `either no agent has this name (data-agent), or its owner has not allowed ${location.origin}, under "On your site" in the console`
          : `${origin} can't be reached. It is tried again`;
      console.warn(`Berth: no chat with "${script.dataset.agent}": ${why}.`);
    }
    isTold = true;
    if (seconds > 0) await new Promise((done) => setTimeout(done, seconds * 1_000));
  }
  return undefined;
}

/** Puts the host into the page, and again whenever a site has replaced its body or what is in it. Returns the function that does it now. */
function keepAttached(host: HTMLElement): () => void {
  const observer = new MutationObserver(attach);
  function attach(): void {
    const { body } = document;
    if (!body || host.parentNode === body) return;
    body.append(host);
    // The top layer is free of what the page does to its body: transforms, filters, opacity. Older browsers show it as well.
    host.showPopover?.();
    observer.observe(body, { childList: true });
  }
  observer.observe(document.documentElement, { childList: true });
  attach();
  return attach;
}
