// Finds the parts of the chat on a site as its visitors do.

import type { Page } from "playwright-core";

export const opener = (page: Page, name = "Harbour") => page.getByRole("button", { name: `Chat with ${name}` });
export const panel = (page: Page) => page.getByRole("dialog");
export const input = (page: Page) => panel(page).getByLabel("Your message");
export const said = (page: Page, text: string) => panel(page).getByRole("log").getByText(text, { exact: true });
/** The focused element of the chat, as HTML. */
export const focused = (page: Page) =>
  page.evaluate<string>("document.activeElement.shadowRoot?.activeElement?.outerHTML ?? ''");

export async function say(page: Page, message: string): Promise<void> {
  await input(page).fill(message);
  await input(page).press("Enter");
}
