// Entries of the audit log. All their texts are shown as text: names of accounts and agents are chosen by people.

import { Link } from "wouter";
import { type Column, Table } from "../../../parts/lists/table.tsx";
import { When } from "../../../parts/values/when.tsx";
import { planName } from "../../../session/session.tsx";
import { formatTime, type Text, t, text } from "../../../viewer/language.ts";
import type { AuditEntry } from "../api-types.ts";

export const ACTIONS: Readonly<Record<string, Text>> = {
  "user.create": text("Made an account"),
  "user.invite": text("Invited a person"),
  "user.update": text("Changed an account"),
  "user.promote": text("Made an account an admin"),
  "user.demote": text("Took the rights of an admin"),
  "user.disable": text("Disabled an account"),
  "user.enable": text("Enabled an account"),
  "user.freeze": text("Froze an account"),
  "user.unfreeze": text("Let a frozen account go on"),
  "user.move": text("Moved an account to another cell"),
  "user.delete": text("Deleted an account"),
  "user.reset-password": text("Made a link for a new password"),
  "user.two-factor-off": text("Turned off a second factor"),
  "user.sign-up": text("Signed up"),
  "user.sign-in": text("Signed in on a new device"),
  "user.sign-in-failed": text("Failed to sign in again and again"),
  "user.password": text("Changed the password"),
  "user.password-reset": text("Set a new password by mail"),
  "user.email": text("Changed the email address"),
  "user.two-factor-on": text("Turned on a second factor"),
  "user.sign-in-added": text("Added a sign-in"),
  "user.sign-in-removed": text("Removed a sign-in"),
  "user.key-create": text("Made an API key"),
  "user.key-delete": text("Revoked an API key"),
  "user.device-approve": text("Signed a program in"),
  "user.device-deny": text("Refused a program"),
  "user.sessions-end": text("Signed out everywhere else"),
  "user.payment": text("Paid"),
  "user.payment-returned": text("Got a payment back"),
  "person.erase": text("Erased a person’s data"),
  "person.export": text("Wrote a copy of a person’s data"),
  "audit.sealed-late": text("Found unsealed entries"),
  "data.prune": text("Deleted old data"),
  "data.compact": text("Made the database’s file smaller"),
  "service.restart": text("Restarted the service"),
  "service.upgrade": text("Put a new version in place"),
  "service.upgrade-back": text("Went back to the version from before"),
  "service.upgrade-failed": text("Saw a new version fail to start"),
  "subscription.set": text("Gave a plan"),
  "subscription.remove": text("Ended a plan"),
  "agent.create": text("Made an agent"),
  "agent.update": text("Changed an agent"),
  "agent.delete": text("Deleted an agent"),
  "agent.transfer": text("Took over an agent"),
  "agent.start": text("Started an agent"),
  "agent.stop": text("Stopped an agent"),
  "agent.freeze": text("Froze an agent"),
  "agent.unfreeze": text("Let a frozen agent go on"),
  "agent.restart": text("Restarted an agent"),
  "agent.rollback": text("Took an agent back to a backup"),
  "agent.repair": text("Repaired an agent"),
  "agent.reset-memory": text("Reset an agent’s memory"),
  "secret.set": text("Stored a secret"),
  "secret.delete": text("Removed a secret"),
  "channel.connect": text("Connected a channel"),
  "channel.disconnect": text("Disconnected a channel"),
  "webhook.create": text("Made a webhook"),
  "webhook.update": text("Changed a webhook"),
  "webhook.rotate": text("Gave a webhook a new secret"),
  "webhook.delete": text("Deleted a webhook"),
  "file.create": text("Gave an agent a file to know"),
  "file.update": text("Changed a file of an agent"),
  "file.delete": text("Took a file from an agent"),
  "schedule.create": text("Made a schedule"),
  "schedule.update": text("Changed a schedule"),
  "schedule.delete": text("Deleted a schedule"),
  "approval.approve": text("Approved a call"),
  "approval.deny": text("Denied a call"),
  "tool.call": text("Called a tool that acts"),
  "cluster.join": text("Let a machine into the cluster"),
  "cluster.leave": text("Took the machine out of the cluster"),
  "cluster.drain": text("Drained a machine of the cluster"),
  "cluster.undrain": text("Gave a machine of the cluster work again"),
  "cluster.forget": text("Forgot a machine of the cluster"),
  "cluster.move": text("Moved a cell of the cluster"),
  "cluster.cells": text("Gave the cluster more cells"),
  "cluster.cell-remove": text("Removed a cell"),
  "vault.rotate": text("Rotated the root key"),
  "job.retry": text("Tried a job again"),
  "job.discard": text("Discarded a job"),
  "backup.create": text("Made a backup"),
  "backup.restore": text("Put a backup in place"),
  "backup.download": text("Downloaded a backup"),
  "backup.delete": text("Deleted a backup"),
  "model-provider.set": text("Changed a provider’s key"),
  "model-provider.remove": text("Removed a provider’s key"),
  "default-models.set": text("Chose the default models"),
};

export const actionLabel = (action: string): string => {
  const label = ACTIONS[action];
  return label === undefined ? action : t(label);
};

