// Request and response schemas of the ways to sign in: those of this service, and those of an account.
import { type Static, t } from "elysia";
import type { SignInMethod } from "./sign-in-methods.ts";

export const availableMethods = t.Object({
  providers: t.Array(
    t.Object({
      id: t.String({ description: "`google`, `github`, `oidc`, or `oidc_2` to `oidc_9`" }),
      name: t.String({ description: "What people call it: the text of the button" }),
      url: t.String({ description: "Where a sign-in begins; takes `callbackUrl`" }),
      reachable: t.Union([t.Boolean(), t.Null()], {
        description:
          "Whether the provider has answered when it was last asked for its metadata; null if it was not asked, or has none",
      }),
    }),
  ),
  wallet: t.Object({ chainId: t.Number({ description: "The chain of a message to sign" }) }),
  signUp: t.Union([t.Literal("open"), t.Literal("invite"), t.Literal("closed"), t.Literal("domains")], {
    description: "Who gets an account: anyone, people with an invitation, or nobody",
  }),
  password: t.Object({ minLength: t.Number({ description: "Characters of a new password" }) }),
  sendsMail: t.Boolean({
    description: "There is a mail server; without one, mails stay as files in the data folder of the service",
  }),
});

const method = t.Object({
  id: t.String(),
  provider: t.String({
    description:
      "`google`, `github`, `oidc`, `oidc_2` to `oidc_9`, or `wallet`; `oidc` also for one that is no longer set up",
  }),
  name: t.String({ description: "What people call the provider" }),
  label: t.Union([t.String(), t.Null()], {
    description: "The address or name of the account at the provider, or the wallet's address; null if not known",
  }),
  canRemove: t.Boolean({
    description: "False for the last way into the account, and for a wallet that is its address",
  }),
  createdAt: t.String(),
});

export const methodList = t.Object({
  hasPassword: t.Boolean(),
  signIns: t.Array(method),
  count: t.Number(),
});

export const methodResponse = t.Object({ signIn: method });

const currentPassword = t.Optional(
  t.String({
    maxLength: 4096,
    description: "Required if the session is older than ten minutes",
    error: "Give your current password.",
  }),
);

export const confirmationBody = t.Object({ currentPassword });

export const providerBody = t.Object({
  provider: t.String({
    description: "`google`, `github`, `oidc`, or `oidc_2` to `oidc_9`",
    error: "Name the provider.",
  }),
  currentPassword,
});

/** Not validated by the schema, since a missing message or signature gives 401 as at a sign-in. */
const text = (description: string) => t.Optional(t.Unknown({ type: "string", description }));

export const walletBody = t.Object({
  message: text("The full message (EIP-4361), as for a sign-in"),
  signature: text("Its signature in hex, starting with 0x"),
  currentPassword,
});

export const providerAddress = t.Object({ url: t.String({ description: "Where the browser goes next" }) });
export const removedMethod = t.Object({ success: t.Literal(true), id: t.String() });

export const toMethodItem = ({ createdAt, ...method }: SignInMethod): Static<typeof methodResponse>["signIn"] => ({
  ...method,
  createdAt: new Date(createdAt).toISOString(),
});
