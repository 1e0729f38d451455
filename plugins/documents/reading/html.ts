// Reads a web page: its article as Markdown where it has one, else all its visible text.
import { Readability } from "@mozilla/readability";
import { parseHTML } from "linkedom";
import { extractText } from "../html/html-text.ts";
import { toMarkdown } from "./markdown.ts";
import { isSimpleEnough } from "./nesting.ts";

export interface PageText {
  title: string;
  published: string | undefined;
  text: string;
  isCut: boolean;
}

/** An article that is shorter than this, and than half the visible text, is a teaser on a page of lists. */
const MIN_ARTICLE = 500;
const NO_ADDRESS = "https://page.invalid/";

/** @param isPlain leaves out the search for the article, which took too long at the first try */
export async function readHtml(html: string, url = NO_ADDRESS, isPlain = false): Promise<PageText> {
  const plain = await extractText(html, url);
  if (isPlain || !isSimpleEnough(html)) return { ...plain, published: undefined };
  const article = articleOf(html, url);
  if (article === undefined) return { ...plain, published: undefined };
  const isArticle = article.text.length >= MIN_ARTICLE || article.text.length * 2 >= plain.text.length;
  return {
    title: article.title || plain.title,
    published: article.published,
    text: isArticle ? article.text : plain.text,
    isCut: !isArticle && plain.isCut,
  };
}

function articleOf(html: string, url: string): Omit<PageText, "isCut"> | undefined {
  const { document } = parseHTML(html);
  const published = publishedIn(document);
  const article = new Readability(document).parse();
  if (!article?.content) return undefined;
  return {
    title: oneLine(article.title),
    published: article.publishedTime?.trim() || published,
    text: toMarkdown(article.content, url),
  };
}

/** The part of a document that is used here: the server's code is compiled without a browser's types. */
interface Selectable {
  querySelector(selector: string): { getAttribute(name: string): string | null } | null;
}

const DATES = [
  'meta[property="article:published_time"]',
  'meta[name="date"]',
  'meta[name="dc.date"]',
  'meta[itemprop="datePublished"]',
  "time[datetime]",
];

/** Read before Readability, which changes the document. */
function publishedIn(document: Selectable): string | undefined {
  for (const selector of DATES) {
    const element = document.querySelector(selector);
    const date = (element?.getAttribute("content") ?? element?.getAttribute("datetime"))?.trim();
    if (date && date.length <= 40) return date;
  }
  return undefined;
}

const oneLine = (text: string | null | undefined) => text?.replace(/\s+/g, " ").trim() ?? "";
