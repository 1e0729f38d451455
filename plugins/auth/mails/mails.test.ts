// The mails about accounts: templates in every language, notification settings, and no attacker-chosen text or links.
import { beforeEach, describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { loadConfig } from "../../../src/kernel/config/config.ts";
import type { OutgoingMail } from "../../../src/kernel/mail/mailer.ts";
import { HOUR } from "../../../src/kernel/util/time.ts";
import { LANGUAGES, TRANSLATED } from "../../../web/languages/languages.ts";
import type { MailName } from "./mail-name.ts";
import { createMails, type MailRecipient, type Mails } from "./mails.ts";
import { mailTemplate } from "./templates.ts";

const config = loadConfig({ BASE_URL: "https://berth.example", LOG_LEVEL: "error" }, { cwd: "/nonexistent" });
const link = "https://berth.example/verify-email?token=abc";
const until = Date.UTC(2031, 2, 4);

let sent: OutgoingMail[];
let mails: Mails;
beforeEach(() => {
  sent = [];
  const mail = {
    sendStatement(letter: OutgoingMail) {
      sent.push(letter);
      return { sql: "SELECT 1", args: [] };
    },
    close: () => undefined,
  };
  mails = createMails({ mail, config, limits: { take: (rule, key) => count(rule, key) } });
  taken = new Map();
});

/** How often each key was counted; the limit is five. */
let taken: Map<string, number>;
function count(rule: string, key: string) {
  const times = (taken.get(`${rule} ${key}`) ?? 0) + 1;
  taken.set(`${rule} ${key}`, times);
  return { allowed: times <= 5 };
}

const ada: MailRecipient = {
  email: "ada@example.com",
  name: "Ada Lovelace",
  locale: "en",
  notifications: {},
  emailVerified: true,
};
/** Mails that also go to unverified addresses. */
const toAnyone = ["verifyEmail", "resetPassword", "emailChanged"];
const mandatory: [string, (to: MailRecipient) => unknown[]][] = [
  ["verifyEmail", (to) => mails.verifyEmailStatements(to, link)],
  ["resetPassword", (to) => mails.resetPasswordStatements(to, link)],
  ["emailChanged", (to) => mails.emailChangedStatements(to, "new@example.com")],
  ["accountDeleted", (to) => mails.accountDeletedStatements(to)],
  ["accountFrozen", (to) => mails.frozenStatements(to, "It sends advertising.")],
  ["accountFrozen no longer", (to) => mails.frozenStatements(to, null)],
  ["agentFrozen", (to) => mails.frozenStatements(to, "It sends advertising.", "Harbour")],
  ["agentFrozen no longer", (to) => mails.frozenStatements(to, null, "Harbour")],
];
const optional: [string, string, (to: MailRecipient) => unknown[]][] = [
  ["passwordChanged", "security", (to) => mails.passwordChangedStatements(to)],
  ["twoFactorChanged on", "security", (to) => mails.twoFactorChangedStatements(to, true)],
  ["twoFactorChanged off", "security", (to) => mails.twoFactorChangedStatements(to, false)],
  ["twoFactorRemoved", "security", (to) => mails.twoFactorRemovedStatements(to)],
  ["apiKeyCreated", "security", (to) => mails.apiKeyCreatedStatements(to, "laptop")],
  [
    "signInMethodAdded",
    "security",
    (to) => mails.signInMethodAddedStatements(to, { provider: "github", subject: "1" }),
  ],
  [
    "signInMethodRemoved",
    "security",
    (to) => mails.signInMethodRemovedStatements(to, { provider: "wallet", subject: "0x0" }),
  ],
  ["socialLinked", "security", (to) => mails.socialLinkedStatements(to, "4711")],
  ["referralCredited", "referral", (to) => mails.referralCreditedStatements(to, 10)],
  ["planChanged", "billing", (to) => mails.planChangedStatements(to, "pro", until)],
  ["creditsBought", "billing", (to) => mails.creditsBoughtStatements(to, 500, 5_250_000)],
  ["trialEnding", "billing", (to) => mails.trialEndingStatements(to, "pro", until)],
  ["paymentFailed", "billing", (to) => mails.paymentFailedStatements(to, "pro", until)],
  [
    "budgetSpent",
    "billing",
    (to) => mails.budgetSpentStatements(to, { agent: "Harbour", period: "day", limitUsd: 1, until }),
  ],
];
const all = [...mandatory, ...optional.map(([name, , make]) => [name, make] as const)];

test("every mail has a template with the same places and buttons in every language", () => {
  const names = readdirSync(join(import.meta.dir, "en")).map((name) => name.replace(/\.txt$/, "") as MailName);
  expect(all).toHaveLength(names.length);
  const marks = (template: string) => [...new Set(template.match(/\{\{\w+\}\}|\]\(.*\)/g))].sort();
  for (const name of names) {
    for (const language of TRANSLATED) {
      expect([name, language, ...marks(mailTemplate(name, language))]).toEqual([
        name,
        language,
        ...marks(mailTemplate(name, "en")),
      ]);
    }
  }
});

describe.each(Object.keys(LANGUAGES))("in the language %s", (locale) => {
  test.each(all)("%s has a subject, and names host and recipient", (_, make) => {
    expect(make({ ...ada, locale })).toHaveLength(1);
    const [letter] = sent;
    expect(letter?.to).toBe(ada.email);
    expect(letter?.html).toContain(`lang="${locale}"`);
    expect(letter?.subject).not.toBe("");
    const [body = "", footer] = letter?.text.split("\n-- \n") ?? [];
    expect(body).toContain("berth.example");
    expect(footer).toContain("ada@example.com");
    for (const part of [letter?.subject, letter?.text, letter?.html]) expect(part).not.toMatch(/[{}]{2}|undefined|NaN/);
  });
});

