// The settings of accounts: who is an admin, sign-in with providers, bot detection, and the trial of new accounts.

import { resolve } from "node:path";
import { anyText, email, httpUrl, oneOf, type Parser, parseDuration, parser } from "../../src/kernel/config/parsers.ts";
import { programName } from "../../src/kernel/config/program-name.ts";
import { defineSettings, error, requireBoth, warning } from "../../src/kernel/config/section.ts";
import { listOf, optional, withDefault } from "../../src/kernel/config/variable.ts";
import { WALLET_EMAIL_DOMAIN } from "./email.ts";
import {
  buildOidcProviders,
  DEFAULT_OPENID_RULES,
  oidcVariables,
  validateOidcProviders,
} from "./oauth/openid-settings.ts";
import { DEFAULT_PLAN_TABLE } from "./plans/plan-table.ts";
import { PLAN_ID, type PlansFile, readPlansFile } from "./plans/plans-file.ts";

export const adminSettings = defineSettings({
  name: "admins",
  variables: {
    ADMIN_EMAILS: listOf(email, "Accounts with these addresses, once verified, are admins."),
  },
  build: ({ ADMIN_EMAILS }) => ({
    /** NFC, lower case. Without addresses of wallets: they receive no mail, and anyone can make a wallet. */
    emails: ADMIN_EMAILS.filter((email) => !email.endsWith(WALLET_EMAIL_DOMAIN)),
  }),
  validate: ({ ADMIN_EMAILS }) =>
    ADMIN_EMAILS.some((email) => email.endsWith(WALLET_EMAIL_DOMAIN))
      ? [
          warning(
            "ADMIN_EMAILS",
            `names a wallet's address, which has no effect here; make its account an admin with ${programName()} user admin.`,
          ),
        ]
      : [],
});

export const signInSettings = defineSettings({
  name: "sign-in",
  variables: {
    GOOGLE_CLIENT_ID: optional(anyText, "Google sign-in, with its secret."),
    GOOGLE_CLIENT_SECRET: optional(anyText, "Secret of that client.", "secret"),
    GOOGLE_ISSUER: withDefault(httpUrl, "https://accounts.google.com", "OpenID issuer of that sign-in."),
    GITHUB_CLIENT_ID: optional(anyText, "GitHub sign-in, with its secret."),
    GITHUB_CLIENT_SECRET: optional(anyText, "Secret of that client.", "secret"),
    GITHUB_BASE_URL: withDefault(httpUrl, "https://github.com", "Where GitHub's sign-in pages are."),
    GITHUB_API_URL: withDefault(httpUrl, "https://api.github.com", "Where GitHub's API is."),
    ...oidcVariables,
    BOT_DETECTION: withDefault(
      oneOf("off", "standard", "strict"),
      "standard",
      "Who is refused at sign-up and forgot-password: `standard` lets plain API clients pass, `strict` only browsers.",
    ),
  },
  needs: { GOOGLE_CLIENT_ID: ["GOOGLE_ISSUER"], GITHUB_CLIENT_ID: ["GITHUB_BASE_URL", "GITHUB_API_URL"] },
  build: (v) => ({
    /** The providers that are set up completely, in the order in which people see them. */
    providers: [
      ...(v.GOOGLE_CLIENT_ID && v.GOOGLE_CLIENT_SECRET
        ? [
            {
              ...DEFAULT_OPENID_RULES,
              kind: "google" as const,
              id: "google" as const,
              env: "GOOGLE",
              name: "Google",
              clientId: v.GOOGLE_CLIENT_ID,
              clientSecret: v.GOOGLE_CLIENT_SECRET,
              issuer: v.GOOGLE_ISSUER,
            },
          ]
        : []),
      ...(v.GITHUB_CLIENT_ID && v.GITHUB_CLIENT_SECRET
        ? [
            {
              kind: "github" as const,
              id: "github" as const,
              name: "GitHub",
              clientId: v.GITHUB_CLIENT_ID,
              clientSecret: v.GITHUB_CLIENT_SECRET,
              baseUrl: v.GITHUB_BASE_URL,
              apiUrl: v.GITHUB_API_URL,
            },
          ]
        : []),
      ...buildOidcProviders(v),
    ],
    botDetection: v.BOT_DETECTION,
  }),
  validate: (v, { sources }) => [
    ...requireBoth(v, "GOOGLE_CLIENT_ID", "GOOGLE_CLIENT_SECRET"),
    ...requireBoth(v, "GITHUB_CLIENT_ID", "GITHUB_CLIENT_SECRET"),
    ...validateOidcProviders(v, sources),
  ],
});

/** Who may sign up. With `domains`, people with a proven address of one of them, and those whom an admin invites. */
export type SignUpMode = "open" | "invite" | "closed" | "domains";

