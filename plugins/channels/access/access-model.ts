// The schemas of the routes that decide who may talk to an agent, and the conversion of rows into answers.
import { t } from "elysia";
import type { Pairing } from "./pairings.ts";

const iso = { description: "ISO 8601" };
const id = t.Union([t.String({ maxLength: 200 }), t.Integer()], { error: "This must be an id on the platform." });
const ids = (description: string) =>
  t.Optional(
    t.Array(id, { maxItems: 500, description, error: "This must be a list of at most 500 ids on the platform." }),
  );
const rule = t.Union([t.Literal("owner"), t.Literal("pairing"), t.Literal("allowlist"), t.Literal("open")], {
  error: "Choose owner, pairing, allowlist or open.",
});
const groups = t.Union([t.Literal("mention"), t.Literal("all"), t.Literal("off")], {
  error: "Choose mention, all or off.",
});

export const access = t.Object({
  channel: t.String(),
  access: t.String({ description: "the rule in force: owner, pairing, allowlist or open" }),
  chosen: t.Union([t.String(), t.Null()], { description: "the rule that the configuration names; null: the default" }),
  owner: t.Union([t.String({ description: "the platform's id of the bot's owner" }), t.Null()]),
  owners: t.Array(t.String(), { description: "further owners" }),
  allow: t.Array(t.String()),
  groups: t.String({ description: "mention, all or off" }),
  hasGroups: t.Boolean({ description: "whether bots of this platform can be in groups" }),
});

export const accessBody = t.Object({
  access: t.Optional(t.Union([rule, t.Null()], { description: "null: the default" })),
  owner: t.Optional(t.Union([id, t.Null()], { description: "your own id on the platform; null: no owner" })),
  owners: ids("further owners"),
  allow: ids("people who may talk with the rule allowlist"),
  groups: t.Optional(t.Union([groups, t.Null()], { description: "which messages of groups count; null: the default" })),
});

export const ACCESS_DESCRIPTION =
  "Fields that are left out stay as they are. All but `owner` are stored in the agent's configuration, as a new version " +
  "of it, whose other parts stay as they are.";

export const approveBody = t.Object({
  code: t.String({ minLength: 1, maxLength: 32, error: "Give the code that the person got." }),
  owner: t.Optional(
    t.Boolean({
      description: "true if the person is you: they become the owner of the bot, in place of an earlier one",
      error: "Give true if the person is you, otherwise false.",
    }),
  ),
});

export const approveResponse = t.Object({
  success: t.Literal(true),
  senderId: t.String(),
  owner: t.Boolean({ description: "whether the person is the owner of the bot now" }),
});

export const ownerLink = t.Object({
  code: t.String({ description: "its sender, in a private message to the bot, becomes the owner; works once" }),
  link: t.Union([t.String(), t.Null()], { description: "opens the bot, and writes the code where `sendsCode`" }),
  sendsCode: t.Boolean(),
  expiresAt: t.String(iso),
});

export const OWNER_LINK_DESCRIPTION =
  "For the person who sets up the bot: by writing the code they become its owner, in place of an earlier one. Valid for 15 " +
  "minutes; a new code replaces it, and a restart of the service ends it. Give it to nobody else.";

export const decideBody = t.Object({
  status: t.Union([t.Literal("approved"), t.Literal("denied")], { error: "Choose approved or denied." }),
  name: t.Optional(
    t.String({
      maxLength: 200,
      description: "for a person whom Berth does not know yet",
      error: "A name has at most 200 characters.",
    }),
  ),
  owner: approveBody.properties.owner,
});

export const decideResponse = t.Object({
  success: t.Literal(true),
  senderId: t.String(),
  status: t.Union([t.Literal("approved"), t.Literal("denied")]),
});

export const pairingResponse = t.Object({ success: t.Literal(true), senderId: t.String() });

export const pairingQuery = t.Object({
  limit: t.Optional(t.String({ description: "1 to 1000; default 1000", examples: ["50"] })),
  offset: t.Optional(t.String({ description: "People to skip, default 0", examples: ["0"] })),
});
export const MAX_LISTED = 1_000;

export const pairingList = t.Object({
  pairings: t.Array(
    t.Object({
      senderId: t.String({ description: "the platform's id of the person" }),
      name: t.String({ description: "as the person chose it; anyone can choose any name" }),
      status: t.Union([t.Literal("pending"), t.Literal("approved"), t.Literal("denied")], {
        description: "a denied person may ask again after a week, or once removed here",
      }),
      code: t.Union([t.String(), t.Null()]),
      createdAt: t.String({ description: "when they first wrote; ISO 8601" }),
      expiresAt: t.Union([t.String(iso), t.Null()]),
      approvedAt: t.Union([t.String(iso), t.Null()]),
    }),
  ),
  count: t.Number(),
  total: t.Number({ description: "of all pages" }),
});

const isoOf = (time: number) => new Date(time).toISOString();
const isoOrNull = (time: number | null) => (time === null ? null : isoOf(time));

function statusOf({ code, approvedAt }: Pick<Pairing, "code" | "approvedAt">) {
  if (approvedAt !== null) return "approved" as const;
  return code === null ? ("denied" as const) : ("pending" as const);
}

export const toPairingItem = ({ senderId, senderName, code, createdAt, expiresAt, approvedAt }: Pairing) => ({
  senderId,
  name: senderName,
  status: statusOf({ code, approvedAt }),
  code,
  createdAt: isoOf(createdAt),
  expiresAt: isoOrNull(expiresAt),
  approvedAt: isoOrNull(approvedAt),
});
