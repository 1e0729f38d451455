// The settings of OpenID Connect providers: `OIDC_…` for the first, `OIDC_2_…` to `OIDC_9_…` for more.

import { isLoopbackUrl } from "../../../src/kernel/config/config.ts";
import { anyText, commaSeparated, httpUrl, oneOf, type Parser, parser } from "../../../src/kernel/config/parsers.ts";
import {
  type Finding,
  requireBoth,
  type SectionContext,
  warning,
  warnOfGiven,
} from "../../../src/kernel/config/section.ts";
import { optional, repeated, type ValuesOf, type Variable, withDefault } from "../../../src/kernel/config/variable.ts";

/** What the variables of each provider begin with. */
const PREFIXES = [
  ...(["OIDC", "OIDC_2", "OIDC_3", "OIDC_4", "OIDC_5"] as const),
  ...(["OIDC_6", "OIDC_7", "OIDC_8", "OIDC_9"] as const),
];
type Prefix = (typeof PREFIXES)[number];

/** The path of a provider: `/api/auth/oauth/:id`. */
export type OidcId = Lowercase<Prefix>;
const idOf = (prefix: Prefix) => prefix.toLowerCase() as OidcId;
export const OIDC_IDS: readonly OidcId[] = PREFIXES.map(idOf);

/** What a sign-in asks an OpenID provider for, and how far its answer is trusted. */
export interface OpenidRules {
  /** The scopes of the request, with spaces between. */
  scope: string;
  /** An address without the claim `email_verified` counts as verified. */
  trustsEmail: boolean;
  /** The claim that lists the groups of a person: its name, or names with dots between for one inside of another. */
  groupsClaim: string;
  /** Members of one of these groups are admins. Empty: the provider makes no admins. */
  adminGroups: readonly string[];
}

/** A provider whose issuer, client id and secret are set. */
export interface OidcSettings extends OpenidRules {
  kind: "oidc";
  id: OidcId;
  /** The variables' prefix, for messages to the operator: `OIDC_2`. */
  env: string;
  name: string;
  issuer: string;
  clientId: string;
  clientSecret: string;
}

/** The rules of a provider that has no settings for them. */
export const DEFAULT_OPENID_RULES: OpenidRules = {
  scope: "openid email profile",
  trustsEmail: false,
  groupsClaim: "groups",
  adminGroups: [],
};

const scopes = parser("scopes with spaces between, among them openid", (text) => {
  const list = text.split(/[\s,]+/).filter(Boolean);
  return list.includes("openid") && list.every((scope) => /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(scope))
    ? list.join(" ")
    : undefined;
});

/** Names of groups. A JSON list holds names with commas, such as those of a directory (`cn=admins,ou=groups`). */
const groups: Parser<string[]> = parser(
  'a comma-separated list, or a JSON list such as ["cn=admins,ou=groups"]',
  (text, context) => {
    if (!text.startsWith("[")) return commaSeparated(anyText).parse(text, context);
    try {
      const list: unknown = JSON.parse(text);
      return Array.isArray(list) && list.every((name) => typeof name === "string" && name !== "") ? list : undefined;
    } catch {
      return undefined;
    }
  },
);

type OidcVariables = {
  readonly [Name in `${Prefix}_${"ISSUER" | "CLIENT_ID" | "CLIENT_SECRET"}`]: Variable<string | undefined>;
} & { readonly [Name in `${Prefix}_${"NAME" | "SCOPES" | "GROUPS_CLAIM"}`]: Variable<string> } & {
  readonly [Name in `${Prefix}_ADMIN_GROUPS`]: Variable<string[]>;
} & { readonly [Name in `${Prefix}_TRUST_EMAIL`]: Variable<"on" | "off"> };