export const AuditTable = ({ entries }: { entries: readonly AuditEntry[] }) => (
  <Table isStacked label={t("Audit log")} columns={columns()} rows={entries} keyOf={({ id }) => id} />
);

const columns = (): Column<AuditEntry>[] => [
  { key: "at", head: t("Time"), cell: ({ at }) => <When at={at} /> },
  {
    key: "actor",
    head: t("Who"),
    cell: ({ actor, address }) => (
      <div className="min-w-32">
        {actorName(actor)}
        {address && <span className="block text-soft text-sm">{address}</span>}
      </div>
    ),
  },
  {
    key: "action",
    head: t("Action"),
    cell: ({ action }) => <span className="block min-w-32">{actionLabel(action)}</span>,
  },
  { key: "target", head: t("Of what"), cell: ({ target }) => <Target {...target} /> },
  { key: "details", head: t("Details"), cell: ({ details }) => <Details details={details} /> },
];

function actorName({ kind, id, name }: AuditEntry["actor"]): string {
  if (kind === "command") return t("{name}, on the command line", { name });
  if (kind === "key") return t("A key of {name}", { name: name || (id ?? "") });
  if (kind === "agent") return t("The agent {name}", { name: name || (id ?? "") });
  if (kind === "visitor") return t("A visitor");
  if (kind === "service") return t("The service itself");
  return name || (id ?? "");
}

function Target({ kind, id, name }: AuditEntry["target"]) {
  if (kind === "user" && id) {
    return (
      <Link href={`/admin/users/${id}`} className="text-sea hover:underline">
        {name}
      </Link>
    );
  }
  if (kind === "agent") {
    return (
      <Link href={`/admin/agents?query=${id}`} className="text-sea hover:underline">
        {name || id}
      </Link>
    );
  }
  return <span translate="no">{name || id}</span>;
}

const FIELDS: Readonly<Record<string, Text>> = {
  name: text("Name"),
  email: text("Email address"),
  emailVerified: text("Email verified"),
  plan: text("Plan"),
  status: text("State"),
  credits: text("Credits"),
  isAdmin: text("Admin"),
  disabled: text("Disabled"),
  password: text("Password"),
  subscription: text("Subscription"),
  currentPeriodEnd: text("until"),
  delivery: text("Sent by"),
  apiKey: text("Key"),
  baseUrl: text("Address"),
  model_a: text("Model A"),
  model_b: text("Model B"),
  fields: text("Fields"),
  model: text("Model"),
  scopes: text("Rights"),
  device: text("Device"),
  failures: text("Failures"),
  key: text("Key"),
  owner: text("Owner"),
  channel: text("Channel"),
  approval: text("Approval"),
  tool: text("Tool"),
  cell: text("Cell"),
};
/** The words of Berth's own; other values are people's. */
const VALUES: Readonly<Record<string, Text>> = {
  active: text("active"),
  trialing: text("trial"),
  link: text("link"),
  mail: text("mail"),
  replaced: text("replaced"),
  removed: text("removed"),
};

function wordsOf(table: Readonly<Record<string, Text>>, name: string): string {
  const words = Object.hasOwn(table, name) ? table[name] : undefined;
  return words ? t(words) : name;
}
const fieldWords = (field: string): string => wordsOf(FIELDS, field);

function valueWords(field: string, value: string): string {
  if (field === "plan") return planName(value);
  return hasWords(field) ? wordsOf(VALUES, value) : value;
}
/** Whether its values are words of Berth's own. */
const hasWords = (field: string) => ["plan", "subscription", "status", "delivery", "apiKey"].includes(field);

/** A change as "plan: free → pro", other facts as "owner: ada@example.com". */
function Details({ details }: Pick<AuditEntry, "details">) {
  const rows = Object.entries(details);
  if (rows.length === 0) return <>–</>;
  return (
    <dl className="min-w-40 text-sm">
      {rows.map(([field, value]) => (
        <div key={field} className="flex flex-wrap gap-x-1.5">
          <dt className="text-soft" translate={Object.hasOwn(FIELDS, field) ? undefined : "no"}>
            {fieldWords(field)}:
          </dt>
          {/* Names, ids and names of fields are the same in every language. */}
          <dd className="min-w-0 [overflow-wrap:anywhere]" translate={hasWords(field) ? undefined : "no"}>
            {isChange(value) ? `${plain(field, value.from)} → ${plain(field, value.to)}` : plain(field, value)}
          </dd>
        </div>
      ))}
    </dl>
  );
}

const isChange = (value: unknown): value is { from: unknown; to: unknown } =>
  typeof value === "object" && value !== null && "from" in value && "to" in value;

/** A value in words: "plan: free, status: active" of an object, times in the viewer's zone. */
function plain(field: string, value: unknown): string {
  if (value === null) return t("none");
  if (typeof value === "boolean") return value ? t("yes") : t("no");
  if (typeof value === "string") return ISO_TIME.test(value) ? formatTime(Date.parse(value)) : valueWords(field, value);
  if (typeof value !== "object") return String(value);
  if (Array.isArray(value)) return value.map((one) => plain(field, one)).join(", ");
  return Object.entries(value)
    .map(([name, inner]) => `${fieldWords(name)}: ${plain(name, inner)}`)
    .join(", ");
}

const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;
