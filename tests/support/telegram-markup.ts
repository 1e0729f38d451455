// Parses Telegram's two markup languages as strictly as Telegram does, with its error messages where they are known.
// https://core.telegram.org/bots/api#formatting-options

/** Offsets and lengths in UTF-16 code units. */
export interface Entity {
  type: string;
  offset: number;
  length: number;
  url?: string;
  language?: string;
  custom_emoji_id?: string;
}

export interface Formatted {
  text: string;
  entities: Entity[];
}

/** The markup is invalid; Telegram's description is "can't parse entities: " and this message. */
export class MarkupError extends Error {
  override readonly name = "MarkupError";
}

interface Open {
  type: string;
  tag: string;
  /** Start in the result. */
  offset: number;
  /** Start in the source. */
  at: number;
  extra: Partial<Entity>;
}

const bytesBefore = (source: string, at: number) => Buffer.byteLength(source.slice(0, at));

/** Parses text in `parse_mode` `HTML` or `MarkdownV2`, and trims white space at both ends, as Telegram does. */
export function parseMarkup(source: string, mode: "HTML" | "MarkdownV2"): Formatted {
  const { text, entities } = mode === "HTML" ? parseHtml(source) : parseMarkdown(source);
  return trimmed({ text, entities: entities.filter(({ length }) => length > 0) });
}

/** Trims white space at both ends and moves the entities. */
export function trimmed({ text, entities }: Formatted): Formatted {
  const cut = text.length - text.trimStart().length;
  const kept = text.trim();
  const moved = entities.map((entity) => {
    const start = Math.max(0, entity.offset - cut);
    const end = Math.min(kept.length, entity.offset + entity.length - cut);
    return { ...entity, offset: start, length: end - start };
  });
  const order = (a: Entity, b: Entity) => a.offset - b.offset || b.length - a.length;
  return { text: kept, entities: moved.filter(({ length }) => length > 0).sort(order) };
}

const tags: Record<string, string> = {
  b: "bold",
  strong: "bold",
  i: "italic",
  em: "italic",
  u: "underline",
  ins: "underline",
  s: "strikethrough",
  strike: "strikethrough",
  del: "strikethrough",
  "tg-spoiler": "spoiler",
  span: "spoiler",
  a: "text_link",
  code: "code",
  pre: "pre",
  blockquote: "blockquote",
  "tg-emoji": "custom_emoji",
};

const named: Record<string, string> = { lt: "<", gt: ">", amp: "&", quot: '"' };

/** Parses a character reference: numbers and these four names; anything else after `&` is text. */
function reference(source: string, at: number): { text: string; length: number } | undefined {
  const [whole, hex, decimal, name] =
    /^&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|(lt|gt|amp|quot));?/i.exec(source.slice(at, at + 12)) ?? [];
  if (!whole) return undefined;
  const code = hex ? Number.parseInt(hex, 16) : Number(decimal);
  const text = name ? named[name.toLowerCase()] : code > 0 && code < 0x10ffff ? String.fromCodePoint(code) : undefined;
  return text === undefined ? undefined : { text, length: whole.length };
}

function decoded(value: string): string {
  let text = "";
  for (let at = 0; at < value.length; ) {
    const found = value[at] === "&" ? reference(value, at) : undefined;
    text += found?.text ?? value[at];
    at += found?.length ?? 1;
  }
  return text;
}

function parseHtml(source: string): Formatted {
  let text = "";
  const entities: Entity[] = [];
  const open: Open[] = [];
  for (let at = 0; at < source.length; ) {
    if (source[at] === "&") {
      const found = reference(source, at);
      text += found?.text ?? "&";
      at += found?.length ?? 1;
    } else if (source[at] !== "<") {
      text += source[at++];
    } else if (source[at + 1] === "/") {
      const end = source.indexOf(">", at);
      if (end < 0) throw new MarkupError(`Unclosed end tag at byte offset ${bytesBefore(source, at)}`);
      const name = source
        .slice(at + 2, end)
        .trim()
        .toLowerCase();
      const last = open.pop();
      if (!last) throw new MarkupError(`Unexpected end tag at byte offset ${bytesBefore(source, at)}`);
      if (name !== "" && name !== last.tag) {
        const where = `at byte offset ${bytesBefore(source, at)}`;
        throw new MarkupError(`Unmatched end tag ${where}, expected "</${last.tag}>", found "</${name}>"`);
      }
      closeHtml(last, text, entities);
      at = end + 1;
    } else {
      const tag = startTag(source, at);
      open.push({ ...tag, offset: text.length, at });
      at = tag.end;
    }
  }
  const left = open.pop();
  if (left) throw new MarkupError(`Can't find end tag corresponding to start tag "${left.tag}"`);
  return { text, entities };
}

function startTag(source: string, at: number) {
  const where = () => `at byte offset ${bytesBefore(source, at)}`;
  const tag = /^<([^\s>]*)/.exec(source.slice(at))?.[1]?.toLowerCase() ?? "";
  let end = at + 1 + tag.length;
  if (end >= source.length) throw new MarkupError(`Unclosed start tag ${where()}`);
  const type = Object.hasOwn(tags, tag) ? tags[tag] : undefined;
  if (!type) throw new MarkupError(`Unsupported start tag "${tag}" ${where()}`);
  const attributes: Record<string, string> = {};
  for (;;) {
    const attribute = /^\s*([^\s=>/]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([\w.-]+)))?/.exec(source.slice(end));
    if (!attribute) break;
    const [whole, name = "", double, single, bare] = attribute;
    const value = double ?? single ?? bare;
    if (value === undefined && name.toLowerCase() !== "expandable") {
      throw new MarkupError(`Expected equal sign in declaration of an attribute of the tag "${tag}" ${where()}`);
    }
    attributes[name.toLowerCase()] = decoded(value ?? "");
    end += whole.length;
  }
  const close = /^\s*>/.exec(source.slice(end));
  if (!close) throw new MarkupError(`Unclosed start tag ${where()}`);
  if (tag === "span" && attributes.class !== "tg-spoiler") {
    throw new MarkupError(`Tag "span" must have class "tg-spoiler" ${where()}`);
  }
  const extra: Partial<Entity> = {};
  if (tag === "a") extra.url = attributes.href ?? "";
  if (tag === "tg-emoji") extra.custom_emoji_id = attributes["emoji-id"] ?? "";
  if (tag === "code" && attributes.class?.startsWith("language-")) extra.language = attributes.class.slice(9);
  const expandable = tag === "blockquote" && "expandable" in attributes;
  return { tag, type: expandable ? "expandable_blockquote" : type, extra, end: end + close[0].length };
}