const FIRST = {
  ISSUER: optional(
    httpUrl,
    "Sign-in with an OpenID Connect provider: its issuer, with client id and secret. More providers: `OIDC_2_…` to `OIDC_9_…`.",
  ),
  CLIENT_ID: optional(
    anyText,
    "Client id at that provider; its redirect address is `/api/auth/callback/oidc`, or `oidc_2` and so on.",
  ),
  CLIENT_SECRET: optional(anyText, "Secret of that client.", "secret"),
  NAME: withDefault(anyText, "single sign-on", "What people call that provider: the text of its button."),
  SCOPES: withDefault(
    scopes,
    DEFAULT_OPENID_RULES.scope,
    "Scopes of the request; some providers send groups only for one more.",
  ),
  ADMIN_GROUPS: withDefault(
    groups,
    "",
    "Members of these groups at that provider are admins, decided anew at each sign-in with it.",
  ),
  GROUPS_CLAIM: withDefault(
    anyText,
    DEFAULT_OPENID_RULES.groupsClaim,
    "Claim with a person's groups at that provider, such as `realm_access.roles` for one inside of another.",
  ),
  TRUST_EMAIL: withDefault(
    oneOf("off", "on"),
    "off",
    "`on`: an address counts as verified also where that provider does not send `email_verified`. Only for one that lets nobody choose their address.",
  ),
};

/** The variables of all providers; from the second on they repeat those of the first. */
export const oidcVariables: OidcVariables = Object.assign(
  {},
  ...PREFIXES.map((prefix) =>
    Object.fromEntries(
      Object.entries<Variable<unknown>>(FIRST).map(([suffix, variable]) => [
        `${prefix}_${suffix}`,
        prefix === PREFIXES[0] ? variable : repeated(variable, `${PREFIXES[0]}_${suffix}`),
      ]),
    ),
  ),
);

type OidcValues = ValuesOf<OidcVariables>;

/** The providers that are set up completely, in the order of their numbers. */
export const buildOidcProviders = (v: OidcValues): OidcSettings[] =>
  PREFIXES.flatMap((env) => {
    const [issuer, clientId, clientSecret] = [v[`${env}_ISSUER`], v[`${env}_CLIENT_ID`], v[`${env}_CLIENT_SECRET`]];
    if (!issuer || !clientId || !clientSecret) return [];
    return {
      kind: "oidc" as const,
      id: idOf(env),
      env,
      name: v[`${env}_NAME`],
      issuer,
      clientId,
      clientSecret,
      scope: v[`${env}_SCOPES`],
      trustsEmail: v[`${env}_TRUST_EMAIL`] === "on",
      groupsClaim: v[`${env}_GROUPS_CLAIM`],
      adminGroups: v[`${env}_ADMIN_GROUPS`],
    };
  });

export function validateOidcProviders(v: OidcValues, sources: SectionContext["sources"]): Finding[] {
  const providers = buildOidcProviders(v);
  const incomplete = PREFIXES.flatMap((env) => [
    ...requireBoth(v, `${env}_CLIENT_ID`, `${env}_CLIENT_SECRET`),
    ...requireBoth(v, `${env}_CLIENT_ID`, `${env}_ISSUER`),
    ...(v[`${env}_CLIENT_ID`]
      ? []
      : warnOfGiven(
          [`${env}_NAME`, `${env}_SCOPES`, `${env}_ADMIN_GROUPS`, `${env}_TRUST_EMAIL`],
          sources,
          `is set without ${env}_CLIENT_ID, so it has no effect.`,
        )),
    ...(v[`${env}_ADMIN_GROUPS`].length > 0
      ? []
      : warnOfGiven([`${env}_GROUPS_CLAIM`], sources, `is set without ${env}_ADMIN_GROUPS, so it has no effect.`)),
  ]);
  const unlike = providers.flatMap(({ env, name, issuer }, index) => [
    ...(providers.slice(0, index).some((other) => other.name === name)
      ? [warning(`${env}_NAME`, `is the name of another provider too, so people can't tell their buttons apart.`)]
      : []),
    ...(issuer.startsWith("http:") && !isLoopbackUrl(issuer)
      ? [warning(`${env}_ISSUER`, "is not https: who reads or changes its answers on the way signs in as anybody.")]
      : []),
  ]);
  return [...incomplete, ...unlike];
}
