// A software authenticator (WebAuthn Level 3): it generates ES256 keys, registers them, and signs assertions with them.

import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";

/** The options of a ceremony that an authenticator reads. */
export interface CeremonyOptions {
  challenge: string;
  rp?: { id?: string };
  rpId?: string;
  allowCredentials?: { id: string }[];
}

/** Deviations from a correct response; each field changes this part alone. */
export interface Twist {
  challenge?: string;
  /** Origin of the page that started the ceremony. */
  origin?: string;
  rpId?: string;
  type?: string;
  counter?: number;
  /** Clears the flags for user presence and user verification. */
  absent?: boolean;
  crossOrigin?: boolean;
  /** Uses this credential id. */
  id?: string;
  /** Signs with another key. */
  forged?: boolean;
}

export interface Authenticator {
  /** The id of the newest credential. */
  readonly credentialId: string;
  counter: number;
  /** The result of `navigator.credentials.create`, as JSON text. */
  register(options: CeremonyOptions, twist?: Twist & { format?: "none" | "packed" | "certified" }): string;
  /** The result of `navigator.credentials.get`, as JSON text. */
  assert(options: CeremonyOptions, twist?: Twist): string;
}

/**
 * @example
 * const key = createAuthenticator("https://berth.example");
 * const signature = key.register(challenge.options);
 */
export function createAuthenticator(page: string): Authenticator {
  const keys = new Map<string, { privateKey: KeyObject; rpId: string }>();
  let last = "";

  const clientData = (type: string, options: CeremonyOptions, twist: Twist) =>
    Buffer.from(
      JSON.stringify({
        type: twist.type ?? type,
        challenge: twist.challenge ?? options.challenge,
        origin: twist.origin ?? page,
        crossOrigin: twist.crossOrigin ?? false,
      }),
    );

  /** The first fields of the authenticator data (§6.1): hash of the RP id, flags (UP, UV, AT), signature counter. */
  const head = (rpId: string, { counter = authenticator.counter, absent = false }: Twist, attested: boolean) => {
    const flags = (absent ? 0 : 0x05) | (attested ? 0x40 : 0);
    const numbers = Buffer.alloc(5);
    numbers.writeUInt8(flags);
    numbers.writeUInt32BE(counter, 1);
    return Buffer.concat([sha256(rpId), numbers]);
  };

  const authenticator: Authenticator = {
    counter: 1,
    get credentialId() {
      return last;
    },

    register(options, { format = "none", ...twist } = {}) {
      const rpId = twist.rpId ?? options.rp?.id ?? "";
      const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
      const id = twist.id === undefined ? randomBytes(32) : Buffer.from(twist.id, "base64url");
      last = id.toString("base64url");
      keys.set(last, { privateKey, rpId });
      const { x = "", y = "" } = publicKey.export({ format: "jwk" });
      // RFC 9053 §7.1.1: kty EC2, alg ES256, crv P-256.
      const cose = new Map<number, Cbor>([
        [1, 2],
        [3, -7],
        [-1, 1],
        [-2, Buffer.from(x, "base64url")],
        [-3, Buffer.from(y, "base64url")],
      ]);
      const length = Buffer.alloc(2);
      length.writeUInt16BE(id.length);
      const authData = Buffer.concat([head(rpId, twist, true), Buffer.alloc(16), length, id, cbor(cose)]);
      const client = clientData("webauthn.create", options, twist);
      const signature = sign("sha256", Buffer.concat([authData, sha256(client)]), privateKey);
      const self = new Map<string, Cbor>([
        ["alg", -7],
        ["sig", twist.forged ? randomBytes(70) : signature],
      ]);
      const statement = format === "none" ? new Map<string, Cbor>() : self;
      if (format === "certified") statement.set("x5c", [randomBytes(100)]);
      const attestationObject = cbor(
        new Map<string, Cbor>([
          ["fmt", format === "none" ? "none" : "packed"],
          ["attStmt", statement],
          ["authData", authData],
        ]),
      );
      return answer(last, {
        clientDataJSON: text(client),
        attestationObject: text(attestationObject),
        transports: ["usb"],
      });
    },

    assert(options, twist = {}) {
      const id = twist.id ?? options.allowCredentials?.find((one) => keys.has(one.id))?.id ?? last;
      const key = keys.get(id) ?? keys.get(last);
      if (!key) throw new Error("This authenticator has no credential yet.");
      authenticator.counter += 1;
      const authData = head(twist.rpId ?? options.rpId ?? "", twist, false);
      const client = clientData("webauthn.get", options, twist);
      const signer = twist.forged ? generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey : key.privateKey;
      const signature = sign("sha256", Buffer.concat([authData, sha256(client)]), signer);
      return answer(id, {
        clientDataJSON: text(client),
        authenticatorData: text(authData),
        signature: text(signature),
      });
    },
  };
  return authenticator;
}

const answer = (id: string, response: object) =>
  JSON.stringify({
    id,
    rawId: id,
    type: "public-key",
    authenticatorAttachment: "cross-platform",
    clientExtensionResults: {},
    response,
  });

const sha256 = (data: string | Buffer) => createHash("sha256").update(data).digest();
const text = (bytes: Buffer) => bytes.toString("base64url");

type Cbor = number | string | Buffer | Cbor[] | Map<string, Cbor> | Map<number, Cbor>;

/** Encodes CBOR (RFC 8949), as far as an authenticator needs it. */
function cbor(value: Cbor): Buffer {
  if (typeof value === "number") return value < 0 ? typed(1, -1 - value) : typed(0, value);
  if (typeof value === "string") return Buffer.concat([typed(3, Buffer.byteLength(value)), Buffer.from(value)]);
  if (Buffer.isBuffer(value)) return Buffer.concat([typed(2, value.length), value]);
  if (Array.isArray(value)) return Buffer.concat([typed(4, value.length), ...value.map(cbor)]);
  const entries = [...value].flatMap(([key, item]) => [cbor(key), cbor(item)]);
  return Buffer.concat([typed(5, value.size), ...entries]);
}

function typed(major: number, count: number): Buffer {
  if (count < 24) return Buffer.from([(major << 5) | count]);
  if (count < 256) return Buffer.from([(major << 5) | 24, count]);
  return Buffer.from([(major << 5) | 25, count >> 8, count & 255]);
}
