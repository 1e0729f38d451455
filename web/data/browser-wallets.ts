// The wallets of the browser: extensions that announce themselves (EIP-6963), else the one at `window.ethereum` (EIP-1193). They
// sign texts here, which moves nothing and costs nothing.

import { useSyncExternalStore } from "react";

export interface BrowserWallet {
  /** As the extension announces itself, so it is anybody's text; undefined for a wallet that only sits in the page. */
  name: string | undefined;
  request(call: { method: string; params?: readonly unknown[] }): Promise<unknown>;
}

/** More would be no choice, but an attack. */
const MAX_WALLETS = 10;
const MAX_NAME = 40;

const announced = new Map<string, BrowserWallet>();
const listeners = new Set<() => void>();
let wallets: readonly BrowserWallet[] = [];

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;
const isProvider = (value: unknown): value is Pick<BrowserWallet, "request"> =>
  isObject(value) && typeof value.request === "function";

function collect(): void {
  const inPage: unknown = Reflect.get(globalThis, "ethereum");
  const fallback = isProvider(inPage) ? [toWallet(inPage, undefined)] : [];
  wallets = announced.size > 0 ? [...announced.values()] : fallback;
  for (const notify of listeners) notify();
}

const toWallet = (provider: Pick<BrowserWallet, "request">, name: string | undefined): BrowserWallet => ({
  name,
  request: (call) => provider.request(call),
});

let isWatching = false;

/** Extensions announce themselves when they are asked, and when they are ready later. */
function watch(): void {
  if (isWatching) return;
  isWatching = true;
  addEventListener("eip6963:announceProvider", (event) => {
    const detail: unknown = event instanceof CustomEvent ? event.detail : undefined;
    if (!isObject(detail) || !isObject(detail.info) || !isProvider(detail.provider)) return;
    const { uuid, name } = detail.info;
    if (typeof uuid !== "string" || typeof name !== "string" || announced.size >= MAX_WALLETS) return;
    announced.set(uuid, toWallet(detail.provider, name.slice(0, MAX_NAME)));
    collect();
  });
  dispatchEvent(new Event("eip6963:requestProvider"));
  collect();
}

function subscribe(notify: () => void): () => void {
  listeners.add(notify);
  watch();
  return () => listeners.delete(notify);
}

/** The wallets that there are by now. */
export const useBrowserWallets = (): readonly BrowserWallet[] => useSyncExternalStore(subscribe, () => wallets);

/** The address of the first account that the person admits. Rejects with the wallet's own error, such as a refusal. */
export async function addressOf(wallet: BrowserWallet): Promise<string> {
  const accounts = await wallet.request({ method: "eth_requestAccounts" });
  const [address] = Array.isArray(accounts) ? accounts : [];
  if (typeof address !== "string") throw new Error("The wallet named no account.");
  return address;
}

/** The signature of a text (`personal_sign`). */
export async function signText(wallet: BrowserWallet, address: string, message: string): Promise<string> {
  const bytes = new TextEncoder().encode(message);
  const hex = `0x${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
  const signature = await wallet.request({ method: "personal_sign", params: [hex, address] });
  if (typeof signature !== "string") throw new Error("The wallet gave no signature.");
  return signature;
}

/** Whether the person said no in the wallet (EIP-1193). */
export const isRefusal = (error: unknown): boolean => isObject(error) && error.code === 4001;
