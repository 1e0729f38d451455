// Finds a model of another program among Berth's providers.

const PROVIDERS: Readonly<Record<string, string>> = {
  openrouter: "provider_1",
  google: "provider_2",
  gemini: "provider_2",
  groq: "provider_3",
  ollama: "provider_3",
  anthropic: "provider_4",
  openai: "provider_5",
};

/** `anthropic/claude-sonnet-4-5` as `provider_4:claude-sonnet-4-5`; undefined for providers that Berth does not have. */
export function modelNamed(name: string): string | undefined {
  const at = name.indexOf("/");
  const provider = PROVIDERS[name.slice(0, Math.max(at, 0)).toLowerCase()];
  const id = name.slice(at + 1).trim();
  return provider === undefined || id === "" || name.length > 150 ? undefined : `${provider}:${id}`;
}
