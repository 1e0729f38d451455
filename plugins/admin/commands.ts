// The commands `berth user …`, with which the operator of the machine manages accounts. They run in the server when
// called over the control socket, else in the process of the command.
import { invalidInput } from "../../src/kernel/errors.ts";
import type { Kernel } from "../../src/kernel/plugin.ts";
import type { Administration, PlanTable, User } from "../auth/index.ts";
import type { AuditLog } from "./audit-log.ts";
import { requireReason } from "./freeze-body.ts";
import { toInvitationResponse, toUserItem } from "./model.ts";
import { requireDays, requirePlan, resolvePeriodEnd } from "./subscription-input.ts";

/** Takes arguments as texts by name; `operator` is the operating system's user. Resolves with a JSON value. */
export type Command = (args: Readonly<Record<string, string>>) => Promise<unknown>;
export type Commands = Readonly<Record<string, Command>>;

type Args = Parameters<Command>[0];

/** The page size of `user.list`. */
const PAGE = 1_000;

/** The commands by their names on the control socket. They throw the errors of `Administration`. */
export function createCommands(
  administration: Administration,
  auditLog: AuditLog,
  plans: PlanTable,
  takeNotes: () => Promise<void>,
  database: Pick<Kernel["database"], "read">,
) {
  const recorder = ({ operator = "" }) =>
    auditLog.recorderFor({ kind: "command", id: null, name: operator, address: null, requestId: null });
  const findAccount = ({ email = "" }) => administration.byEmail(email);
  const toResponse = (user: User) => toUserItem(user, administration);
  // The last admin may be removed here, since the operator can always create another.
  const options = { keepAnAdmin: false };

  const setDisabled =
    (disabled: boolean): Command =>
    async (args) => {
      const { id } = await findAccount(args);
      return toResponse(await administration.update(id, { disabled }, recorder(args), options));
    };

  return {
    async "user.create"(args: Args) {
      const { email = "", name = "", admin, password } = args;
      const invite = password === undefined ? "link" : undefined;
      // The address counts as verified, since the operator entered it.
      const account = { email, name, isAdmin: admin === "true", emailVerified: true, ...(!invite && { password }) };
      const { user, link } = await administration.create(account, recorder(args), invite);
      return { ...toResponse(user), ...(link !== undefined && { link }) };
    },

    async "user.invite"(args: Args) {
      return toInvitationResponse(await administration.invite(args.email ?? "", recorder(args)));
    },

    async "user.grant"(args: Args) {
      const plan = requirePlan(args.plan ?? "", plans);
      const end = resolvePeriodEnd(args.days === undefined ? undefined : requireDays(args.days), undefined);
      const { id } = await findAccount(args);
      const subscription = { plan, status: "active" as const, currentPeriodEnd: end };
      const { email } = await administration.setSubscription(id, subscription, recorder(args));
      return { email, plan, status: "active", currentPeriodEnd: new Date(end).toISOString() };
    },

    async "user.admin"(args: Args) {
      const { id } = await findAccount(args);
      return toResponse(await administration.update(id, { isAdmin: args.off !== "true" }, recorder(args), options));
    },

    async "user.list"({ query, offset = "0" }: Args) {
      const { users, total } = await administration.list({ query, limit: PAGE, offset: Number(offset) });
      return { users: users.map(toResponse), total };
    },

    async "user.freeze"(args: Args) {
      const reason = requireReason(args.reason);
      const { id } = await findAccount(args);
      return toResponse(await administration.setFrozen(id, reason, recorder(args), { by: undefined }));
    },
    async "user.unfreeze"(args: Args) {
      const { id } = await findAccount(args);
      return toResponse(await administration.setFrozen(id, null, recorder(args), { by: undefined }));
    },
    "user.disable": setDisabled(true),
    "user.enable": setDisabled(false),

    async "user.reset-password"(args: Args) {
      const { id, email } = await findAccount(args);
      return { email, link: await administration.resetPassword(id, recorder(args), "link") };
    },

    /** A command beside the service has left a note. */
    async "audit.take-notes"() {
      await takeNotes();
      return {};
    },

    async "audit.verify"({ head }: Args) {
      const [, seq, mac = ""] = /^(\d{1,15}):([\w-]{43})$/.exec(head ?? "") ?? [];
      if (head !== undefined && seq === undefined)
        throw invalidInput({
          path: "head",
          message: "A head is a number and a hash, as audit verify prints them: 12:AbC…",
        });
      const report = await auditLog.verify(seq === undefined ? undefined : { seq: Number(seq), mac });
      return (await import("./unrecorded.ts")).withUnrecorded(database, report);
    },

    async "user.two-factor-off"(args: Args) {
      const { id, email } = await findAccount(args);
      await administration.removeTwoFactor(id, recorder(args));
      return { email };
    },
  };
}