test("an unknown language falls back to English", () => {
  for (const locale of ["en", "de", "fr", "__proto__"]) mails.planChangedStatements({ ...ada, locale }, "pro", until);
  expect(sent.map(({ subject }) => subject)).toEqual([
    "Your plan is now pro",
    "Dein Tarif ist jetzt pro",
    "Your plan is now pro",
    "Your plan is now pro",
  ]);
  expect(sent[0]?.text).toContain("until 4 March 2031.");
  expect(sent[1]?.text).toContain("bis zum 4. März 2031.");
});

test("the mail of a spent budget names its owner, and the name of an agent makes no link", () => {
  mails.budgetSpentStatements(ada, { period: "month", limitUsd: 0.005, until });
  mails.budgetSpentStatements(ada, { agent: "https://evil.example", period: "day", limitUsd: 2, until });
  expect(sent[0]?.subject).toBe("The budget of your account is spent");
  expect(sent[0]?.text).toContain("0.005 USD for a month. Until 4 March 2031 (UTC)");
  expect(sent[1]?.subject).toBe("The budget of your agent https evil example is spent");
  expect(sent[1]?.text).not.toContain("evil.example");
});

test("the mail of a freeze says why and whom to ask, and the name of an agent makes no link", () => {
  mails.frozenStatements(ada, "It sends <b>advertising</b>.");
  mails.frozenStatements({ ...ada, locale: "de" }, "Es wirbt.", "https://evil.example");
  expect(sent[0]?.text).toContain("The reason: It sends <b>advertising</b>.");
  expect(sent[0]?.html).not.toContain("<b>advertising");
  expect(sent[0]?.text).toContain("answer this mail: berth@berth.example is the operator's address.");
  expect(sent[1]?.subject).toBe("Der Betreiber von berth.example hat deinen Agenten https evil example eingefroren");
  expect(sent[1]?.text).not.toContain("evil.example");
});

describe("recipients", () => {
  const off = { agent: false, billing: false, security: false, referral: false, system: false };

  test.each(mandatory)("%s is sent even if all notifications are off", (_, make) => {
    expect(make({ ...ada, notifications: off })).toHaveLength(1);
  });

  test.each(optional)("%s can be turned off with the setting %s only", (_, topic, make) => {
    expect(make({ ...ada, notifications: { ...off, [topic]: true } })).toHaveLength(1);
    expect(make({ ...ada, notifications: { [topic]: false } })).toEqual([]);
    expect(sent).toHaveLength(1);
  });

  test.each(all)("%s goes to an unverified address only if it is about that address", (name, make) => {
    expect(make({ ...ada, emailVerified: false })).toHaveLength(toAnyone.includes(name) ? 1 : 0);
    expect(sent).toHaveLength(toAnyone.includes(name) ? 1 : 0);
  });

  test.each(optional)("%s is limited per address", (_, __, make) => {
    for (let n = 0; n < 9; n++) make(ada);
    expect(sent).toHaveLength(5);
    make({ ...ada, email: "grace@example.com" });
    expect(sent).toHaveLength(6);
  });

  test("the limit of one kind of mail does not affect another", () => {
    for (let n = 0; n < 9; n++) mails.apiKeyCreatedStatements(ada, "laptop");
    expect(mails.twoFactorChangedStatements(ada, false)).toHaveLength(1);
  });

  test.each(all)("%s is never sent to the address of a wallet", (_, make) => {
    expect(make({ ...ada, email: "0xabc@wallet.invalid" })).toEqual([]);
    expect(sent).toEqual([]);
  });
});

test("mails contain their links, and expire with them", () => {
  mails.verifyEmailStatements(ada, link, 42);
  mails.resetPasswordStatements(ada, "https://berth.example/reset-password?token=xyz");
  expect(sent[0]?.text).toContain(`\n${link}\n`);
  expect(sent[0]?.html).toContain(`href="${link}"`);
  expect(sent[0]?.expiresAt).toBe(42);
  expect(sent[1]?.text).toContain("\nhttps://berth.example/reset-password?token=xyz\n");
  expect(Math.abs((sent[1]?.expiresAt ?? 0) - Date.now() - HOUR)).toBeLessThan(5_000);
});

describe("names can't carry messages or links", () => {
  test.each([
    "Win at https://evil.example",
    "evil.example",
    "<b>Ada</b>",
    "ada@example.com",
    "Ada\nClick",
    "x".repeat(41),
    "+49 170 1234567",
  ])("the greeting omits the name %j", (name) => {
    mails.resetPasswordStatements({ ...ada, name }, link);
    expect(sent[0]?.text).toStartWith("Hello,\n");
    expect(sent[0]?.html).not.toContain("evil.example");
  });

  test.each(["Ada", "Zoë O’Hara-Łukasz", "Jean Luc", "李雷"])("the greeting includes the name %s", (name) => {
    mails.resetPasswordStatements({ ...ada, name }, link);
    expect(sent[0]?.text).toStartWith(`Hello ${name},\n`);
  });

  test("the verification mail greets without a name", () => {
    mails.verifyEmailStatements(ada, link);
    expect(sent[0]?.text).toStartWith("Hello,\n");
    expect(JSON.stringify(sent)).not.toContain("Lovelace");
  });

  test("the name of a key makes no link", () => {
    mails.apiKeyCreatedStatements(ada, "http://evil.example/?x=<b>");
    expect(sent[0]?.text).toContain("“http evil example x b”");
  });
});
