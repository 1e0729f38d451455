// How a chat looks: what the server says of it, and what the site's script element asks for.

/** `GET /api/embed/:agent` (plugins/embed/model.ts). */
export interface Look {
  name: string;
  greeting: string;
  /** `#rrggbb`; null for Berth's own. */
  accent: string | null;
  theme: string;
  language: string;
  texts: Readonly<Record<string, string>>;
  errors: Readonly<Record<string, string>>;
}

/** The attributes of the script element, without `data-`. */
export type Wishes = Readonly<Partial<Record<string, string>>>;

const BERTH_ACCENT = "#0b6e8a";
const HEX = /^#?(?:([\da-f]{3})|([\da-f]{6}))$/i;
const TAG = /^[A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,8})*$/;

/** The values of each attribute, and how a warning names them. */
const VALUES: Readonly<Record<string, readonly [RegExp, string]>> = {
  theme: [/^(?:light|dark|auto)$/, "light, dark or auto"],
  position: [/^(?:left|right)$/, "left or right"],
  accent: [HEX, "a colour as #0b6e8a or #07a"],
  lang: [TAG, "a language such as en or de"],
};

/** The attributes that count. The console of the page says of each other one that it is ignored. */
export const wishesOf = ({ dataset }: HTMLElement): Wishes =>
  Object.fromEntries(
    Object.entries(dataset).filter(([name, value = ""]) => {
      const [pattern, allowed] = VALUES[name] ?? [];
      const isValid = !pattern || pattern.test(value.trim());
      if (!isValid) console.warn(`Berth: data-${name}="${value}" is ignored. Give ${allowed}.`);
      return isValid;
    }),
  );

/** The languages that a visitor may want, best first: the site's wish, or those of page and browser. */
export const languagesOf = ({ lang }: Wishes): string =>
  (lang ? [lang] : [document.documentElement.lang, ...navigator.languages])
    .filter((one) => TAG.test(one))
    .slice(0, 5)
    .join(",");

/** Whether it is to be dark now. */
export function isDark(look: Pick<Look, "theme">, { theme = look.theme }: Wishes): boolean {
  return theme === "dark" || (theme !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
}

/** The accent, and black or white for text on it: the one with the higher contrast (WCAG 2.2, at least 4.5:1 to any colour). */
export function colorsOf(look: Pick<Look, "accent">, { accent }: Wishes): { accent: string; ink: string } {
  const [color = BERTH_ACCENT] = [accent, look.accent].flatMap((one) => hexOf(one ?? "") ?? []);
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) =>
    linear(Number.parseInt(color.slice(at, at + 2), 16) / 255),
  );
  const luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  return { accent: color, ink: luminance > 0.179 ? "#000" : "#fff" };
}

const linear = (part: number) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);

/** A colour as six digits; undefined for what is no colour of three or six. */
function hexOf(color: string): string | undefined {
  const [, short, long] = HEX.exec(color.trim()) ?? [];
  return long ? `#${long}` : short?.replace(/./g, "$&$&").replace(/^/, "#");
}
