// The page for people at an address that does not exist.
import { languageOf } from "./language.ts";
import { messagePage } from "./message-page.ts";
import { pageText } from "./page-template.ts";

const MESSAGE = {
  title: pageText("Page not found"),
  text: pageText("There is nothing at this address. Check it, or go on from here:"),
};
const HOME = { "/": pageText("Home page") };
const DOCS = { "/swagger": pageText("API documentation") };

/** `hasDocs`: whether the host serves the API's documentation. */
export const notFoundPage = (request: Request, hasDocs: boolean): Response =>
  messagePage({ ...MESSAGE, links: { ...HOME, ...(hasDocs && DOCS) } }, languageOf(request), 404);
