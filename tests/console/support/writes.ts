// What is changed on each page of the console, done with keys alone: how it begins, and what is there afterwards.

import type { Locator, Page } from "playwright-core";
import { eventually } from "../../support/eventually.ts";
import type { World } from "./world.ts";

export interface Write {
  /** After the page's address. */
  query?: string;
  /** Does what the write needs, and only others can do. */
  prepare?: (world: World) => Promise<unknown>;
  /** Fills in what is sent. */
  fill?: (page: Page) => Promise<unknown>;
  /** Sends it, the first time and again. */
  send: (page: Page) => Promise<unknown>;
  /** The request: its method, and the end of its path. */
  request: RegExp;
  /** The field whose text must outlast each failure. */
  typed?: (page: Page) => Locator;
  /** Resolves when this tab shows the result. Without it the test ends before: the result needs what is not there. */
  done?: (page: Page) => Promise<unknown>;
  /** The same for another tab, if it is another place. */
  doneElsewhere?: (page: Page) => Promise<unknown>;
}

/** Activates a control as the keyboard does. */
async function press(control: Locator, key: "Enter" | "Space" = "Enter"): Promise<void> {
  await control.focus();
  await control.page().keyboard.press(key);
}

const button = (page: Page, name: string | RegExp) =>
  page.getByRole("button", { name, ...(typeof name === "string" && { exact: true }) });
const field = (page: Page, name: string) => page.getByLabel(name, { exact: true });
const pressButton = (name: string | RegExp) => (page: Page) => press(button(page, name).first());
const shows = (text: string | RegExp) => (page: Page) => page.locator("main").getByText(text).first().waitFor();
const lacks = (text: string) => (page: Page) =>
  page.locator("main").getByText(text, { exact: true }).first().waitFor({ state: "detached" });
const has = (name: string, value: string) => (page: Page) =>
  eventually(async () => (await field(page, name).inputValue()) === value);

/** Opens a dialog, and types into one of its fields. */
const inDialog = (opener: string, name: string, value: string) => async (page: Page) => {
  await pressButton(opener)(page);
  await page.getByRole("dialog").getByLabel(name, { exact: true }).fill(value);
};
const ofDialog = (name: string) => (page: Page) => page.getByRole("dialog").getByLabel(name, { exact: true });

