// Lets this device, or a security key, answer a challenge of the server (WebAuthn).

/** Whether the browser can do it: on https and localhost only. */
export const hasAuthenticators = (): boolean =>
  typeof PublicKeyCredential !== "undefined" && "parseRequestOptionsFromJSON" in PublicKeyCredential;

/**
 * The JSON of the device's answer. Registers the device if the options are for that, else signs with one that is known.
 * Rejects with the browser's error, also when the person says no.
 */
export async function answerChallenge(options: object): Promise<string> {
  const credential =
    "pubKeyCredParams" in options
      ? await navigator.credentials.create({
          publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(
            options as PublicKeyCredentialCreationOptionsJSON,
          ),
        })
      : await navigator.credentials.get({
          publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options as PublicKeyCredentialRequestOptionsJSON),
        });
  if (!(credential instanceof PublicKeyCredential)) throw new Error("The device gave no answer.");
  return JSON.stringify(credential.toJSON());
}
