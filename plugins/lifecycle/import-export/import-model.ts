// Defines bodies, responses and documentation of imports.
import { type TSchema, t } from "elysia";
import { AppError } from "../../../src/kernel/errors.ts";
import { contextOf } from "../../../src/kernel/http/request-context.ts";
import { provisionedResponse, provisioningErrors } from "../../agents/index.ts";
import { reportRow } from "../takeover/report.ts";
import { switchedOffItem } from "./arrival.ts";
import { createExportedAgentSchema } from "./export-format.ts";

const tags = ["Agents"];
const sourceFields = {
  format: t.String({ description: "`berth` for an exported agent, else `openclaw`, `elizaos` or `character-card`" }),
  report: t.Array(reportRow, {
    description: "What became of each part of another program's file. An exported agent is taken over whole",
  }),
};
export const previewResponse = t.Object({ name: t.String(), ...sourceFields });
export const importedResponse = t.Composite([
  provisionedResponse,
  t.Object({
    ...sourceFields,
    switchedOff: t.Array(switchedOffItem, {
      description: "What arrived switched off, and how its owner switches it on",
    }),
  }),
]);
export const importErrors = {
  ...provisioningErrors,
  400: ["UNKNOWN_FORMAT", "UNREADABLE_FILE", "INVALID_CONFIG", "CONFIG_TOO_LARGE", "SECRET_IN_CONFIG"],
  409: ["AGENT_GONE", "ALREADY_IMPORTED"],
  429: [provisioningErrors[429], "TOO_MANY_IMPORTS"].flat(),
};
export const createImportDetail = (schema: TSchema) => ({
  tags,
  summary: "Create an agent from an exported one, or from another program's file",
  operationId: "importAgent",
  description:
    "Takes the file of `GET /api/agents/:id/export`. The new agent has the same configuration, memories, skills, reminders, " +
    "schedules and sessions, under new ids, and no credentials or channels. What acts, spends or reaches out arrives switched off: " +
    "reminders, schedules, the public page, skills that not every new agent has, and in the configuration `channels` (left out), " +
    "`mcpServers`, `schedules`, and approvals that allow; the rest of it is the same, byte for byte. `switchedOff` lists " +
    "them. Imported texts count as content from outside: calls of tools that change, send or spend wait for the owner's " +
    "approval where they are in a conversation. The rules of provisioning apply. A file has at most 32 MiB: export a larger agent " +
    "with `history=0`. " +
    "Also takes an elizaOS character or a character card as JSON, a character card as PNG, and an OpenClaw workspace or a CHARX card " +
    "as a zip; `report` says what was taken over. A second import of such a file is 409 `ALREADY_IMPORTED` with the agent, unless " +
    "`again=1` asks for another.",
  requestBody: importBody(schema),
});
const importBody = (schema: TSchema) => ({
  required: true,
  content: {
    "application/json": { schema },
    "application/zip": { schema: { type: "string" as const, format: "binary" } },
    "image/png": { schema: { type: "string" as const, format: "binary" } },
  },
});
export const importQuery = t.Object({
  again: t.Optional(t.Literal("1", { description: "Make another agent from a file that was imported before" })),
  timezone: t.Optional(
    t.String({ maxLength: 64, description: "The zone of an agent whose file names none, such as `Europe/Berlin`" }),
  ),
});
export const createPreviewDetail = () => ({
  tags,
  summary: "Show what an import of a file would make, without making it",
  description: "`report` says of each part of the file whether it is taken over, and why not.",
  operationId: "previewImport",
  requestBody: importBody(createExportedAgentSchema()),
});
export const previewErrors = { 400: importErrors[400], 402: importErrors[402], 429: importErrors[429] };

/** Types of bodies. The content decides what a file is; the type keeps forms of foreign pages out. */
const IMPORT_TYPES =
  /^(?:application\/(?:(?:[\w.+-]+\+)?json|zip|x-zip-compressed|octet-stream)|image\/png)(?:\s*;|$)/i;

/** Throws 415 for a body of another type. */
export function requireImportType(request: Request): void {
  const type = request.headers.get("content-type");
  if (type !== null && !IMPORT_TYPES.test(type.trim())) throw unsupportedType();
}

/** The body's bytes. Throws 415 for a body without a type. */
export function importedBytes(request: Request): Uint8Array<ArrayBuffer> {
  const bytes = contextOf(request).bodyBytes ?? new Uint8Array();
  if (bytes.length > 0 && request.headers.get("content-type") === null) throw unsupportedType();
  return bytes;
}

const unsupportedType = () =>
  new AppError(
    415,
    "UNSUPPORTED_MEDIA_TYPE",
    "Send the file with its content-type: application/json, application/zip or image/png.",
  );
