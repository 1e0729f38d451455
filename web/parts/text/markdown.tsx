// Shows Markdown as React elements, without HTML: tags in the text stay text, and a picture is a link that loads nothing.

import { Lexer, type MarkedToken, type Token } from "marked";
import { Fragment, memo, type ReactNode } from "react";
import { t } from "../../viewer/language.ts";
import { OutsideLink } from "../outside-link.tsx";
import { CodeBlock } from "./code-block.tsx";

/** Headings inside a message begin below those of the page. */
const FIRST_HEADING = 3;

export function Markdown({ text }: { text: string }) {
  return (
    <div className="flex flex-col gap-2 leading-relaxed [&_li>p]:inline">
      {new Lexer({ gfm: true, breaks: true }).lex(text).map((token, index) => (
        // A block that did not change is not rendered again while the text grows.
        // biome-ignore lint/suspicious/noArrayIndexKey: blocks have no other identity, and only grow at the end
        <Block key={index} raw={token.raw} token={token} />
      ))}
    </div>
  );
}

const Block = memo(
  ({ token }: { token: Token; raw: string }) => <>{renderToken(token as MarkedToken)}</>,
  (before, after) => before.raw === after.raw,
);

function renderToken(token: MarkedToken): ReactNode {
  switch (token.type) {
    case "paragraph":
      return <p>{inline(token.tokens)}</p>;
    case "heading":
      return renderHeading(Math.min(FIRST_HEADING - 1 + token.depth, 6), inline(token.tokens));
    case "code":
      return (
        <CodeBlock
          code={token.text}
          label={token.lang ? t("Code in {language}", { language: token.lang }) : t("Code")}
        />
      );
    case "blockquote":
      return <blockquote className="border-edge border-l-2 pl-3 text-soft">{blocks(token.tokens)}</blockquote>;
    case "list": {
      const items = token.items.map((item, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: items have no other identity
        <li key={index}>
          {item.task && (
            <input type="checkbox" checked={item.checked ?? false} readOnly aria-label={item.text} className="mr-1.5" />
          )}
          {blocks(item.tokens)}
        </li>
      ));
      return token.ordered ? (
        <ol start={token.start === "" ? 1 : token.start} className="list-decimal pl-5">
          {items}
        </ol>
      ) : (
        <ul className="list-disc pl-5">{items}</ul>
      );
    }
    case "table":
      return (
        <div className="overflow-x-auto" role="group" aria-label={t("Table")} tabIndex={0}>
          <table className="border-collapse text-left">
            <thead>
              <tr>
                {token.header.map((cell, index) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: columns have no other identity
                  <th key={index} scope="col" className="border border-edge px-2 py-1 font-medium">
                    {inline(cell.tokens)}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {token.rows.map((row, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: rows have no other identity
                <tr key={index}>
                  {row.map((cell, column) => (
                    // biome-ignore lint/suspicious/noArrayIndexKey: columns have no other identity
                    <td key={column} className="border border-edge px-2 py-1">
                      {inline(cell.tokens)}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      );
    case "hr":
      return <hr className="border-edge" />;
    case "space":
    case "def":
      return null;
    case "strong":
      return <strong>{inline(token.tokens)}</strong>;
    case "em":
      return <em>{inline(token.tokens)}</em>;
    case "del":
      return <del>{inline(token.tokens)}</del>;
    case "codespan":
      return <code className="rounded-round bg-well px-1 font-mono text-[0.95em]">{decode(token.text)}</code>;
    case "br":
      return <br />;
    case "link":
      return <OutsideLink href={token.href}>{inline(token.tokens)}</OutsideLink>;
    case "image":
      return <OutsideLink href={token.href}>{t("Picture: {name}", { name: token.text || token.href })}</OutsideLink>;
    case "text":
      return token.tokens ? inline(token.tokens) : decode(token.text);
    case "escape":
      return decode(token.text);
    default:
      return decode(token.raw);
  }
}

function renderHeading(level: number, children: ReactNode): ReactNode {
  const Tag = `h${level}` as "h3" | "h4" | "h5" | "h6";
  return <Tag className="mt-1 font-semibold">{children}</Tag>;
}

const inline = (tokens: readonly Token[] = []): ReactNode =>
  // biome-ignore lint/suspicious/noArrayIndexKey: tokens have no other identity
  tokens.map((token, index) => <Fragment key={index}>{renderToken(token as MarkedToken)}</Fragment>);

const blocks = inline;

const ENTITIES: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#39;": "'",
};

/** marked escapes the text of its tokens for HTML; React escapes by itself. */
const decode = (text: string) => text.replace(/&(?:amp|lt|gt|quot|#39);/g, (entity) => ENTITIES[entity] ?? entity);
