// What all chats of a page share. Each script element runs the whole script again, so it can't be a variable of a module.

interface Registry {
  /** By the chat's address: puts it into the page again, for scripts that a site runs anew when its address changes. */
  readonly chats: Map<string, () => void>;
  /** In the order of their places, each above the one before. One chat is open at a time. */
  readonly bubbles: { close: () => void }[];
}

const KEY = Symbol.for("berth.embed");

export function registry(): Registry {
  const page = globalThis as { [KEY]?: Registry };
  page[KEY] ??= { chats: new Map(), bubbles: [] };
  return page[KEY];
}