const DOMAIN = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)+$/;

const signUpModes: Parser<{ mode: SignUpMode; domains: readonly string[] }> = parser(
  "open, invite, closed, or domains: with the domains of addresses, such as domains:example.com,example.org",
  (text, context) => {
    const [, list] = /^domains:(.+)$/i.exec(text) ?? [];
    if (list === undefined) {
      const mode = oneOf("open", "invite", "closed").parse(text, context);
      return mode && { mode, domains: [] };
    }
    const domains = list.split(",").map((domain) => domain.trim().toLowerCase());
    return domains.every((domain) => DOMAIN.test(domain)) ? { mode: "domains", domains } : undefined;
  },
);

export const signUpSettings = defineSettings({
  name: "sign-up",
  variables: {
    SIGN_UP: withDefault(
      signUpModes,
      "open",
      "Who gets an account: anyone, people whom an admin invites (`berth user invite`), people with an address of a list of domains, or nobody. Admins can always create accounts.",
    ),
  },
  build: ({ SIGN_UP }) => SIGN_UP,
  validate: ({ SIGN_UP }, { kernel }) =>
    SIGN_UP.mode === "domains" && kernel.smtp.url === undefined
      ? [
          warning(
            "SIGN_UP",
            "lets people in by a mail to their address, and SMTP_URL is not set: mails become files in DATA_DIR/outbox. Until then only those get in whose address a sign-in provider vouches for.",
          ),
        ]
      : [],
});

const days = parser("a whole number from 0 to 365", (text) =>
  /^\d{1,3}$/.test(text) && Number(text) <= 365 ? Number(text) : undefined,
);
const messages = parser("a whole number from 1 to 1000000", (text) =>
  /^[1-9]\d{0,6}$/.test(text) && Number(text) <= 1_000_000 ? Number(text) : undefined,
);

export const newAccountSettings = defineSettings({
  name: "new-accounts",
  variables: {
    NEW_ACCOUNT_DAYS: withDefault(
      days,
      "0",
      "Days in which a new account gets by and by what it may use: of its plan's models, and of NEW_ACCOUNT_MESSAGES_PER_DAY. 0: at once. A paid plan ends it, and admins can lift it.",
    ),
    NEW_ACCOUNT_MESSAGES_PER_DAY: withDefault(
      messages,
      "200",
      "Messages that the agents of a new account answer on channels in a day, with NEW_ACCOUNT_DAYS: a share of it that grows each day, and any number afterwards.",
    ),
  },
  needs: { NEW_ACCOUNT_DAYS: ["NEW_ACCOUNT_MESSAGES_PER_DAY"] },
  build: (v) => ({ days: v.NEW_ACCOUNT_DAYS, messagesPerDay: v.NEW_ACCOUNT_MESSAGES_PER_DAY }),
});

/** A subscription given to each new account. */
interface Trial {
  plan: string;
  durationMs: number;
  /** As it was set. */
  text: string;
}

const trial: Parser<Trial> = parser("PLAN:TIME, such as starter:7d", (text) => {
  const [plan = "", time = ""] = text.split(":");
  const durationMs = parseDuration(time);
  return PLAN_ID.test(plan) && plan !== "free" && durationMs ? { plan, durationMs, text } : undefined;
});

const plansFile: Parser<PlansFile> = parser("the path of a JSON file", (text, { cwd }) =>
  readPlansFile(resolve(cwd, text)),
);

export const planSettings = defineSettings({
  name: "plans",
  variables: {
    PLANS_FILE: optional(
      plansFile,
      "A `plans.json` with prices and limits of the plans, in place of the defaults; see [billing.md](billing.md).",
    ),
    SIGNUP_TRIAL: optional(trial, "Subscription of each new account, such as `starter:7d`."),
  },
  build: ({ PLANS_FILE, SIGNUP_TRIAL }) => ({
    /** The file of the operator, if there is one. */
    file: PLANS_FILE?.path,
    table: PLANS_FILE?.table ?? DEFAULT_PLAN_TABLE,
    signupTrial: SIGNUP_TRIAL,
  }),
  validate: ({ PLANS_FILE, SIGNUP_TRIAL }) => {
    const findings = (PLANS_FILE?.problems ?? []).map((problem) => error("PLANS_FILE", problem));
    const { plans } = PLANS_FILE?.table ?? DEFAULT_PLAN_TABLE;
    const names = plans.map(({ id }) => id).filter((id) => id !== "free");
    if (findings.length > 0 || !SIGNUP_TRIAL || names.includes(SIGNUP_TRIAL.plan)) return findings;
    return [
      error("SIGNUP_TRIAL", `"${SIGNUP_TRIAL.text}" names a plan that there is not. Plans: ${names.join(", ")}.`),
    ];
  },
});