function closeHtml(last: Open, text: string, entities: Entity[]): void {
  const range = { offset: last.offset, length: text.length - last.offset };
  const inner = entities.at(-1);
  // <pre><code class="language-x"> is one block in that language; elsewhere code has none.
  if (last.type === "pre" && inner?.type === "code" && inner.offset === range.offset && inner.length === range.length) {
    entities.pop();
    entities.push({ type: "pre", ...range, ...(inner.language ? { language: inner.language } : {}) });
  } else if (last.type === "text_link") {
    const url = last.extra.url || text.slice(last.offset);
    if (/^(https?|tg|ton|mailto|tel):|^[^\s:]+\.\w/i.test(url)) entities.push({ type: "text_link", ...range, url });
  } else {
    entities.push({ type: last.type, ...range, ...last.extra });
  }
}

const reserved = "_*[]()~`>#+-=|{}.!";

/** All delimiters, longest first. */
const delimiters: [string, string][] = [
  ["```", "pre"],
  ["__", "underline"],
  ["||", "spoiler"],
  ["*", "bold"],
  ["_", "italic"],
  ["~", "strikethrough"],
  ["`", "code"],
  ["![", "custom_emoji"],
  ["[", "text_link"],
];

const names: Record<string, string> = {
  text_link: "TextUrl",
  custom_emoji: "CustomEmoji",
  pre: "Pre",
  blockquote: "BlockQuote",
};
const nameOf = (type: string) => names[type] ?? type.charAt(0).toUpperCase() + type.slice(1);

function parseMarkdown(source: string): Formatted {
  let text = "";
  const entities: Entity[] = [];
  const open: Open[] = [];
  const close = (extra: Partial<Entity> = {}) => {
    const last = open.pop();
    if (!last) return;
    const range = { offset: last.offset, length: text.length - last.offset };
    entities.push({ type: last.type, ...range, ...last.extra, ...extra });
  };
  const unfinished = ({ type, at }: Open) =>
    new MarkupError(`Can't find end of ${nameOf(type)} entity at byte offset ${bytesBefore(source, at)}`);

  for (let at = 0; at < source.length; ) {
    const character = source[at] ?? "";
    const next = source.charCodeAt(at + 1);
    const top = open.at(-1);
    if (character === "\\" && next >= 1 && next <= 126) {
      text += source[at + 1];
      at += 2;
    } else if (top?.type === "code" || top?.type === "pre") {
      const end = top.type === "code" ? "`" : "```";
      if (source.startsWith(end, at)) {
        close();
        at += end.length;
      } else if (character === "`") throw reservedError("`");
      else {
        text += character;
        at += 1;
      }
    } else if (character === "\n") {
      if (open[0]?.type === "blockquote" && source[at + 1] !== ">") {
        if (open.length > 1 && top) throw unfinished(top);
        close();
      }
      text += "\n";
      at += open[0]?.type === "blockquote" ? 2 : 1;
    } else if (!reserved.includes(character)) {
      text += character;
      at += 1;
    } else if (character === ">" && (at === 0 || source[at - 1] === "\n") && open.length === 0) {
      open.push({ type: "blockquote", tag: ">", offset: text.length, at, extra: {} });
      at += 1;
    } else if (character === "]" && (top?.type === "text_link" || top?.type === "custom_emoji")) {
      const link = /^\]\(((?:\\.|[^)\\])*)\)/s.exec(source.slice(at));
      if (!link) throw new MarkupError(`Can't find end of a URL at byte offset ${bytesBefore(source, at)}`);
      const url = (link[1] ?? "").replace(/\\(.)/gs, "$1");
      if (top.type === "text_link") close({ url });
      else close({ custom_emoji_id: new URL(url).searchParams.get("id") ?? "" });
      at += link[0].length;
    } else {
      const [delimiter, type] = delimiters.find(([delimiter]) => source.startsWith(delimiter, at)) ?? ["", ""];
      if (delimiter === "") throw reservedError(character);
      if (delimiter === "||" && top?.type === "blockquote" && /^\|\|(\n|$)/.test(source.slice(at))) {
        top.type = "expandable_blockquote";
        at += 2;
        close();
        continue;
      }
      if (top?.type === type && type !== "text_link") close();
      else open.push({ type, tag: delimiter, offset: text.length, at, extra: {} });
      at += delimiter.length;
      if (type === "pre" && open.at(-1)?.type === "pre") {
        const [line = "", language = ""] = /^([^\s`]*)\n/.exec(source.slice(at)) ?? [];
        const block = open.at(-1);
        if (block && language) block.extra = { language };
        at += line.length;
      }
    }
  }
  const last = open.at(-1);
  if (last?.type === "blockquote") close();
  else if (last) throw unfinished(last);
  return { text, entities };
}

function reservedError(character: string): MarkupError {
  return new MarkupError(`Character '${character}' is reserved and must be escaped with the preceding '\\'`);
}
