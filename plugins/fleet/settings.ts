// The settings of the backups of the whole service.

import { join } from "node:path";
import { absolutePath, anyText, duration, httpUrl, parser } from "../../src/kernel/config/parsers.ts";
import {
  defineSettings,
  type Finding,
  isGiven,
  requireBoth,
  warning,
  warnOfGiven,
} from "../../src/kernel/config/section.ts";
import { listOf, optional, withDefault } from "../../src/kernel/config/variable.ts";
import { HOUR, SECOND } from "../../src/kernel/util/time.ts";

/** Where backups are kept: a folder, or the keys below a prefix of an S3-compatible bucket. */
export type BackupPlace = { kind: "folder"; path: string } | { kind: "s3"; bucket: string; prefix: string };

/** Reads `s3://bucket/prefix`; undefined for any other text. */
export function parseS3Place(text: string): Extract<BackupPlace, { kind: "s3" }> | undefined {
  const [, bucket, prefix = ""] = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/([^?#]*))?$/.exec(text) ?? [];
  return bucket === undefined ? undefined : { kind: "s3", bucket, prefix: prefix.replace(/\/+$/, "") };
}

const backupPlace = parser<BackupPlace>("a folder, or s3://bucket/prefix", (text, context) => {
  if (text.startsWith("s3:")) return parseS3Place(text);
  const path = absolutePath.parse(text, context);
  return path === undefined ? undefined : { kind: "folder", path };
});

const cronText = parser("a cron expression of five fields, such as 0 3 * * *, or @hourly, @daily or @weekly", (text) =>
  /^(?:@[a-z]+|\S+(?:\s+\S+){4})$/i.test(text) ? text : undefined,
);

const backupCount = parser("a whole number from 1 to 10000", (text) =>
  /^[1-9]\d{0,4}$/.test(text) && Number(text) <= 10_000 ? Number(text) : undefined,
);

/** Undefined if it is off. */
const copyInterval = parser<{ ms: number | undefined }>("true, false, or a time from 1s to 1h", (text, context) => {
  if (/^(?:false|off|no|0)$/i.test(text)) return { ms: undefined };
  if (/^(?:true|on|yes)$/i.test(text)) return { ms: COPY_INTERVAL_MS };
  const ms = duration.parse(text, context);
  return ms !== undefined && ms >= SECOND && ms <= HOUR ? { ms } : undefined;
});

const ageRecipient = parser("a public key of age, such as age1…", (text) =>
  /^age1[0-9a-z]{20,4000}$/.test(text) ? text : undefined,
);

/** With the time that it takes, at most 10 s are lost with the disk. */
const COPY_INTERVAL_MS = 5 * SECOND;
/** The schedule of backups on top of which changes are copied, if no other is set. */
const NIGHTLY = "0 3 * * *";

const KEPT_HERE = ["BACKUP_CONTINUOUS", "BACKUP_TO", "BACKUP_KEEP", "BACKUP_KEEP_FOR", "BACKUP_ENCRYPT_TO"];
const S3_VARIABLES = [
  ...["BACKUP_S3_ENDPOINT", "BACKUP_S3_REGION"],
  ...["BACKUP_S3_ACCESS_KEY_ID", "BACKUP_S3_SECRET_ACCESS_KEY"],
];

export const backupSettings = defineSettings({
  name: "backups",
  variables: {
    BACKUP_SCHEDULE: optional(
      cronText,
      "When backups of the whole service are made, in the time zone of the machine (`TZ`). Unset: only by hand.",
    ),
    BACKUP_CONTINUOUS: optional(
      copyInterval,
      "Also copies what has changed since the last backup, every 5 s (`true`) or another time, such as `10s`, so that `berth restore` goes to any of these moments. Without BACKUP_SCHEDULE, a backup is made each night at 3.",
    ),
    BACKUP_TO: withDefault(
      backupPlace,
      { description: "`DATA_DIR/database-backups`", compute: ({ text }) => join(text("DATA_DIR"), "database-backups") },
      "Where backups are kept: a folder, better one on another disk, or `s3://bucket/prefix`. Each service needs its own.",
    ),
    BACKUP_KEEP: withDefault(
      backupCount,
      "14",
      "How many backups are kept, and up to as many more with which the continuous copy has begun anew. Older ones are deleted once a new one is verified; without a schedule only if this is set.",
    ),
    BACKUP_KEEP_FOR: optional(
      duration,
      "The age, such as `30d`, from which backups are deleted, except for the newest.",
    ),
    BACKUP_ENCRYPT_TO: listOf(
      ageRecipient,
      "Public keys of [age](https://age-encryption.org) to which backups are encrypted. Any one of their owners can open them.",
    ),
    BACKUP_IDENTITY_FILE: optional(
      absolutePath,
      "The file of an age identity with which this machine opens its encrypted backups to verify them. Without one, their checksum is compared.",
    ),
    BACKUP_S3_ENDPOINT: optional(httpUrl, "The address of the S3-compatible service. Unset: Amazon S3."),
    BACKUP_S3_REGION: withDefault(anyText, "us-east-1", "The region of the bucket."),
    BACKUP_S3_ACCESS_KEY_ID: optional(anyText, "The id of the access key for the bucket.", "secret"),
    BACKUP_S3_SECRET_ACCESS_KEY: optional(anyText, "The access key for the bucket.", "secret"),
  },
  build: (v, { kernel, sources }) => ({
    schedule: kernel.database.remote
      ? undefined
      : (v.BACKUP_SCHEDULE ?? (v.BACKUP_CONTINUOUS?.ms === undefined ? undefined : NIGHTLY)),
    /** How often changes are copied; undefined: not between backups. */
    continuousMs: kernel.database.remote ? undefined : v.BACKUP_CONTINUOUS?.ms,
    to: v.BACKUP_TO,
    /** Undefined: nothing is deleted. */
    keep:
      [v.BACKUP_SCHEDULE, v.BACKUP_KEEP_FOR, v.BACKUP_CONTINUOUS?.ms].some((value) => value !== undefined) ||
      isGiven(sources.BACKUP_KEEP)
        ? { count: v.BACKUP_KEEP, forMs: v.BACKUP_KEEP_FOR }
        : undefined,
    recipients: v.BACKUP_ENCRYPT_TO,
    identityFile: v.BACKUP_IDENTITY_FILE,
    s3: {
      endpoint: v.BACKUP_S3_ENDPOINT,
      region: v.BACKUP_S3_REGION,
      accessKeyId: v.BACKUP_S3_ACCESS_KEY_ID,
      secretAccessKey: v.BACKUP_S3_SECRET_ACCESS_KEY,
    },
  }),
  validate: (v, { kernel, sources }): Finding[] => [
    ...requireBoth(v, "BACKUP_S3_ACCESS_KEY_ID", "BACKUP_S3_SECRET_ACCESS_KEY"),
    ...(v.BACKUP_TO.kind === "s3" && v.BACKUP_S3_ACCESS_KEY_ID === undefined
      ? [warning("BACKUP_TO", "a bucket needs BACKUP_S3_ACCESS_KEY_ID and BACKUP_S3_SECRET_ACCESS_KEY.")]
      : []),
    ...(v.BACKUP_SCHEDULE !== undefined && kernel.database.remote
      ? [
          warning(
            "BACKUP_SCHEDULE",
            "the database is on a server, so no backups are made. Use that server's own backup.",
          ),
        ]
      : []),
    ...(kernel.database.remote ? warnOfGiven(KEPT_HERE, sources, "has no effect: the database is on a server.") : []),
    ...(v.BACKUP_TO.kind === "s3"
      ? []
      : warnOfGiven(
          S3_VARIABLES,
          sources,
          "is set without a bucket in BACKUP_TO (s3://…), so only a restore from a bucket uses it.",
        )),
    ...(v.BACKUP_SCHEDULE === undefined && v.BACKUP_CONTINUOUS?.ms === undefined
      ? warnOfGiven(
          ["BACKUP_KEEP", "BACKUP_KEEP_FOR"],
          sources,
          "is set without BACKUP_SCHEDULE, so it takes effect only after a backup that you make by hand.",
        )
      : []),
    ...(v.BACKUP_IDENTITY_FILE !== undefined && v.BACKUP_ENCRYPT_TO.length === 0
      ? [warning("BACKUP_IDENTITY_FILE", "has no effect without BACKUP_ENCRYPT_TO.")]
      : []),
  ],
});
