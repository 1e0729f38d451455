// The auth plugin: creates the services of accounts, sessions and sign-in, and joins their web routes.

import { Elysia } from "elysia";
import { schemaFileRoute } from "../../src/kernel/http/openapi/schema-file.ts";
import { contextOf, isLocalRequest } from "../../src/kernel/http/request-context.ts";
import { openRoutes } from "../../src/kernel/http/route-guards.ts";
import { plugin } from "../../src/kernel/plugin.ts";
import { perHour, perMinute, type RateLimitRules } from "../../src/kernel/security/rate-limits/rate-limiter.ts";
import { once } from "../../src/kernel/util/cache.ts";
import { DAY, HOUR, MINUTE } from "../../src/kernel/util/time.ts";
import { chains } from "../chains/index.ts";
import { createAccountReclaim } from "./account-reclaim.ts";
import { createAccountAudit } from "./administration/account-audit.ts";
import { createAdministration } from "./administration/administration.ts";
import { createApiKeys } from "./api-keys/api-keys.ts";
import type { AuthServices } from "./auth-services.ts";
import { forgetDeletedAccounts, joinAccountMoves } from "./cells/account-moves.ts";
import { revokeDeviceSignInsStatement, sweepDeviceSignInsStatement } from "./device/device-rows.ts";
import { createIdentities } from "./identities.ts";
import { createMails } from "./mails/mails.ts";
import { createAdminGroups } from "./oauth/admin-groups.ts";
import { createLinkedAccounts } from "./oauth/linked-accounts.ts";
import { createOneTimeLinks } from "./one-time-links.ts";
import { createHasAccounts, createHomePage, pageRoutes } from "./pages/account-pages.ts";
import { createPasswordReset } from "./password/password-reset.ts";
import { createPasswords } from "./password/passwords.ts";
import { createPlaceholderAccounts } from "./placeholder-accounts.ts";
import { requirePlansInUse } from "./plans/plans-in-use.ts";
import { createSessions } from "./sessions.ts";
import { createDeletion } from "./settings/account-deletion.ts";
import { currentUserRoute } from "./settings/current-user-route.ts";
import { deviceLabel } from "./settings/device-label.ts";
import { createExternalTokens } from "./sign-in/external-tokens.ts";
import { createReauthenticate } from "./sign-in/reauthentication.ts";
import { sweepUsedOnceStatement } from "./sign-in/replay-protection.ts";
import { signInRoutes } from "./sign-in/routes.ts";
import { createSignIn } from "./sign-in/sign-in.ts";
import { createEmailVerification } from "./sign-up/email-verification.ts";
import { createFirstAdmin } from "./sign-up/first-admin.ts";
import { createSignUpPolicy } from "./sign-up/sign-up-policy.ts";
import { createTwoFactor } from "./two-factor/two-factor.ts";
import { createUsers } from "./users.ts";

export type { OnAccountReclaim } from "./account-reclaim.ts";
export type { AccountChange, AuditRecorder } from "./administration/account-audit.ts";
export { ACCOUNT_STATUSES, type AccountFilter, type Administration } from "./administration/administration.ts";
export { OF_CHANGES } from "./administration/frozen-accounts.ts";
export { requireKnownScopes, type Scope } from "./api-keys/api-keys.ts";
export { type CallerCredential, credentialStillValidStatements, toUnauthorized } from "./caller-credential.ts";
export type { Identities } from "./identities.ts";
export {
  bearerOf,
  type Caller,
  type Identity,
  requireScope,
  type SessionIdentity,
} from "./identity.ts";
export { newPassword } from "./model.ts";
export { createAccountPage } from "./pages/account-pages.ts";
export { isPlaceholderAccount } from "./placeholder-accounts.ts";
export { requireFeature } from "./plans/features.ts";
export { type Ramp, rampAdvice } from "./plans/new-accounts.ts";
export {
  createPlanTable,
  DEFAULT_PLANS,
  FEATURES,
  isActiveSubscription,
  type Plan,
  type PlanTable,
  UNLIMITED,
} from "./plans/plan-table.ts";
export type { BeforeDeletion } from "./settings/account-deletion.ts";
export type { Invitation } from "./sign-up/sign-up-policy.ts";
export {
  SUBSCRIPTION_STATUSES,
  type User,
} from "./users.ts";
export { isSignedBy } from "./wallet/signature.ts";

