// Renders a mail from a template, which is the source of both its plain text and its HTML part.
import { escapeHtml } from "../pages/html.ts";
import layout from "./layout.htm" with { type: "text" };
import { toSingleLine } from "./message.ts";

export interface RenderedMail {
  subject: string;
  text: string;
  html: string;
}

/** A template can't be rendered, because of its text or of a missing value. */
export class TemplateError extends Error {
  override readonly name = "TemplateError";
}

/**
 * Renders a mail. A template has a line `Subject: …`, then paragraphs that are separated by empty lines. A paragraph
 * `[Label](URL)` is a button. The text after a line `--` is the footer: who received the mail, and why. `{{name}}` is
 * replaced by a value, which is plain text, on one line. Throws TemplateError for a name without a value.
 *
 * @param language of the template, such as `en`
 */
export function renderMail(source: string, values: Readonly<Record<string, string>>, language: string): RenderedMail {
  const [, title, body, footer] = /^Subject: ([^\n]+)\n\n(.+?)\n\n--\n(.+)$/s.exec(source.trim()) ?? [];
  if (title === undefined || body === undefined || footer === undefined) {
    throw new TemplateError("A template is a subject, paragraphs, and a footer.");
  }
  const fillText = (text: string) => fill(text, values, toSingleLine);
  const fillHtml = (text: string) => fill(escapeHtml(text), values, (value) => escapeHtml(toSingleLine(value)));
  const blocks = body.split(/\n{2,}/).map(toBlock);
  const subject = fillText(title);
  const text = blocks.map(({ label, link, text }) =>
    label ? `${fillText(label)}:\n${fillText(link)}` : fillText(text),
  );
  const html = blocks.map(({ label, link, text }) =>
    label ? button(fillHtml(label), escapeHtml(requireWebUrl(fillText(link)))) : `<p>${fillHtml(text)}</p>`,
  );
  const parts = { subject: escapeHtml(subject), body: html.join("\n"), footer: fillHtml(joinLines(footer)) };
  return {
    subject,
    text: `${text.join("\n\n")}\n\n-- \n${fillText(joinLines(footer))}\n`,
    html: fill(layout, parts, (part) => part).replace('<html lang="en">', `<html lang="${language}">`),
  };
}

function toBlock(source: string) {
  const [, label = "", link = ""] = /^\[(.+)\]\((.+)\)$/.exec(source) ?? [];
  return { label, link, text: joinLines(source) };
}

/** Joins the lines of a paragraph, since mail programs wrap it themselves. */
const joinLines = (paragraph: string) => paragraph.trim().replaceAll("\n", " ");

function fill(text: string, values: Readonly<Record<string, string>>, encode: (value: string) => string): string {
  return text.replace(/\{\{(.*?)\}\}/g, (_, name: string) => {
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    if (value === undefined) throw new TemplateError(`There is no value for {{${name}}}.`);
    return encode(value);
  });
}

function requireWebUrl(link: string): string {
  if (!/^https?:\/\/[^\s]+$/.test(link)) throw new TemplateError("A button leads to a web address.");
  return link;
}

const button = (label: string, link: string) =>
  `<p style="margin:28px 0"><a href="${link}" class="button" style="display:inline-block;padding:12px 22px;border-radius:8px;background:#0b6e8f;color:#ffffff;font-weight:600;text-decoration:none">${label}</a></p>`;
