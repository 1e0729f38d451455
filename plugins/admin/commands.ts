// `berth user …`: what the operator of this machine does with accounts. Asked over the control socket or beside it.
import type { Administration, User } from "../auth/index.ts";
import type { Audit } from "./audit.ts";
import { toItem } from "./model.ts";
import { periodEnd, requireDays, requirePlan } from "./subscription.ts";

/** Texts by name, as the command line gives them; `operator` is who runs it. What a command answers is JSON. */
export type Command = (args: Readonly<Record<string, string>>) => Promise<unknown>;
export type Commands = Readonly<Record<string, Command>>;

/** Accounts a page of `user.list`, at most. */
const PAGE = 1_000;

/** By the names they have on the socket. Each throws the AppErrors of `Administration`. */
export function createCommands(administration: Administration, audit: Audit): Commands {
  const recorder = ({ operator = "" }) =>
    audit.by({ kind: "command", id: null, name: operator, address: null, requestId: null });
  const named = ({ email = "" }) => administration.byEmail(email);
  const shown = (user: User) => toItem(user, administration);
  // Whoever holds the machine can always make another admin.
  const options = { keepAnAdmin: false };

  const disable =
    (disabled: boolean): Command =>
    async (args) => {
      const { id } = await named(args);
      return shown(await administration.update(id, { disabled }, recorder(args), options));
    };

  return {
    async "user.create"(args) {
      const { email = "", name = "", admin, password } = args;
      const invite = password === undefined ? "link" : undefined;
      // The operator vouches for the address.
      const account = { email, name, isAdmin: admin === "true", emailVerified: true, ...(!invite && { password }) };
      const { user, link } = await administration.create(account, recorder(args), invite);
      return { ...shown(user), ...(link !== undefined && { link }) };
    },

    async "user.grant"(args) {
      const plan = requirePlan(args.plan ?? "");
      const end = periodEnd(args.days === undefined ? undefined : requireDays(args.days), undefined);
      const { id } = await named(args);
      const subscription = { plan, status: "active" as const, currentPeriodEnd: end };
      const { email } = await administration.subscribe(id, subscription, recorder(args));
      return { email, plan, status: "active", currentPeriodEnd: new Date(end).toISOString() };
    },

    async "user.admin"(args) {
      const { id } = await named(args);
      return shown(await administration.update(id, { isAdmin: args.off !== "true" }, recorder(args), options));
    },

    async "user.list"({ query, offset = "0" }) {
      const { users, total } = await administration.list({ query, limit: PAGE, offset: Number(offset) });
      return { users: users.map(shown), total };
    },

    "user.disable": disable(true),
    "user.enable": disable(false),

    async "user.reset-password"(args) {
      const { id, email } = await named(args);
      return { email, link: await administration.resetPassword(id, recorder(args), "link") };
    },

    async "user.two-factor-off"(args) {
      const { id, email } = await named(args);
      await administration.dropTwoFactor(id, recorder(args));
      return { email };
    },
  };
}
