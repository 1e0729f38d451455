// Routes of the sign-in of devices: the endpoints of RFC 8628 for programs, and for the page what a code asks for and the decision.
import { Elysia, type TSchema } from "elysia";
import { isCountedElsewhere } from "../../../src/kernel/cells/cells.ts";
import { decodeBody } from "../../../src/kernel/http/body/json-body.ts";
import {
  documentErrors,
  documentGuard,
  documentResponse,
} from "../../../src/kernel/http/openapi/route-documentation.ts";
import { contextOf, isLocalRequest } from "../../../src/kernel/http/request-context.ts";
import { guardedFile } from "../../../src/kernel/http/route-guards.ts";
import { SECOND } from "../../../src/kernel/util/time.ts";
import { type AuthServices, tags } from "../auth-services.ts";
import { CODE_MS, type DeviceSignIns, INTERVAL_SECONDS, type PollResult } from "./device-sign-ins.ts";
import {
  askingDevice,
  beginForm,
  begun,
  codeBody,
  decided,
  decisionBody,
  handedOut,
  parseScopes,
  tokenForm,
} from "./model.ts";
import { formatUserCode, normalizeUserCode } from "./user-code.ts";

const MAX_FORM_BYTES = 16 * 1024;
const GRANT = "urn:ietf:params:oauth:grant-type:device_code";
/** One line without control characters or those that change the direction of text: it is shown to the person who decides. */
const NAME = /^[^\p{C}\p{Zl}\p{Zp}]{0,64}$/u;
const FORM = "A form (application/x-www-form-urlencoded). Errors are those of OAuth: `error` and `error_description`.";

const DESCRIPTIONS = {
  invalid_request: "The form is not valid.",
  invalid_scope: "Scopes are read, write and chat, separated by spaces.",
  unsupported_grant_type: `grant_type is ${GRANT}.`,
  authorization_pending: "The person has not decided yet. Ask again after the interval.",
  slow_down: "Ask less often: the interval is five seconds longer now.",
  access_denied: "The person has refused, or their account is gone.",
  expired_token: "This code has expired, or it was used before. Begin again.",
} as const;
type Failure = keyof typeof DESCRIPTIONS;

