// Names the device of a session in words, from the user agent of its sign-in. Enough to recognise one's own, not to
// trust it: a client sends any user agent it likes.

/** The first that matches counts: browsers carry the names of those they descend from. */
const CLIENTS: readonly (readonly [RegExp, string])[] = [
  [/\bEdg(?:e|A|iOS)?\//, "Edge"],
  [/\bOPR\/|\bOpera\b/, "Opera"],
  [/\bSamsungBrowser\//, "Samsung Internet"],
  [/\bVivaldi\//, "Vivaldi"],
  [/\b(?:Firefox|FxiOS)\//, "Firefox"],
  [/\b(?:Chrome|CriOS|HeadlessChrome|Chromium)\//, "Chrome"],
  [/\bSafari\//, "Safari"],
  [/^curl\//, "curl"],
];

const SYSTEMS: readonly (readonly [RegExp, string])[] = [
  [/\biPhone\b/, "iPhone"],
  [/\biPad\b/, "iPad"],
  [/\bAndroid\b/, "Android"],
  [/\bWindows\b/, "Windows"],
  [/\bCrOS\b/, "ChromeOS"],
  [/\bMac OS X\b|\bMacintosh\b/, "macOS"],
  [/\bLinux\b|\bX11\b/, "Linux"],
];

const firstMatch = (names: typeof CLIENTS, text: string) => names.find(([pattern]) => pattern.test(text))?.[1] ?? null;

/**
 * Client and system, each null if it is unknown.
 *
 * @example describeDevice("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0")
 *   // { client: "Firefox", system: "Linux" }
 */
export const describeDevice = (userAgent: string) => ({
  client: firstMatch(CLIENTS, userAgent),
  system: firstMatch(SYSTEMS, userAgent),
});

/** Both in one text for people, such as `Firefox, Linux`; empty if neither is known. */
export function deviceLabel(userAgent: string): string {
  const { client, system } = describeDevice(userAgent);
  return [client, system].filter((part) => part !== null).join(", ");
}