/** Per address, account or both. `sign-in-ip` limits the addresses that try many accounts. */
const RATE_LIMIT_RULES: RateLimitRules = {
  "sign-up": { rates: [perMinute(10), perHour(60)] },
  "sign-in": { rates: [{ limit: 10, periodMs: 15 * MINUTE }] },
  "sign-in-ip": { rates: [{ limit: 30, periodMs: 15 * MINUTE }] },
  "forgot-password": { rates: [perMinute(5), perHour(20)] },
  "reset-password": { rates: [perMinute(10), perHour(60)] },
  "device-begin": { rates: [perMinute(10), perHour(60)] },
  // A program polls twelve times a minute; several may share an address.
  "device-poll": { rates: [perMinute(120)], deferred: true },
  // A look and a decision for each sign-in. There are 20^8 codes.
  "device-code": { rates: [{ limit: 20, periodMs: 15 * MINUTE }] },
};

const SECURITY_SCHEMES = {
  session: {
    type: "apiKey",
    in: "cookie",
    name: "berth_session",
    description: "Set by a sign-in. On https its name is `__Host-berth_session`.",
  },
  apiKey: { type: "http", scheme: "bearer", description: "A key of yours (`bk_…`), made with `POST /api/keys`." },
};

export const auth = plugin("auth", ({ kernel, use }) => {
  const users = createUsers(kernel);
  const sessions = createSessions(kernel);
  const keys = createApiKeys(kernel);
  const passwords = createPasswords();
  const oneTimeLinks = createOneTimeLinks(kernel);
  const linkedAccounts = createLinkedAccounts(kernel);
  const twoFactor = createTwoFactor({ ...kernel, users });
  const signIn = createSignIn({ ...kernel, users, passwords, twoFactor });
  const mails = createMails(kernel);
  const firstAdmin = createFirstAdmin({ ...kernel, users, oneTimeLinks });
  const identities = createIdentities({ ...kernel, users, sessions, keys, tokens: kernel.backend.tokens });
  const auditStatement = createAccountAudit(kernel.audit);
  const services: AuthServices = {
    kernel,
    auditStatement,
    users,
    sessions,
    passwords,
    identities,
    signIn,
    keys,
    twoFactor,
    accountReclaim: createAccountReclaim({ sessions, keys, linkedAccounts, oneTimeLinks, twoFactor }),
    oneTimeLinks,
    mails,
    linkedAccounts,
    reauthenticate: createReauthenticate(signIn),
    verification: createEmailVerification({
      ...kernel,
      users,
      oneTimeLinks,
      mails,
      linkedAccounts,
      keys,
      twoFactor,
    }),
    firstAdmin,
    signUpPolicy: createSignUpPolicy({ ...kernel, oneTimeLinks }),
    externalTokens: createExternalTokens({ users, limits: kernel.limits }),
    async startSession(request, userId, evidence) {
      const context = contextOf(request);
      const { address, cookies } = context;
      const userAgent = request.headers.get("user-agent")?.slice(0, 300) ?? "";
      const email = (await users.byId(userId))?.email ?? "";
      context.actor = { kind: "user", id: userId, name: email };
      const isNew = !(await sessions.isKnownDevice(userId, userAgent));
      const audited = isNew
        ? [auditStatement({ id: userId, email }, "sign-in", { device: deviceLabel(userAgent) })]
        : [];
      const client = { direct: isLocalRequest(request), address, userAgent };
      cookies.push((await sessions.start(userId, client, evidence, audited)).cookie);
    },
  };

  if (kernel.cells) joinAccountMoves(kernel.cells, { ...kernel, users, sessions, keys });
  const hasAccounts = createHasAccounts(users);
  const deletion = createDeletion({ ...kernel, ...services });
  if (kernel.cells) forgetDeletedAccounts(kernel.cells, kernel.jobs, deletion);
  // A stranger may have approved them.
  services.accountReclaim.registerHook((userId) => [revokeDeviceSignInsStatement(userId)]);
  kernel.jobs.every("auth.sweep", DAY, async () => [
    sessions.sweepStatement(),
    oneTimeLinks.sweepStatement(),
    sweepDeviceSignInsStatement(),
  ]);
  // Hourly, since every sign-in adds a row, and visitors without an account can add rows too.
  kernel.jobs.every("auth.sweep-used", HOUR, async () => [sweepUsedOnceStatement()]);

  const { mainnet } = use(chains);
  const adminGroups = createAdminGroups(services);
  const passwordReset = createPasswordReset(services);
  const oauth = once(async () => (await import("./oauth/oauth.ts")).createOAuth(services, adminGroups));
  const walletProofs = once(async () => (await import("./wallet/wallet-proof.ts")).createWalletProofs(kernel, mainnet));
  const loadDeviceCells = () => import("./device/device-cells.ts");
  kernel.cells?.answer("device.look", async (text) => (await loadDeviceCells()).look(kernel.database, text));
  kernel.cells?.answer("device.take", async (text) => (await loadDeviceCells()).take(kernel.database, text));
  const web = new Elysia({ name: "auth.web" })
    .use(openRoutes)
    .use(signInRoutes(services))
    .use(currentUserRoute(services))
    .use(
      schemaFileRoute({
        path: "/schemas/plans.json",
        tag: "Accounts",
        summary: "The JSON Schema of plans.json, the operator's table of plans",
        operationId: "getPlansFileSchema",
        schema: async () =>
          (await import("./plans/plans-schema.ts")).plansSchema(new URL(kernel.config.baseUrl).origin),
      }),
    )
    .use(pageRoutes(kernel, { hasAccounts, oneTimeLinks }));

  return {
    web,
    lateRoutes: {
      web: [
        async () => (await import("./sign-up/routes.ts")).signUpRoutes(services),
        async () => (await import("./sign-up/email-verification-routes.ts")).emailVerificationRoutes(services),
        async () => (await import("./password/routes.ts")).passwordResetRoutes(services, passwordReset),
        async () => (await import("./oauth/routes.ts")).oauthRoutes(services, await oauth()),
        async () => (await import("./wallet/routes.ts")).walletRoutes(services, await walletProofs()),
        async () => (await import("./settings/routes.ts")).settingsRoutes(services, deletion),
        async () => (await import("./settings/sessions-routes.ts")).sessionsRoutes(services),
        async () => (await import("./api-keys/routes.ts")).apiKeyRoutes(services),
        async () => (await import("./settings/referral-routes.ts")).referralRoutes(services),
        async () => (await import("./two-factor/routes.ts")).twoFactorRoutes(services),
        async () =>
          (await import("./sign-in-methods/routes.ts")).signInMethodRoutes(services, {
            oauth: await oauth(),
            walletProofs: await walletProofs(),
            chainId: mainnet.id,
          }),
        async () => {
          const [{ deviceRoutes }, { createDeviceSignIns }] = await Promise.all([
            import("./device/routes.ts"),
            import("./device/device-sign-ins.ts"),
          ]);
          return deviceRoutes(services, createDeviceSignIns({ ...kernel, ...services }));
        },
      ],
    },
    check: () => requirePlansInUse(kernel),
    start: adminGroups.dropStale,
    stop: keys.close,
    rateLimitRules: RATE_LIMIT_RULES,
    secretPatterns: [/(?<![A-Za-z0-9])bk_[\w+/=-]{6,}/g, /(?<![A-Za-z0-9])bdc_[\w-]{6,}/g],
    securitySchemes: SECURITY_SCHEMES,
    service: {
      administration: createAdministration({ ...services, deletion }),
      users,
      placeholderAccounts: createPlaceholderAccounts(kernel, users),
      mails: services.mails,
      identities,
      hasSessionCookie: sessions.hasCookie,
      homePage: createHomePage(kernel, hasAccounts),
      onSessionRevoked: sessions.onRevoked,
      filterActiveSessions: sessions.filterActive,
      /** Addresses, in lower case, of the wallets linked to a user. */
      listWalletAddresses: services.linkedAccounts.listWalletAddresses,
      /** The id of the user to whom this wallet, in lower case, is linked. */
      findWalletOwner: (address: string) =>
        services.linkedAccounts.findUserId({ provider: "wallet", subject: address }),
      beforeDeletion: deletion.registerHook,
      /** Deletes an account for good. The caller has checked that it may. */
      deleteAccount: deletion.remove,
      onAccountReclaim: services.accountReclaim.registerHook,
      onExternalToken: services.externalTokens.registerResolver,
      createFirstAdminLink: firstAdmin.createLink,
      onFirstAdminCreated: firstAdmin.onCreated,
      onAdminByGroup: adminGroups.onChanged,
    },
  };
});