/** By route. A route that is not here has nothing to change on the server. */
export const WRITES: Readonly<Record<string, Write>> = {
  "/": {
    fill: inDialog("New agent", "Name", "Pilot"),
    send: pressButton("Make the agent"),
    request: /^POST \/api\/agents\/provision$/,
    typed: ofDialog("Name"),
    done: (page) => page.waitForURL(/chat/),
    doneElsewhere: shows("Pilot"),
  },
  "/account": {
    fill: (page) => field(page, "What mails and this console call you").fill("Ada Lovelace"),
    send: (page) => field(page, "What mails and this console call you").press("Enter"),
    request: /^PATCH \/api\/settings$/,
    typed: (page) => field(page, "What mails and this console call you"),
    done: has("What mails and this console call you", "Ada Lovelace"),
  },
  "/account/security": {
    fill: async (page) => {
      await field(page, "Current password").fill("correct horse battery");
      await field(page, "New password").fill("a longer horse battery");
    },
    send: pressButton("Change the password"),
    request: /^POST \/api\/settings\/password$/,
    typed: (page) => field(page, "New password"),
  },
  "/account/sessions": {
    prepare: ({ root }) => root.signIn(),
    send: pressButton("Sign out all others"),
    request: /^DELETE \/api\/auth\/sessions$/,
    done: async (page) => button(page, "Sign out all others").waitFor({ state: "detached" }),
  },
  "/account/keys": {
    fill: inDialog("New key…", "Name", "Laptop"),
    send: pressButton("Make the key"),
    request: /^POST \/api\/keys$/,
    typed: ofDialog("Name"),
    done: shows("Your new key"),
    doneElsewhere: shows("Laptop"),
  },
  "/account/notifications": {
    send: (page) => press(page.getByRole("switch", { name: "This service" }), "Space"),
    request: /^PATCH \/api\/settings$/,
    done: (page) => page.getByRole("switch", { name: "This service", checked: false }).waitFor(),
  },
  "/welcome": {
    query: "?step=agent",
    fill: (page) => field(page, "Its name").fill("Ferry"),
    send: pressButton(/^Make /),
    request: /^POST \/api\/agents\/provision$/,
    typed: (page) => field(page, "Its name"),
    done: shows("Ferry"),
    doneElsewhere: async () => undefined,
  },
  "/admin/models": {
    fill: inDialog("Add a key", "Key of OpenRouter", "sk-or-v1-0123456789abcdef"),
    send: pressButton("Check and keep this key"),
    request: /^POST .*\/(try|test)$/,
    typed: ofDialog("Key of OpenRouter"),
  },
  "/approvals": {
    send: (page) => press(page.getByRole("article").filter({ hasText: "Remind Ada" }).getByText("Deny")),
    request: /^POST .*\/approvals\//,
    done: lacks("Remind Ada"),
  },
  "/wallet": {
    fill: (page) => field(page, "At most at once, in USD").fill("7"),
    send: pressButton("Save limits"),
    request: /^PUT \/api\/wallet\/policy$/,
    typed: (page) => field(page, "At most at once, in USD"),
    done: has("At most at once, in USD", "7"),
  },
  "/webhooks": {
    fill: inDialog("New webhook", "What it is for", "The till"),
    send: async (page) => {
      await ofDialog("Address")(page).fill("https://example.com/till");
      await pressButton("Make the webhook")(page);
    },
    request: /^POST \/api\/webhooks$/,
    typed: ofDialog("What it is for"),
    done: shows("Your webhook is ready"),
    doneElsewhere: shows("The till"),
  },
  "/webhooks/:id": {
    fill: (page) => field(page, "What it is for").fill("The ledger"),
    send: pressButton("Save"),
    request: /^PATCH \/api\/webhooks\//,
    typed: (page) => field(page, "What it is for"),
    done: shows("The ledger"),
  },
  "/agents/:id": {
    fill: async (page) => {
      await pressButton("Rename")(page);
      await field(page, "Name").fill("Haven");
    },
    send: (page) => field(page, "Name").press("Enter"),
    request: /^PATCH \/api\/agents\/[^/]+$/,
    typed: (page) => field(page, "Name"),
    done: (page) => page.getByRole("heading", { level: 1, name: "Haven" }).waitFor(),
  },
  "/agents/:id/set-up": {
    fill: (page) => field(page, "Instructions").fill("Be brief."),
    send: (page) => page.keyboard.press("Control+s"),
    request: /^PATCH \/api\/agents\/[^/]+$/,
    typed: (page) => field(page, "Instructions"),
    done: has("Instructions", "Be brief."),
  },
  "/agents/:id/channels/:channel?": {
    query: "/channel_a",
    send: pressButton("Let them talk"),
    request: /^PUT .*\/pairings\//,
    done: async (page) => button(page, "Let them talk").waitFor({ state: "detached" }),
  },
  "/agents/:id/public": {
    fill: (page) => field(page, "The first thing visitors read").fill("Ahoy!"),
    send: pressButton("Save the greeting"),
    request: /^PUT .*\/public$/,
    typed: (page) => field(page, "The first thing visitors read"),
    done: has("The first thing visitors read", "Ahoy!"),
  },
  "/agents/:id/embed": {
    fill: (page) => field(page, "Address of your site").fill("https://shop.example.com"),
    send: pressButton("Add the site"),
    request: /^PATCH \/api\/agents\/[^/]+$/,
    typed: (page) => field(page, "Address of your site"),
    done: shows("https://shop.example.com"),
  },
  "/agents/:id/gateway": {
    fill: pressButton("Replace the token"),
    send: pressButton("Replace it"),
    request: /^POST .*\/rotate/,
    done: (page) => page.getByRole("dialog").waitFor({ state: "detached" }),
    doneElsewhere: async () => undefined,
  },
  "/agents/:id/webhooks": {
    fill: inDialog("New webhook", "What it is for", "The desk"),
    send: async (page) => {
      await ofDialog("Address")(page).fill("https://example.com/desk");
      await pressButton("Make the webhook")(page);
    },
    request: /^POST \/api\/webhooks$/,
    typed: ofDialog("What it is for"),
    done: shows("Your webhook is ready"),
    doneElsewhere: shows("The desk"),
  },
  "/agents/:id/stream": {
    send: pressButton("Make a live stream"),
    request: /^PUT .*\/stream$/,
    done: shows("Address for viewers"),
  },
  "/agents/:id/skills": {
    send: (page) => press(page.getByRole("switch", { name: /^Web pages/ }), "Space"),
    request: /^POST \/api\/agent$/,
    done: (page) => page.getByRole("switch", { name: /^Web pages/, checked: false }).waitFor(),
  },
  "/agents/:id/memory": {
    fill: async (page) => {
      await pressButton("Teach a fact")(page);
      await field(page, "What should it know?").fill("Grace sails on Mondays.");
    },
    send: pressButton("Remember"),
    request: /^POST .*\/memories$/,
    typed: (page) => field(page, "What should it know?"),
    done: shows("Grace sails on Mondays."),
  },
  "/agents/:id/schedules": {
    fill: inDialog("New schedule", "What should it do?", "Sum up the week."),
    send: pressButton("Make the schedule"),
    request: /^POST .*\/schedules$/,
    typed: ofDialog("What should it do?"),
    done: shows("Sum up the week"),
  },
  "/agents/:id/history": {
    query: "?version=1",
    send: pressButton("Go back to this version"),
    request: /^POST .*\/restore$/,
    done: shows(/Version [34]/),
  },
  "/agents/:id/approvals": {
    send: (page) => press(page.getByRole("article").filter({ hasText: "Remind Grace" }).getByText("Deny")),
    request: /^POST .*\/approvals\//,
    done: lacks("Remind Grace"),
  },
  "/agents/:id/backups": {
    send: pressButton("Back up now"),
    request: /^POST .*\/backups?$/,
    done: (page) => eventually(async () => (await button(page, "Go back to this").count()) === 2),
  },
  "/agents/:id/people": {
    fill: pressButton(/^Erase: Grace/),
    send: pressButton("Erase for good"),
    request: /^DELETE .*\/people\//,
    done: async (page) => button(page, "Save the receipt").first().waitFor(),
  },
  "/agents/:id/danger": {
    send: pressButton("Stop"),
    request: /^POST .*\/stop$/,
    done: async (page) => button(page, "Start").first().waitFor(),
  },
  "/admin/users": {
    fill: inDialog("New account", "Email address", "grace@example.com"),
    send: pressButton("Make the account"),
    request: /^POST \/api\/admin\/users$/,
    typed: ofDialog("Email address"),
    done: shows("grace@example.com"),
  },
  "/admin/users/:id": {
    fill: (page) => field(page, "Credits").fill("77"),
    send: pressButton("Set the credits"),
    request: /^PATCH \/api\/admin\/users\//,
    typed: (page) => field(page, "Credits"),
    done: has("Credits", "77"),
  },
  "/admin/agents": {
    send: pressButton("Stop: Lighthouse"),
    request: /^POST .*\/stop$/,
    done: async (page) => button(page, "Start: Lighthouse").waitFor(),
  },
  "/admin/jobs": {
    send: pressButton("Try again"),
    request: /^POST .*\/retry$/,
    done: lacks("The mail server refused the sender (550)."),
  },
  "/admin/storage": {
    send: pressButton("Make a backup now"),
    request: /^POST \/api\/admin\/backups$/,
    done: shows("Checked"),
  },
};
