// Web routes of skills as folders: install, show, change, remove and restore them, and read their files.
//
// Skills belong to an account, so the web surface writes them; the backend reads them for its agents.
import { Elysia } from "elysia";
import { AppError, invalidInput } from "../../src/kernel/errors.ts";
import { requireJsonType } from "../../src/kernel/http/body/json-body.ts";
import type { Idempotency } from "../../src/kernel/http/idempotency.ts";
import { documentErrors, documentGuard } from "../../src/kernel/http/openapi/route-documentation.ts";
import { contextOf } from "../../src/kernel/http/request-context.ts";
import { guardedFile } from "../../src/kernel/http/route-guards.ts";
import type { ServiceOf } from "../../src/kernel/plugin.ts";
import { createBodyGate } from "../../src/kernel/security/rate-limits/body-gate.ts";
import type { auth } from "../auth/index.ts";
import type { Installation } from "./installation.ts";
import { skillTooLarge } from "./installation.ts";
import {
  installRequestDocs,
  removedSkill,
  skillChanges,
  skillDetails,
  skillFile,
  skillFileQuery,
  toSkillDetails,
} from "./model.ts";
import { LIMITS } from "./reading/problems.ts";
import type { SkillDetailsReader } from "./skill-details.ts";

interface Deps {
  idempotency: Idempotency;
  identities: Pick<ServiceOf<typeof auth>["identities"], "guards" | "authenticate">;
  installation: Installation;
  details: SkillDetailsReader;
}

const tags = ["Skills"];
/** A form has a little more than its file. */
const MAX_BODY_BYTES = LIMITS.zip + 64 * 1024;
/** Installations at once: each holds a folder in memory, and may wait for another host. */
const CONCURRENT = 16;
const CONCURRENT_PER_ADDRESS = 4;
const installErrors = {
  413: ["SKILL_TOO_LARGE", "SKILL_QUOTA_EXCEEDED"],
  429: ["SKILL_LIMIT_REACHED", "TOO_MANY_INSTALLATIONS"],
};