export function deviceRoutes({ kernel: { config, limits, cells }, identities }: AuthServices, devices: DeviceSignIns) {
  const guards = new Elysia({ name: "auth.device-guards" }).macro({
    /** Open to programs, limited by address; the route reads the form. */
    deviceForm: (rule: "device-begin" | "device-poll") => ({
      ...guardedFile(async ({ request }) => {
        const context = contextOf(request);
        context.maxBodyBytes = MAX_FORM_BYTES;
        if (!isCountedElsewhere(cells, request)) await limits.takeOrThrow(rule, context.address);
      }),
      detail: documentGuard([], { 429: "RATE_LIMITED" }),
    }),
  });
  /** Codes are short, so every look at one counts. */
  async function countLook(request: Request, userId: string): Promise<void> {
    await limits.takeOrThrow("device-code", userId);
    await limits.takeOrThrow("device-code", contextOf(request).address);
  }
  const lookErrors = { 404: "CODE_NOT_FOUND", 429: "RATE_LIMITED" };

  return new Elysia({ name: "auth.device" })
    .use(guards)
    .use(identities.guards)
    .post(
      "/api/auth/device",
      async ({ request }) => {
        const form = readForm(request);
        const [client, device] = [form?.get("client_id")?.trim() ?? "", form?.get("device_name")?.trim() ?? ""];
        if (!form || client === "" || !NAME.test(client) || !NAME.test(device)) return failure("invalid_request");
        const scopes = parseScopes(form.get("scope"));
        if (!scopes) return failure("invalid_scope");
        const { address } = contextOf(request);
        const direct = isLocalRequest(request);
        const { deviceCode, userCode } = await devices.begin({ client, device, address, scopes, direct });
        const page = `${config.baseUrl.replace(/\/$/, "")}/device`;
        return noStore(200, {
          device_code: deviceCode,
          user_code: formatUserCode(userCode),
          verification_uri: page,
          verification_uri_complete: `${page}?code=${formatUserCode(userCode)}`,
          expires_in: CODE_MS / SECOND,
          interval: INTERVAL_SECONDS,
        });
      },
      {
        deviceForm: "device-begin",
        detail: {
          tags,
          summary: "Begin the sign-in of a program with a code",
          description: `The device authorization endpoint of RFC 8628. ${FORM}`,
          operationId: "beginDeviceSignIn",
          ...documentErrors({ 400: ["INVALID_REQUEST", "INVALID_SCOPE"] }),
          ...formDocs(beginForm),
          ...documentResponse(begun, "The codes"),
        },
      },
    )
    .post(
      "/api/auth/device/token",
      async ({ request }) => {
        const form = readForm(request);
        const [code, client] = [form?.get("device_code"), form?.get("client_id")?.trim()];
        if (!form || !code || !client) return failure("invalid_request");
        if (form.get("grant_type") !== GRANT) return failure("unsupported_grant_type");
        return tokenResponse(await devices.poll(code, client));
      },
      {
        deviceForm: "device-poll",
        detail: {
          tags,
          summary: "Ask for the API key of a program whose code was approved",
          description: `The token endpoint of RFC 8628 §3.4. ${FORM} The key is handed out once.`,
          operationId: "getDeviceKey",
          ...documentErrors({
            400: [
              ...["INVALID_REQUEST", "UNSUPPORTED_GRANT_TYPE", "AUTHORIZATION_PENDING", "SLOW_DOWN"],
              ...["ACCESS_DENIED", "EXPIRED_TOKEN"],
            ],
            409: "TOO_MANY_KEYS",
          }),
          ...formDocs(tokenForm),
          ...documentResponse(handedOut, "The key"),
        },
      },
    )
    .post(
      "/api/auth/device/request",
      async ({ identity: { user }, body, request }) => {
        await countLook(request, user.id);
        const { client, device, address, scopes, createdAt } = await devices.find(body.code);
        return {
          code: formatUserCode(normalizeUserCode(body.code)),
          client,
          device,
          address,
          isSameAddress: address === contextOf(request).address,
          scopes: [...scopes],
          createdAt: new Date(createdAt).toISOString(),
          account: user.email,
        };
      },
      {
        ownSession: true,
        body: codeBody,
        response: { 200: askingDevice },
        detail: {
          tags,
          summary: "What the program asks for that shows this code, for the page that asks you",
          description:
            "The program's name, the address it asked from, and the scopes that it wants. Nothing is decided yet.",
          operationId: "readDeviceRequest",
          ...documentErrors(lookErrors),
        },
      },
    )
    .post(
      "/api/auth/device/decision",
      async ({ identity: { user, session }, body: { code, approved, scopes = [] }, request }) => {
        await countLook(request, user.id);
        const direct = session.direct && isLocalRequest(request);
        if (approved) await devices.approve(code, { userId: user.id, scopes: new Set(scopes), direct });
        else await devices.deny(code, user.id);
        return { success: true as const, approved };
      },
      {
        ownSession: true,
        body: decisionBody,
        response: { 200: decided },
        detail: {
          tags,
          summary: "Allow or refuse what the program asks for that shows this code",
          description: "The program gets an API key with these scopes, for 90 days; it is listed with your keys.",
          operationId: "decideDeviceRequest",
          ...documentErrors({ 409: "TOO_MANY_KEYS", ...lookErrors }),
        },
      },
    );
}

/** Undefined if a parameter comes twice (RFC 6749 §3.2). */
function readForm(request: Request): URLSearchParams | undefined {
  const form = new URLSearchParams(decodeBody(contextOf(request).bodyBytes ?? new Uint8Array()));
  return [...new Set(form.keys())].length === form.size ? form : undefined;
}

/** Not cached, since it may hold a key. */
const noStore = (status: number, body: object) =>
  Response.json(body, { status, headers: { "cache-control": "no-store", pragma: "no-cache" } });

/** RFC 6749 §5.2, with the code of Berth's own errors beside it. */
function failure(error: Failure): Response {
  const text = DESCRIPTIONS[error];
  return noStore(400, { error, error_description: text, message: text, code: error.toUpperCase() });
}

function tokenResponse(result: PollResult): Response {
  if ("error" in result) return failure(result.error);
  const { key, scopes, expiresInSeconds, email } = result;
  return noStore(200, {
    access_token: key,
    token_type: "Bearer",
    expires_in: expiresInSeconds,
    scope: [...scopes].join(" "),
    account: email,
  });
}

const formDocs = (schema: TSchema) => ({
  requestBody: { required: true, content: { "application/x-www-form-urlencoded": { schema } } },
});
