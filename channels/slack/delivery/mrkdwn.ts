// Converts a Markdown reply into Slack's messages. Only Berth's own marks are marks: what a model writes can neither
// mention people nor whole channels.
// https://docs.slack.dev/messaging/formatting-message-text
import { parseMarkdown } from "../../../src/kernel/util/markdown/markdown.ts";
import { type MarkDialect, splitMarkedText } from "../../shared/marked-text.ts";

/** Slack advises against longer texts. https://docs.slack.dev/reference/methods/chat.postMessage#truncating */
export const MAX_TEXT_LENGTH = 4_000;

/** The three characters that begin or end a mark for people, channels and links. */
export const escapeMrkdwn = (text: string) =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

const escapeUrl = (url: string) =>
  url.replaceAll("&", "&amp;").replaceAll("<", "%3C").replaceAll(">", "%3E").replaceAll("|", "%7C");

const DIALECT: MarkDialect = {
  marks: { b: "*", i: "_", s: "~", code: "`" },
  link: (url) => [`<${escapeUrl(url)}|`, ">"],
  escape: escapeMrkdwn,
};

/** The messages of a Markdown reply; empty if there is nothing to show. The same reply is always split the same way. */
export const toMessageParts = (markdown: string, limit = MAX_TEXT_LENGTH): string[] =>
  splitMarkedText(parseMarkdown(markdown), DIALECT, limit);