export function webRoutes({ idempotency, identities, installation, details }: Deps) {
  const show = async (userId: string, id: string) => {
    const { skill, files, versions } = await details.require(userId, id);
    return toSkillDetails(skill, files, versions);
  };
  const gate = createBodyGate({
    maxBytes: MAX_BODY_BYTES,
    concurrent: CONCURRENT,
    perAddress: CONCURRENT_PER_ADDRESS,
    tooLarge: skillTooLarge,
    tooMany,
  });
  const guards = new Elysia({ name: "skill-folders.guards" }).macro({
    skillUpload: (_: true) => ({
      ...guardedFile(async ({ request }) => {
        await identities.authenticate(request, "write");
        gate.acquire(request);
      }),
      detail: documentGuard(["session", "apiKey"], { 403: "MISSING_SCOPE" }),
      resolve: async ({ request }: { request: Request }) => ({
        identity: await identities.authenticate(request, "write"),
      }),
    }),
  });

  return new Elysia({ name: "skill-folders.web" })
    .use(identities.guards)
    .use(guards)
    .post(
      "/api/skills",
      ({ identity, request }) =>
        idempotency.respond({ request, userId: identity.user.id }, async () => {
          const userId = identity.user.id;
          const given = await readInstallRequest(request);
          const id =
            "url" in given
              ? await installation.installFrom(userId, given.url)
              : await installation.installUpload(userId, given.bytes);
          return Response.json(await show(userId, id), { status: 201 });
        }),
      {
        skillUpload: true,
        afterResponse: ({ request }) => gate.release(request),
        response: { 201: skillDetails },
        detail: {
          tags,
          summary: "Install a skill from a folder with a SKILL.md",
          description:
            "A form with a zip (or a single SKILL.md) in the field `file`, or an https address of one. A skill of the same " +
            "name gets a new version. Scripts in JavaScript run in a sandbox. Agents get it when it is switched on for them.",
          requestBody: installRequestDocs,
          ...documentErrors({
            ...installErrors,
            400: ["INVALID_SKILL", "INVALID_ADDRESS", "ADDRESS_NOT_ALLOWED"],
            409: ["IDEMPOTENCY_MISMATCH", "IDEMPOTENCY_IN_PROGRESS"],
            502: ["UPSTREAM_UNREACHABLE", "UPSTREAM_TOO_LARGE", "UPSTREAM_FAILED"],
            504: "UPSTREAM_TIMEOUT",
          }),
        },
      },
    )
    .get("/api/skills/:id", ({ identity, params: { id } }) => show(identity.user.id, id), {
      signedIn: "read",
      response: { 200: skillDetails },
      detail: {
        tags,
        summary: "A skill from a folder, with its versions, files and warnings",
        description: "What its SKILL.md declares, its files, and what is doubtful about it in `warnings`.",
        ...documentErrors({ 404: "SKILL_NOT_FOUND" }),
      },
    })
    .get(
      "/api/skills/:id/file",
      async ({ identity, params: { id }, query: { path } }) => {
        const { skill } = await details.find(identity.user.id, id);
        const text = await skill.text(path);
        if (text === undefined) throw new AppError(404, "SKILL_FILE_NOT_FOUND", "This skill has no such file.");
        return { path, text };
      },
      {
        signedIn: "read",
        query: skillFileQuery,
        response: { 200: skillFile },
        detail: {
          tags,
          summary: "A text file of a skill, as it is in the version in use",
          description: "`path` is that of the file inside the skill's folder.",
          ...documentErrors({ 404: ["SKILL_NOT_FOUND", "SKILL_FILE_NOT_FOUND"] }),
        },
      },
    )
    .patch(
      "/api/skills/:id",
      async ({ body, identity, params: { id } }) => {
        await installation.change(identity.user.id, id, body);
        return show(identity.user.id, id);
      },
      {
        signedIn: "write",
        body: skillChanges,
        response: { 200: skillDetails },
        detail: {
          tags,
          summary: "Use another version of an installed skill, or say that you trust the one in use",
          description: "A trusted skill counts as if its owner had written it. The next version begins untrusted.",
          ...documentErrors({ 404: ["SKILL_NOT_FOUND", "SKILL_VERSION_NOT_FOUND"] }),
        },
      },
    )
    .delete(
      "/api/skills/:id",
      async ({ identity, params: { id } }) => {
        await installation.remove(identity.user.id, id);
        return { success: true as const, id, deleted: true as const };
      },
      {
        signedIn: "write",
        response: { 200: removedSkill },
        detail: {
          tags,
          summary: "Remove an installed skill, with all versions; it can be restored for a day",
          description: "Agents lose it with their next turn.",
          ...documentErrors({ 404: "SKILL_NOT_FOUND" }),
        },
      },
    )
    .post(
      "/api/skills/:id/restore",
      async ({ identity, params: { id } }) => {
        await installation.restore(identity.user.id, id);
        return show(identity.user.id, id);
      },
      {
        signedIn: "write",
        response: { 200: skillDetails },
        detail: {
          tags,
          summary: "Bring back a skill that was removed less than a day ago",
          description: "With all its versions, if the plan still has room.",
          ...documentErrors({ 404: "SKILL_NOT_FOUND", 413: "SKILL_QUOTA_EXCEEDED", 429: "SKILL_LIMIT_REACHED" }),
        },
      },
    );
}

const tooMany = () => {
  const text = "Many skills are being installed right now. Try again in a few seconds.";
  return new AppError(429, "TOO_MANY_INSTALLATIONS", text, {}, { headers: { "retry-after": "3" } });
};

async function readInstallRequest(request: Request): Promise<{ url: string } | { bytes: Uint8Array<ArrayBuffer> }> {
  const body = contextOf(request).bodyBytes ?? new Uint8Array();
  const type = request.headers.get("content-type") ?? "";
  if (!type.toLowerCase().startsWith("multipart/form-data")) {
    requireJsonType(request);
    return { url: readAddress(body) };
  }
  const form = await new Response(body, { headers: { "content-type": type } }).formData().catch(() => undefined);
  const file = form?.get("file");
  if (file instanceof Blob && file.size > 0) return { bytes: new Uint8Array(await file.arrayBuffer()) };
  throw invalidInput({ path: "file", message: "Send a zip or a SKILL.md in the form's field `file`." });
}

function readAddress(body: Uint8Array): string {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder().decode(body.subarray(0, 10_000)));
  } catch {
    // Reported below, with what to send.
  }
  const url: unknown = typeof value === "object" && value !== null ? Reflect.get(value, "url") : undefined;
  if (typeof url === "string" && url.length <= 2000) return url;
  throw invalidInput({ path: "url", message: 'Send a form with the field `file`, or {"url":"https://…"}.' });
}
