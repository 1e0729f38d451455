// Asks the wallet of the browser to sign a text: an extension, or the browser itself, offers it as `window.ethereum` (EIP-1193).

/** The part of a provider that signing needs. */
interface Provider {
  request(call: { method: string; params?: readonly unknown[] }): Promise<unknown>;
}

export function findProvider(): Provider | undefined {
  const found: unknown = Reflect.get(globalThis, "ethereum");
  return isProvider(found) ? found : undefined;
}

const isProvider = (value: unknown): value is Provider =>
  typeof value === "object" && value !== null && "request" in value && typeof value.request === "function";

export interface Signed {
  walletAddress: string;
  signature: string;
}

/** Signs by the first account that the person admits. Rejects with the wallet's own error, such as a refusal. */
export async function signByWallet(provider: Provider, message: string): Promise<Signed> {
  const accounts = await provider.request({ method: "eth_requestAccounts" });
  const [walletAddress] = Array.isArray(accounts) ? accounts : [];
  if (typeof walletAddress !== "string") throw new Error("The wallet named no account.");
  const bytes = new TextEncoder().encode(message);
  const hex = `0x${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
  const signature = await provider.request({ method: "personal_sign", params: [hex, walletAddress] });
  if (typeof signature !== "string") throw new Error("The wallet gave no signature.");
  return { walletAddress, signature };
}

/** Whether the person said no in the wallet (EIP-1193). */
export const isRefusal = (error: unknown): boolean =>
  typeof error === "object" && error !== null && "code" in error && error.code === 4001;
